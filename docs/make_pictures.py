"""Make the pictures of the documents again (`make pictures`): every command of docs/gallery.md as it stands there, then a shuttle
that is stuck in a horseshoe, the worlds of the tutorial, and the page of the viewer, where there is a browser.

python docs/make_pictures.py            # all of them
python docs/make_pictures.py voxmap     # those whose command, or whose name, has this word
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"


def commands() -> list[list[str]]:
    """Return the commands of the page, a backslash at the end of a line joining it with the next."""
    blocks = re.findall(r"```\n(jostle .*?)```", (DOCS / "gallery.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    return [shlex.split(line)[1:] for line in lines]


def stuck_shuttle(file: Path) -> None:
    """A horseshoe stood up as a gate, open at the bottom, and a shuttle whose wings are a little too wide for it."""
    import numpy as np

    import jostle
    from jostle import rotation, translation
    from jostle.pictures import picture_of
    from jostle.render.png import write_png
    from jostle.shapes import build

    world = jostle.World()
    gate = translation((0.0, 0.0, 0.1)) @ rotation((0.0, 0.0, 1.0), np.pi / 2) @ rotation((1.0, 0.0, 0.0), np.pi / 2)
    world.add(build.shuttle(), translation((-0.84, 0.0, 0.0)) @ rotation((1.0, 0.0, 0.0), 0.4), "shuttle")
    world.add(build.horseshoe(), gate, "horseshoe")
    write_png(file, picture_of(world, world.detect()))


def turned_boxes(file: Path) -> None:
    """Two meshes of one askew pipe each, and the boxes of one level: along the axes of the meshes, and turned."""
    import numpy as np

    import jostle
    from jostle.methods.wide_tree.build import build_tree
    from jostle.methods.wide_tree.refit import fit_tree
    from jostle.methods.wide_tree.show import overlay_of
    from jostle.methods.wide_tree.tree import NO_ORIENTATION, NO_ROTATIONS
    from jostle.pictures import Look, picture_of
    from jostle.render.png import write_png
    from jostle.shapes import build

    straight = build.capsule(radius=0.05, height=2.0, segments=32)
    askew = [jostle.rotation((1.0, 0.4, 0.2), 0.9)[:3, :3], jostle.rotation((0.2, 1.0, -0.3), -0.9)[:3, :3]]
    world = jostle.World()
    for turn, place in zip(askew, ((0.0, 0.0, 0.0), (0.17, 0.1, 0.0)), strict=True):
        world.add(jostle.Mesh(straight.vertices @ turn.T, straight.faces), jostle.translation(place))
    trees = [build_tree(body.mesh) for body in world]
    plain = [tree._replace(boxes=tree.boxes.copy(), orientation=NO_ORIENTATION, rotations=NO_ROTATIONS) for tree in trees]
    for tree in plain:
        fit_tree(tree)
    frame, report = world._frame(), world.detect()
    look = Look(width=560, height=520, edges="none", ground=False, towards=(0.5, -1.0, 0.4))
    shown = [overlay_of(chosen, np.arange(2, dtype=np.int32), frame, "2") for chosen in (plain, trees)]
    write_png(file, np.concatenate([picture_of(world, report, look, overlay) for overlay in shown], axis=1))


def of_tutorial(file: Path) -> None:
    """Draw what the page of the tutorial with the same name leaves behind; its Python is run as it stands there.

    Faces of the balls are marked, not the two large ones of the wall's top.
    """
    import numpy as np

    import jostle
    from jostle.cli.app import app
    from jostle.render import save_picture
    from jostle.render.camera import Camera

    with tempfile.TemporaryDirectory() as work, contextlib.chdir(work):
        names: dict[str, Any] = {"__name__": "__main__"}
        for page in dict.fromkeys(["tutorial_1", file.stem]):
            text = (DOCS / "start" / f"{page}.md").read_text(encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                exec("".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), names)
        if file.stem == "tutorial_6":
            app(["shot", "soft.npz", "--out", str(file), "--size", "400x300", "--see-through", "bodies"], standalone_mode=False)
            return
        world, clearance = names.get("world", jostle.World()), 0.05 if file.stem == "tutorial_3" else 0.0
        if file.stem == "tutorial_1":
            world.add("ball.stl", jostle.translation((0.0, 0.0, 0.9)))
            world.add("wall.obj", name="wall")
        if file.stem == "tutorial_2":
            world.ignore("roller", "wall", False)
        if file.stem == "tutorial_4":
            for pose in (names["start"], names["end"]):
                world.add("ball.stl", pose)
        if file.stem == "tutorial_5":
            names["squeeze"](world["ball"], names["STEPS"] // 2)
        report = world.detect(clearance=clearance)
        marked = [[] if body.name == "wall" else report.faces_of(body) for body in world]
        meshes = [body.mesh.with_vertices(body.world_vertices) for body in world]
        tall = file.stem == "tutorial_4"
        size = {"width": 400, "height": 480} if tall else {"width": 560, "height": 380}
        towards = (0.0, 1.0, -0.25) if tall else (-0.4, 1.0, -0.45)
        camera = Camera.framing(np.concatenate([mesh.vertices for mesh in meshes]), towards, **size)
        near = {"near" if clearance else "highlight": marked}
        save_picture(file, meshes, camera=camera, see_through="marked", ground=not tall, **near)


def viewer_page(file: Path) -> None:
    """The scene of the tour in the viewer, in its last frame, as chromium shows it; told and left out where there is none."""
    chromium = os.environ.get("JOSTLE_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        chromium = None
    if chromium is None:
        print(f"{file.name} is left as it is: it needs chromium and playwright")
        return
    from jostle.viewer.page import Page
    from jostle.viewer.serve import LOCAL, free_port, open_server
    from jostle.viewer.session import Session
    from jostle.viewer.subject import subject_of

    port = free_port()
    session = Session(subject_of(["tour"]))
    server = open_server(LOCAL, port, "jostle: tour")
    page = Page(server, session)
    session.start()
    session.play()
    switches = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=switches)
        shown = browser.new_page(viewport={"width": 1040, "height": 640})
        shown.goto(f"http://{LOCAL}:{port}")
        shown.wait_for_selector(".jostle-state", timeout=120_000)
        shown.wait_for_timeout(8000)  # plays, so that there are times to show
        session.pause()
        session.seek(19)
        if (notice := shown.locator(".mantine-Notification-closeButton")).count():
            notice.first.click()  # that a processor draws
        before = b""
        while (taken := shown.screenshot()) != before:  # until nothing moves any more
            before = taken
            shown.wait_for_timeout(1500)
        file.write_bytes(taken)
        browser.close()
    page.close()
    session.stop()
    server.stop()


OWN = {
    "demo.png": stuck_shuttle,
    "turned_boxes.png": turned_boxes,
    **dict.fromkeys([*(f"tutorial_{step}.png" for step in range(1, 6)), "tutorial_6.gif"], of_tutorial),
    "viewer.png": viewer_page,
}


def main() -> None:
    """Make those that were asked for, in one process: most of the time of each would go into loading compiled code."""
    from jostle.cli.app import app

    os.chdir(DOCS.parent)
    for words in commands():
        if all(any(wanted in word for word in words) for wanted in sys.argv[1:]):
            print("jostle", shlex.join(words), flush=True)
            app(words, standalone_mode=False)
    for name, make in OWN.items():
        if all(wanted in name for wanted in sys.argv[1:]):
            print(name, flush=True)
            make(PICTURES / name)


if __name__ == "__main__":
    main()
