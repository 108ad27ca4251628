"""One folder per method; methods do not know each other."""
