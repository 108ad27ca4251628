"""Edited world and motion files are refused or answer for their content.

Nothing crashes or hangs.

    python -m tests.fuzz_stored --count 2000 --seed 1

Files of every method are written and mutated: bytes of the archive (flipped, cut, moved), and, with checksums and digests that
are right again, entries, dtypes, shapes and headers of arrays and fields of the description. A child process loads each, so that
a segmentation fault is a finding; it asks for all rows and compares them with those of the same world prepared afresh, and
those of exact methods with brute force.
"""

import argparse
import collections
import copy
import hashlib
import io
import json
import pathlib
import random
import resource
import select
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

import jostle
from jostle.interface.traits import Answer, Need
from jostle.motion.record import Motion, Recorder
from jostle.registry import METHODS
from jostle.shapes.build import icosphere
from jostle.world import file as world_file
from jostle.world.shape_cache import PreparedShapes
from tests.tiny import box, rotation_about, tetrahedron, translation

SECONDS = 60.0  # for one file; the largest needs less than one
MOST_MEMORY = 8 << 30  # of a child, address space
EXACT = ("wide_tree", "face_octree", "octree_update", "bounding_tree", "edge_face")
BELIEVED = ("voxmap",)  # of which an edit with the right digest changes the answer
NUMBERS = (0, -1, 1, 2, 7, 8, 255, 1 << 15, 2**31 - 1, -(2**31), 2**40, 1e-31, 0.5, -1e30, 1e30, 1e31, 1e300, np.inf, np.nan)
STRANGE = (None, True, -1, 0, 1, 2, 3.5, 10**25, 10**400, 1e300, float("nan"), float("inf"), "", "x", "sah", "uniform_grid", "m",
           [], [0], [0, 1], [[0, 1]], [[0, 0]], ["a", "a", "b"], {}, {"a": 1}, {"broad_phase": "brute_force", "settings": {}},
           {"broad_phase": [], "settings": 5}, {"surface": "Sphere", "settings": {"radius": -1}}, "\ud800\0")  # fmt: skip


def world_of(method):
    """A small world: two touching bodies, a deforming, a static and a distant one."""
    world = jostle.World(method)
    world.add(icosphere(1), name="ball")
    world.add(icosphere(1), rotation_about((1, 2, 3), 0.3) @ translation((0.8, 0.2, 0.1)), name="other", category=3)
    world.add(box(name="block"), translation((0.3, 0.1, -0.2)), name="block", static=True, group=4)
    world.add(box((0, 0, 0), (1, 2, 0.5)), translation((9, 0, 0)), name="apart")
    if Need.RIGID not in world.method.traits.needs:
        soft = world.add(tetrahedron(), name="soft", deformable=True)
        world.detect()
        soft.vertices = soft.mesh.vertices + 0.1
    world.ignore("ball", "apart")
    return world


