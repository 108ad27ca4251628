"""Reports: pairs, contacts and batches, and the one way from rows of faces to them."""
