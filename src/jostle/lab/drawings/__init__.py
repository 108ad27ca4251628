"""The drawings of the laboratory, by what is on their axes; `plots.py` chooses among them and writes the files."""
