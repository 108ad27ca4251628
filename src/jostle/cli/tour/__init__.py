"""The parts of `jostle demo`.

`experiment.py` defines what is measured, `viewer.py` shows the scene from the start, `measuring.py` measures each method when its
kernels are compiled, `table.py` prints its row, `pictures.py` draws.
"""
