"""Contact regions within a time budget, by sample pairs on layered shells.

Guy and Debunne 2004. Read in this order: `method.py` (settings) → `detector.py` (one frame: body pairs, search, report) →
`search.py` (the search between frames) → `examine.py` (its loop) → `next_item.py` (the phases of a frame: what is examined next).
Data: `work.py` and `workspace.py`; shapes: `shape.py`.
"""
