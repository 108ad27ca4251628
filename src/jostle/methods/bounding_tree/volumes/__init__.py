"""The kinds of bounding objects, and the measures of their quality (§3)."""
