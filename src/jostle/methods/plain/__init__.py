"""The plain method: rows in NumPy alone, for a first answer without a compiler."""
