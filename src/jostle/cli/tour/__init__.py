"""The parts of `jostle demo`, in order.

`experiment.py` defines what is compiled and measured, `pictures.py` draws, `table.py` prints, `viewer.py` opens the viewer.
"""
