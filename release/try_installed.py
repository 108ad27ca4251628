"""Install the built wheels in a fresh environment and run what the documents show: examples, commands, Python.

The Python is that of the README and the tutorial, the commands are those of docs/commands.md.

    python release/try_installed.py compiled          with the wheel of kernels: all of it runs, and nothing is compiled
    python release/try_installed.py without-numba     all of it runs, or is refused with the cure; SERVED must run

The dependencies are those of requirements-demo.lock. The cache of kernels is a folder of its own that is empty at first; with the
wheel of kernels it must be so at the end, and JOSTLE_COMPILE=never makes a call that would compile fail besides.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-demo.lock"
BUILD = ROOT / "build" / "tried"
SECONDS = 300.0
CURE = "pip install numba"
SERVED = {
    *(
        "README.md",
        "tutorial_1.md",
        "tutorial_2.md",
        "tutorial_3.md",
        "01_two_files.py",
        "--help",
        "--version",
        "methods",
        "cache",
        "cache --clear",
        "lab list",
    ),
    *(
        "check A.stl B.obj --translate 0 0 1.5 --clearance 0.2",
        "check A.stl B.obj --solid --json",
        "check A.stl B.obj --method plain",
    ),
}
"""What runs without Numba."""

METHODS = (
    "plain",
    "wide_tree",
    "face_octree",
    "octree_update",
    "bounding_tree",
    "image_space",
    "voxmap",
    "monte_carlo",
    "brute_force",
)
BOX_FACES = (
    (0, 2, 1),
    (1, 2, 3),
    (4, 5, 6),
    (5, 7, 6),
    (0, 1, 4),
    (1, 5, 4),
    (2, 6, 3),
    (3, 6, 7),
    (0, 4, 2),
    (2, 4, 6),
    (1, 3, 5),
    (3, 7, 5),
)


@dataclasses.dataclass(frozen=True)
class Trial:
    """One thing to run: its name, its command, and whether it runs until it is interrupted."""

    name: str
    command: tuple[str, ...]
    stays: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a trial ended."""

    trial: Trial
    status: int
    seconds: float
    stdout: str
    stderr: str

    @property
    def ran(self) -> bool:
        """Whether it did what it is for: no part of it was refused, and the wheel of kernels was not."""
        answers = (0, 1) if self.trial.name.startswith(("check", "fit")) else (0,)
        said = self.stdout + self.stderr
        return self.status in answers and not any(
            word in said for word in ("Traceback", "Unsupported", "NoCompiler", "kernel jostle.", "ignoring")
        )

    @property
    def refused(self) -> bool:
        """Whether it ended with an error of jostle that names the cure. Only Python may show a traceback.

        The laboratory goes on, with the error in the row of a method.
        """
        last = self.last_line
        by_command = self.status == 2 and "\njostle: " in f"\n{self.stderr}" and "Traceback" not in self.stderr
        by_python = self.status == 1 and last.startswith(("jostle.errors.Unsupported: ", "jostle.errors.NoCompiler: "))
        return ((by_command or by_python) and CURE in last) or (self.status == 0 and CURE in self.stdout and not self.stderr)

    @property
    def last_line(self) -> str:
        """The last line on stderr."""
        return (self.stderr.strip().splitlines() or [""])[-1]


def trials(scripts: Path) -> Iterator[Trial]:
    """Yield what the README, the tutorial and docs/commands.md show, and a check by each method."""
    python, jostle = str(scripts / "python"), str(scripts / "jostle")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs" / "start").glob("tutorial_*.md"))):
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        yield Trial(page.name, (python, "-c", "\n".join(blocks)))
    commands = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield Trial(path.name, (python, str(path)))
    lines = [line.partition("#")[0].split(None, 1)[1] for line in commands.splitlines() if line.startswith("jostle ")]
    lines += [f"check A.stl B.obj --method {name}" for name in METHODS]
    lines += ["--help", "--version", "cache --clear", "lab list", "check A.stl B.obj --picture x.png"]
    shorter = {"bench peers": " --quick", "lab run": " --quick", "sim": " --frames 20", "demo": " --frames 3", "view": " --port 0"}
    for line in lines:
        more = next((text for start, text in shorter.items() if line.startswith(start)), "")
        yield Trial(line.strip(), (jostle, *shlex.split(line + more)), line.startswith("view"))


