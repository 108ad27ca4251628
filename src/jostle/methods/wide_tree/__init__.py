"""The default engine: trees of boxes with eight children."""
