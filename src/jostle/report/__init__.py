"""Reports: pairs, contacts and batches, and how rows of faces become reports."""
