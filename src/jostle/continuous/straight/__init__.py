"""Contact of points and edges on straight lines, decided exactly: floats first, then integers, then algebraic numbers."""
