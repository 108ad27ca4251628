"""The page's edge in a real browser: names are text, good files show no error, nothing comes from elsewhere, tokens are carried."""

import jostle
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.shapes.save import save
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of, subject_of_world

NAME = "<img src=x onerror=document.title='run'>"


def test_names_are_text_files_come_in_and_nothing_comes_from_elsewhere(view_of, tmp_path):
    import trimesh

    scene = trimesh.Scene()
    for number, name in enumerate((NAME, '"><script>')):
        scene.add_geometry(trimesh.creation.box(), node_name=name, transform=translation((2.0 * number, 0.0, 0.0)))
    scene.export(tmp_path / "parts.glb")
    # As `jostle view parts.glb --fit` shows it.
    session = Session(subject_of([str(tmp_path / "parts.glb")]), Settings(method="bounding_tree"), fit=0.01)
    assert session.subject.start.names == (NAME, '"><script>')
    view = view_of(session)
    page = view.open(settle=False)
    session.move(0, translation((1.5, 0.0, 0.0)), "somebody")
    page.get_by_text(f"{NAME} is stopped by").wait_for()
    assert page.locator(".jostle-fit b").all_inner_texts() == [NAME, '"><script>']
    assert page.locator(".jostle-fit img").count() == 0

    page.set_input_files("input[type=file]", save(build.box((1.0, 1.0, 1.0)), tmp_path / "guest.stl"))
    page.get_by_text("File uploaded successfully").wait_for()
    view.until(lambda: len(session.world) == 3, page)
    assert page.locator(".mantine-Notification-root").count() == 1  # and it is not ours, which tell of errors
    assert page.get_by_text("it has 0.0 MB").count() == 0

    (tmp_path / "large.stl").write_bytes(bytes(20_000_001))
    page.set_input_files("input[type=file]", tmp_path / "large.stl")
    page.get_by_text("large.stl: it has 20.0 MB; the limit is 20 MB").wait_for()
    page.get_by_text("Uploading large.stl").wait_for(state="detached")
    assert page.get_by_role("button", name="Add a mesh file").is_enabled()

    assert page.faults == []
    here = f"//127.0.0.1:{view.port}/"
    assert {url for url in page.asked_for if here not in url and not url.startswith("data:")} == set()
    # Were markup to slip through, its scripts would not run, and nothing would be loaded.
    page.evaluate("document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"document.title='run'\">`)")
    page.wait_for_timeout(300)
    assert page.title() != "run"
    assert any("script-src-attr" in fault for fault in page.faults)
    page.faults.clear()
    assert view.server.guard.closed == 0


def test_a_page_for_others_opens_by_its_whole_address_only(view_of):
    world = jostle.World("brute_force")
    world.add(build.box((1.0, 1.0, 1.0)), name="box")
    view = view_of(Session(subject_of_world(world, "box")), host="0.0.0.0")
    context = view.browser.new_context()
    page = context.new_page()
    assert page.goto(f"http://127.0.0.1:{view.port}/").status == 403
    assert "with its token" in page.inner_text("body")
    context.close()
    page = view.open(settle=False)  # it has the token in its address, and connects by the cookie
    assert "token=" in page.url
    assert page.evaluate("document.cookie") == ""  # scripts do not see it
