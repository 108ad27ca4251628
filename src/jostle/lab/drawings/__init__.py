"""The drawings of the laboratory, by axes; `plots.py` chooses among them and writes files."""
