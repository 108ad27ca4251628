"""A world in a browser, to look at and to touch.

Two halves. The world's half needs no page and is tested without one: a `Session` (session.py) runs a loop in its own thread, which
takes requests from any thread (move a body, change a setting), detects, and publishes snapshots. The page's half (page.py) draws
snapshots and turns user actions into requests. So a slow method never blocks a page, and many browsers share one world.

Only `jostle.view` (background.py) and the command line import this package.
"""