def originals(only=""):
    """The content of files by name, of those that are listed, separated by commas."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "x.npz"
        methods = {name: made() for name, made in METHODS.items()}
        methods["spheres"] = jostle.BoundingTree(volume="sphere", broad="sweep_and_prune")
        for name, method in methods.items():
            if not only or name in only.split(","):
                world_of(method).save(file)
                yield name, file.read_bytes()
        world = world_of("wide_tree")
        recorder = Recorder(world)
        for step in range(3):
            world["other"].pose = translation((0.8, 0.1 * step, 0.0))
            world["soft"].vertices = tetrahedron().vertices * (1.0 + step)
            recorder.capture()
        recorder.motion("three frames").save(file)
        yield "motion", file.read_bytes()


# ---------------------------------------------------------------------- mutations


def mutated(rng, content):
    """One mutation of a file, and what it is."""
    kind = rng.choice(("bytes", "array", "array", "shape", "shape", "header", "description", "description", "members"))
    if kind == "bytes":
        return _bytes_changed(rng, bytearray(content)), kind
    arrays = arrays_of(content)
    description = json.loads(str(arrays.pop("description")))
    headers = {}
    names = [name for name in arrays if kind != "shape" or name.startswith("shape/")] or list(arrays)
    name = rng.choice(names)
    if kind in ("array", "shape"):
        for _ in range(rng.choice((1, 1, 1, 3))):
            arrays[name] = _array_changed(rng, arrays[name])
    elif kind == "header":
        headers[name] = _header_changed(rng, arrays[name])
    elif kind == "members":
        _members_changed(rng, arrays, name)
    else:
        _description_changed(rng, description)
    digests_right = rng.random() < 0.7
    if digests_right:
        _make_digests(arrays, description)
    text = json.dumps(description)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        archive.writestr("description.npy", npy(np.array(text)))
        for member, array in arrays.items():
            archive.writestr(f"{member}.npy", headers.get(member) or npy(array))
    return packed.getvalue(), f"{kind}{', digests right' if digests_right else ''}"


def arrays_of(content):
    with np.load(io.BytesIO(content)) as saved:
        return {name: saved[name] for name in saved.files}


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)
    return stream.getvalue()


def _bytes_changed(rng, content):
    for _ in range(rng.choice((1, 1, 2, 8))):
        place, length = rng.randrange(len(content)), rng.randrange(1, 64)
        what = rng.choice(("flip", "flip", "cut", "zero", "copy", "insert"))
        if what == "flip":
            content[place] ^= 1 << rng.randrange(8)
        elif what == "cut":
            del content[place : place + rng.choice((length, len(content)))]
        elif what == "zero":
            content[place : place + length] = bytes(len(content[place : place + length]))
        elif what == "copy":
            begin = rng.randrange(len(content))
            content[place : place + length] = content[begin : begin + length]
        else:
            content[place:place] = rng.randbytes(length)
        if not content:
            return b"P"
    return bytes(content)


def _array_changed(rng, array):
    array = array.copy()
    what = rng.choice(("entry", "entry", "entry", "entry", "nudge", "swap", "all", "dtype", "shorter", "longer", "turned", "flat"))
    if what in ("entry", "nudge", "swap", "all") and array.size and array.dtype.kind in "biuf":
        flat, place, other = array.reshape(-1), rng.randrange(array.size), rng.randrange(array.size)
        if what == "swap":
            flat[[place, other]] = flat[[other, place]]
            return array
        with np.errstate(all="ignore"):
            value = float(flat[place]) + rng.choice((-1, 1, 1e-3)) if what == "nudge" else rng.choice(NUMBERS)
            if array.dtype.kind != "f":
                value = int(np.nan_to_num(value)) % (1 << 8 * array.dtype.itemsize)
                value = np.array([value], np.uint64).astype(array.dtype)[0]
            if what == "all":
                flat[:] = value
            else:
                flat[place] = value
        return array
    if what == "dtype" and array.dtype.kind in "biuf?":
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(("f4", "f8", "i4", "i8", "u1", "?", ">f8", ">i4", "c16", "U3", "S2")))
    if what == "shorter":
        return array[: rng.randrange(len(array) + 1)] if array.ndim else array.reshape(1)
    if what == "longer":
        return np.concatenate([array, array]) if array.ndim else np.stack([array, array])
    return array.T if what == "turned" else array.reshape(-1)


def _header_changed(rng, array):
    """A header that is not true to the bytes: sizes up to those that wrap in 64 bits."""
    shape = rng.choice(((2**31, 2**33), (10**12,), (-1, 3), (2**62, 4), (len(np.atleast_1d(array)), 3), (0,), (), (10**30,)))
    dtype = rng.choice((array.dtype.str, "<f8", "|O", "<U100", "|V8", "<U0", "<M8[s]"))
    text = f"{{'descr': '{dtype}', 'fortran_order': {rng.choice((False, True))}, 'shape': {shape}, }}"
    text = rng.choice((text, text, text[:-3], "(" * 3000, "[" * 90 + "]" * 90, "{'descr': 1}")) + "\n"
    version = bytes([rng.choice((1, 1, 2, 3, 9)), 0])
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode() + array.tobytes()


def _members_changed(rng, arrays, name):
    what = rng.choice(("drop", "rename", "exchange", "add"))
    if what == "drop":
        del arrays[name]
    elif what == "rename":
        arrays[rng.choice(("extra", "mesh/0/x", "shape/99/order", "../x", "", "mesh/1/vertices"))] = arrays.pop(name)
    elif what == "exchange":
        other = rng.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        arrays[rng.choice(("extra", "mesh/9/faces", "body/0/vertices", "shape/0/x"))] = arrays[name]


def _description_changed(rng, description):
    """Replace, drop or add one value, however deep it is."""
    place = description
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = rng.choice(keys)
        if isinstance(place[key], (dict, list)) and rng.random() < 0.7:
            place = place[key]
            continue
        what = rng.choice(("set", "set", "set", "drop", "nest"))
        if what == "drop":
            del place[key]
        elif what == "nest":
            place[key] = [place[key]]
        else:
            place[key] = copy.deepcopy(rng.choice(STRANGE))
        return
    if isinstance(place, dict):
        place["extra"] = rng.choice(STRANGE)
    else:
        place.append(rng.choice(STRANGE))


def _make_digests(arrays, description):
    """Give the file the digests of what it holds now, as its author would."""
    if isinstance(description.get("digests"), dict):
        for name, array in arrays.items():
            content = hashlib.blake2b(f"{array.dtype.str} {array.shape} ".encode(), digest_size=16)
            content.update(np.ascontiguousarray(array).tobytes())
            description["digests"][name] = content.hexdigest()
    elif isinstance(description.get("shape_digests"), list):
        try:
            method = world_file._method_of(description)
            stored = world_file.STORED[description["method"]]
            for k in range(len(description["shape_digests"])):
                mesh = jostle.Mesh(arrays[f"mesh/{k}/vertices"], arrays[f"mesh/{k}/faces"])
                fields = {name: arrays[f"shape/{k}/{name}"] for name in stored.names}
                description["shape_digests"][k] = world_file._digest_of(method, mesh, fields)
        except (KeyError, TypeError, jostle.JostleError):
            return


# ---------------------------------------------------------------------- the child


def outcome_of(file):
    """What becomes of a file: refused, answered, or a finding."""
    try:
        try:
            motion = Motion.load(file)
        except jostle.InputError:
            motion = None
        if motion is not None:
            world = motion.world("brute_force")
            for frame in range(len(motion)):
                motion.apply(world, frame)
                world.detect()
            return "answered"
        world = jostle.World.load(file)
    except jostle.JostleError as error:
        return "refused" if str(file) in str(error) else f"finding: the error does not name the file: {error}"
    try:
        afresh = jostle.World.load(file)
        afresh._shapes = PreparedShapes()
        rows, expected = rows_of(world), rows_of(afresh)
        if rows != expected and not (world._method_name in BELIEVED and not isinstance(rows, str)):
            return "finding: rows differ from those of the world prepared afresh"
        if world._method_name in EXACT and not isinstance(rows, str) and rows != rows_of(copied(world, "brute_force")):
            return "finding: rows differ from those of brute force"
    except jostle.JostleError as error:
        return f"finding: {error!r}"
    return "answered" if not isinstance(rows, str) else "answered by an error"


def rows_of(world):
    """The rows of a world, as bytes; or the error that answers it."""
    try:
        if Answer.FACES in world.method.traits.answers or Answer.POINTS in world.method.traits.answers:
            return world.detect().contacts.to_array()[["body_a", "body_b", "face_a", "face_b", "kind"]].tobytes()
        pairs = world.detect(rows="pairs").pairs
        return np.stack([pairs.body_a, pairs.body_b, pairs.kind]).tobytes()
    except jostle.JostleError as error:
        return str(error)


def copied(world, method):
    """The same bodies at the same places, for another method."""
    other = jostle.World(method)
    for body in world:
        other._next_id = body.id
        made = other.add(body.mesh, body.pose, body.name, deformable=body.deformable, static=body.static, group=body.group,
                         category=body.category, mask=body.mask)  # fmt: skip
        if body.deformable:
            made.vertices = body.vertices
    for pair in world._ignored:
        other.ignore(*pair)
    return other


def answer_files():
    """Take names of files from stdin, and say of each what becomes of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for line in sys.stdin:
        try:
            text = outcome_of(pathlib.Path(line.strip()))
        except Exception as error:
            text = f"finding: {type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(text) + "\n")
        sys.stdout.flush()


