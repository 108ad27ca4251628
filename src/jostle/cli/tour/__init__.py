"""The parts of `jostle demo`, in the order in which it goes through them: what is compiled and measured (`experiment.py`), what it
draws (`pictures.py`), its table (`table.py`), and the viewer at its end (`viewer.py`).
"""
