"""The drawings of the laboratory, by their axes; `plots.py` chooses among them."""