def write_files(folder: Path) -> None:
    """Write the files that the documents name: two boxes in several formats, and both in one."""
    corners = [(k & 1, k >> 1 & 1, k >> 2 & 1) for k in range(8)]
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
    box = vertices + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in BOX_FACES)
    for name in ("wall.obj", "B.obj"):
        (folder / name).write_text(box)
    facets = [struct.pack("<12fH", 0, 0, 0, *(value for corner in face for value in corners[corner]), 0) for face in BOX_FACES]
    for name in ("ball.stl", "A.stl"):
        (folder / name).write_bytes(bytes(80) + struct.pack("<I", len(facets)) + b"".join(facets))
    points = struct.pack("<24f", *(value for corner in corners for value in corner))
    indices = struct.pack("<36H", *(corner for face in BOX_FACES for corner in face))
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"name": "first", "mesh": 0}, {"name": "second", "mesh": 0, "translation": [0.75, 0.5, 0.25]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(indices)},
        ],
        "buffers": [{"byteLength": len(points + indices)}],
    }
    text = json.dumps(document).encode()
    chunks = [(b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", points + indices)]
    body = b"".join(struct.pack("<I", len(content)) + kind + content for kind, content in chunks)
    (folder / "scene.glb").write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body)


def run(trial: Trial, files: Path, environment: dict[str, str]) -> Outcome:
    """Run a trial to its end in a folder of its own; one that stays is asked for its page first and then interrupted."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(files, folder, dirs_exist_ok=True)
        begin = time.perf_counter()
        with subprocess.Popen(trial.command, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True) as process:
            try:
                said = _until_its_page_answers(process) if trial.stays else ""
                out, err = process.communicate(timeout=SECONDS)
            except BaseException:
                process.kill()
                raise
        return Outcome(trial, process.returncode, time.perf_counter() - begin, said + out, err)


def _until_its_page_answers(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        address = re.search(r"http://127\.0\.0\.1:\d+", line)
        if address:
            with urllib.request.urlopen(address[0], timeout=SECONDS) as page:
                said += f"{page.status}\n"
            process.send_signal(signal.SIGINT)
            break
    return said


def fresh_environment(folder: Path, kind: str) -> Path:
    """Install the built wheels and what they need; return the folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--require-hashes", "--requirement", LOCK], check=True)
    packages = ["jostle", "jostle-kernels"] if kind == "compiled" else ["jostle"]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--find-links", ROOT / "dist", *packages], check=True)
    if kind == "without-numba":
        subprocess.run([*pip, "uninstall", "--yes", "numba", "llvmlite"], check=True)
    return folder / "bin"


def main() -> None:
    """Try everything in a fresh environment; the exit status is 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser(description="Run what the documents show in a fresh environment.")
    parser.add_argument("kind", choices=["compiled", "without-numba"])
    parser.add_argument("--only", default="", help="only what has this in its name")
    options = parser.parse_args()
    shutil.rmtree(BUILD / options.kind, ignore_errors=True)
    files, cache = BUILD / options.kind / "files", BUILD / options.kind / "cache"
    files.mkdir(parents=True)
    write_files(files)
    scripts = fresh_environment(BUILD / options.kind / "venv", options.kind)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_", "PYTHON"))}
    environment |= {"JOSTLE_CACHE_DIR": str(cache)}
    if options.kind == "compiled":
        environment |= {"JOSTLE_COMPILE": "never"}
    # A run in the background ignores Ctrl-C, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = [trial for trial in trials(scripts) if options.only in trial.name]
    passed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(lambda trial: run(trial, files, environment), chosen):
            name = outcome.trial.name
            right = outcome.ran or (options.kind == "without-numba" and name not in SERVED and outcome.refused)
            word = "ran" if outcome.ran else "refused" if right else "WRONG"
            detail = (
                ""
                if outcome.ran
                else f": {outcome.last_line}"
                if right
                else f": status {outcome.status}\n{outcome.stdout}{outcome.stderr}"
            )
            print(f"{word:8}{outcome.seconds:6.1f} s  {name}{detail}", flush=True)
            passed += right
    compiled = sorted(path.name for path in cache.rglob("*.kernel")) if cache.exists() else []
    print(f"{len(compiled)} kernels compiled", *compiled)
    print(f"{passed} passed, {len(chosen) - passed} failed")
    if passed < len(chosen) or compiled:
        sys.exit(1)


if __name__ == "__main__":
    main()
