"""Report, Pairs, Contacts and Batch, and the way from rows of faces to them, once for all methods."""
