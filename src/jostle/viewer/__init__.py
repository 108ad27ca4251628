"""A world in a browser, to look at and to touch.

Two halves that know little of each other. The world's half has no page in it and is tested without one: a `Session` (session.py)
runs one loop in its own thread, which takes requests from any thread (move this, change that), detects, and publishes snapshots.
The page's half (page.py) draws snapshots and turns people's actions in their browsers into requests. So a slow method never blocks
a page, and many browsers share one world.

`jostle` itself does not import this package before `jostle.view` is asked for (background.py); else only the command line does.
"""