class Child:
    """A process that loads files; another takes its place when it dies."""

    def __init__(self):
        self._process = None

    def outcome(self, file):
        if self._process is None:
            command = [sys.executable, "-W", "ignore", "-m", "tests.fuzz_stored", "--child"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], SECONDS + 300.0 * (not self._warm))[0]:
            self.close()
            return f"finding: no answer within {SECONDS} s"
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self.close()
            return f"finding: the process died ({code})"
        return json.loads(line)

    _warm = False

    def warm(self, files):
        """Load the originals first: kernels may have to be compiled."""
        outcomes = [self.outcome(file) for file in files]
        self._warm = True
        return outcomes

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def run(count, seed, folder, only=""):
    """Try `count` mutations, file by file; return outcomes by file, and findings."""
    folder = pathlib.Path(folder)
    contents = dict(originals(only))
    outcomes, findings, child = collections.Counter(), [], Child()
    try:
        for name, content in contents.items():
            file = folder / "original.npz"
            file.write_bytes(content)
            if child.warm([file]) != ["answered"]:
                findings.append(f"{name}: the file as it was saved is not answered")
        for number in range(count):
            name = list(contents)[number % len(contents)]
            content, kind = mutated(random.Random(f"{seed} {number}"), contents[name])
            file = folder / f"{seed}_{number}.npz"
            file.write_bytes(content)
            said = child.outcome(file)
            outcomes[(name, said.partition(":")[0])] += 1
            if said.startswith("finding"):
                findings.append(f"{name}, {kind}, {file}: {said}")
            else:
                file.unlink()
    finally:
        child.close()
    return outcomes, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="methods, separated by commas")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        answer_files()
        return
    folder = tempfile.mkdtemp(prefix="fuzz_stored_")
    outcomes, findings = run(arguments.count, arguments.seed, folder, arguments.only)
    lines = [f"{name:18} {said:22} {times}" for (name, said), times in sorted(outcomes.items())]
    lines.append(f"{sum(outcomes.values())} files, {len(findings)} findings (files of findings are in {folder})")
    sys.stdout.write("\n".join([*lines, *findings, ""]))
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
