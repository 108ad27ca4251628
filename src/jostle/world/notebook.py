"""A world in a notebook: a picture of its bodies and a table of the first ones.

It does not detect, which would change the method's state and may take long. `jostle.view` shows contacts.
"""

from __future__ import annotations

import base64
import html

from jostle.errors import JostleError
from jostle.pictures import Look, picture_of
from jostle.render.png import encode_png
from jostle.report.report import Report
from jostle.tables import MOST_HTML_ROWS, html_table
from jostle.world.world import World

LOOK = Look(width=480, height=320, samples=2)
MOST_FACES = 500_000  # most that a picture draws: they take 0.6 s


def world_as_html(world: World) -> str:
    """Return a picture and a table of at most 20 bodies, every name escaped."""
    bodies = world.bodies
    table = html_table(repr(world), [body._described() for body in bodies[:MOST_HTML_ROWS]], len(bodies))
    if not 0 < sum(len(body.mesh.faces) for body in bodies) <= MOST_FACES:
        return table
    try:
        png = encode_png(picture_of(world, Report(), LOOK))
    except JostleError:  # Pillow is missing, or another thread uses the world
        return table
    alt = html.escape(repr(world), quote=True)
    return f'<div><img alt="{alt}" src="data:image/png;base64,{base64.b64encode(png).decode()}">{table}</div>'
