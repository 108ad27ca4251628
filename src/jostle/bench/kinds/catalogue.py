"""The kinds of meshes, what is asked about each, and the two halves.

Thresholds of methods may be chosen on the kinds of `CHOSEN_ON`; those of `CHECKED_ON` tell whether the choice holds for parts that
had no say in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from jostle.bench.kinds.meshes.compounds import frame, mixed
from jostle.bench.kinds.meshes.extrusions import bent_sheet, i_beam, l_beam
from jostle.bench.kinds.meshes.gears import gear
from jostle.bench.kinds.meshes.links import link
from jostle.bench.kinds.meshes.perforated import perforated_sheet
from jostle.bench.kinds.meshes.round_parts import capsule, centred, cone, cylinder, disc, pipe, spring
from jostle.bench.kinds.meshes.screws import screw
from jostle.bench.kinds.meshes.terrain import terrain
from jostle.bench.kinds.part import TILT, Asked, Part, Sizes, both_ways
from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes.load import ENDINGS, load
from jostle.shapes.mesh import Mesh

LARGEST = 500_000  # faces of a mesh from a folder
ROUGHNESS = 0.6

ALL, PAIRS, FIRST, MISS = Asked.ALL, Asked.PAIRS, Asked.FIRST, Asked.MISS
DISTANCE, NEAREST, WITHIN, DEFORM, SELF = Asked.DISTANCE, Asked.NEAREST, Asked.WITHIN, Asked.DEFORM, Asked.SELF
CROWD = (ALL, PAIRS)
TWO_BODIES = (ALL, FIRST, MISS, DISTANCE)


def _pipes(sizes: Sizes) -> list[Part]:
    every = (*CROWD, FIRST, MISS, DISTANCE, NEAREST, WITHIN)
    large = both_ways("128 segments", pipe, every, every, sizes.bodies)
    small = both_ways("24 segments", partial(pipe, 24), (*CROWD, FIRST), (*CROWD, MISS, WITHIN), sizes.bodies)
    return [*large, *small, Part("128 segments, tilted, bending", (DEFORM,), lambda: pipe().moved(TILT))]


def _cylinders(sizes: Sizes) -> list[Part]:
    return both_ways("128 segments", cylinder, (*CROWD, FIRST, MISS), (*CROWD, FIRST, DISTANCE, NEAREST), sizes.bodies)


def _cones(sizes: Sizes) -> list[Part]:
    straight, tilted = (*CROWD, FIRST, DISTANCE), (*CROWD, MISS, WITHIN)
    return both_ways("1,152 segments", cone, straight, tilted, sizes.bodies // 4, sizes.few_poses)


def _discs(sizes: Sizes) -> list[Part]:
    return both_ways("128 segments", disc, (*CROWD, FIRST, DISTANCE), (PAIRS, MISS, NEAREST), sizes.bodies)


def _capsules(sizes: Sizes) -> list[Part]:
    return both_ways("32 segments", capsule, (*CROWD, FIRST, DISTANCE), (PAIRS, MISS, NEAREST), sizes.bodies)


def _frames(sizes: Sizes) -> list[Part]:
    asked = (*CROWD, FIRST, MISS, DISTANCE, WITHIN)
    return [Part("8 pipes", asked, frame, bodies=sizes.few_bodies, spacing=0.7, poses=sizes.few_poses)]


def _mixed(sizes: Sizes) -> list[Part]:
    return [Part("a model with 3 pipes", (*TWO_BODIES, WITHIN), partial(mixed, sizes.model), poses=sizes.few_poses)]


def _askew(sizes: Sizes) -> list[Part]:
    model = partial(_blob, sizes.model)
    asked = (*TWO_BODIES, WITHIN)
    return [Part("a tilted cylinder against a model", asked, model, lambda: cylinder().moved(TILT), poses=sizes.few_poses)]


def _organic(sizes: Sizes, folder: Path | None = None) -> list[Part]:
    if folder is not None:
        return [Part(path.stem, TWO_BODIES, partial(_loaded, path), poses=sizes.few_poses) for path in _files(folder)]
    small, middle, large, huge = sizes.organic
    return [
        Part("hand", (ALL, FIRST, MISS, DISTANCE, NEAREST), build.hand),
        Part("clover", (ALL, FIRST, DISTANCE), build.clover),
        Part(f"blob of {small:,}", (ALL, MISS), partial(_blob, small)),
        Part(f"blob of {middle:,}", (*TWO_BODIES, NEAREST, WITHIN), partial(_blob, middle)),
        Part(f"blob of {large:,}", (ALL, FIRST, DISTANCE), partial(_blob, large), poses=sizes.few_poses),
        Part(f"blob of {huge:,}", (ALL, DISTANCE), partial(_blob, huge), poses=sizes.few_poses),
        Part("blobs, deforming", (DEFORM, SELF), partial(_blob, middle)),
    ]


def _beams(sizes: Sizes) -> list[Part]:
    i_beams = both_ways("I", i_beam, (*CROWD, FIRST, DISTANCE), (*CROWD, MISS, WITHIN), sizes.bodies)
    return i_beams + both_ways("L", l_beam, (PAIRS, FIRST), (ALL, DISTANCE), sizes.bodies)


def _screws(sizes: Sizes) -> list[Part]:
    return both_ways("15 turns", screw, (*CROWD, FIRST, DISTANCE), (ALL, MISS, NEAREST), sizes.few_bodies)


def _springs(sizes: Sizes) -> list[Part]:
    both = both_ways("10 turns", spring, (*CROWD, FIRST, DISTANCE), (ALL, MISS, NEAREST), sizes.few_bodies)
    return [*both, Part("10 turns, squeezed", (SELF,), spring)]


def _gears(sizes: Sizes) -> list[Part]:
    return both_ways("24 teeth", gear, (*CROWD, FIRST, DISTANCE, WITHIN), (*CROWD, MISS, NEAREST), sizes.bodies)


def _sheets(sizes: Sizes) -> list[Part]:
    bent = both_ways("bent", bent_sheet, (*CROWD, FIRST, DISTANCE), (*CROWD, MISS, WITHIN), sizes.bodies)
    small, large = (partial(perforated_sheet, *cells) for cells in sizes.holes)
    perforated = both_ways("perforated", small, (ALL, FIRST, DISTANCE), (PAIRS, MISS, NEAREST), sizes.few_bodies)
    ball = partial(build.icosphere, sizes.ball, 0.3)
    return [*bent, *perforated, Part("perforated, a ball against it", (ALL, FIRST, DISTANCE), large, ball, poses=sizes.few_poses)]


def _plates(sizes: Sizes) -> list[Part]:
    model, plate = partial(_blob, sizes.model), partial(build.box, (1.2, 0.9, 0.02))
    return [
        Part("12 faces against a model", (*TWO_BODIES, NEAREST), model, plate, poses=sizes.few_poses),
        Part(
            "12 faces, tilted, against a model",
            (ALL, DISTANCE, WITHIN),
            model,
            lambda: plate().moved(TILT),
            poses=sizes.few_poses,
        ),
    ]


def _terrains(sizes: Sizes) -> list[Part]:
    ground, ball = partial(terrain, *sizes.terrain), partial(build.icosphere, sizes.ball, 0.2)
    return [Part("a ball against it", (*TWO_BODIES, NEAREST, WITHIN), ground, ball, poses=sizes.few_poses, upward=True)]


def _links(sizes: Sizes) -> list[Part]:
    return [
        Part("48 faces", (FIRST, DISTANCE, WITHIN), partial(link, 8, 3, 0.2)),
        Part("240 faces", (*CROWD, FIRST, MISS, DISTANCE, NEAREST, WITHIN), partial(link, 12, 10, 0.6), bodies=sizes.bodies),
        Part("960 faces", (PAIRS, FIRST, DISTANCE), partial(link, 20, 24, 1.0), bodies=sizes.bodies),
    ]


def _cloths(sizes: Sizes) -> list[Part]:
    sheet, ball = partial(build.cloth, *sizes.cloth, (2.0, 1.1)), partial(build.icosphere, sizes.ball, 0.5)
    return [Part("folded", (SELF,), sheet), Part("over a ball", (DEFORM,), sheet, ball)]


def _blob(face_count: int) -> Mesh:
    return build.blob(face_count, seed=1, roughness=ROUGHNESS)


KINDS: dict[str, Callable[[Sizes], list[Part]]] = {
    "pipe": _pipes,
    "cylinder": _cylinders,
    "cone": _cones,
    "disc": _discs,
    "capsule": _capsules,
    "frame": _frames,
    "mixed": _mixed,
    "askew": _askew,
    "organic": _organic,
    "beam": _beams,
    "screw": _screws,
    "spring": _springs,
    "gear": _gears,
    "sheet": _sheets,
    "plate": _plates,
    "terrain": _terrains,
    "link": _links,
    "cloth": _cloths,
}

CHOSEN_ON = ("pipe", "cylinder", "cone", "disc", "capsule", "frame", "mixed", "askew", "organic")
CHECKED_ON = ("beam", "screw", "spring", "gear", "sheet", "plate", "terrain", "link", "cloth")


def parts_of(kind: str, sizes: Sizes, folder: Path | None = None) -> list[Part]:
    """Return the parts of a kind; a folder's meshes replace the organic ones."""
    return _organic(sizes, folder) if kind == "organic" else KINDS[kind](sizes)


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() in ENDINGS)
    if not files:
        raise InputError(f"--meshes: {folder} has no mesh; it must hold files that end in {', '.join(ENDINGS)}")
    return files


def _loaded(path: Path) -> Mesh:
    """Return the mesh of a file, centred and about as large as the others."""
    mesh = load(path)
    if len(mesh.faces) > LARGEST:
        raise InputError(f"--meshes: {path} has {len(mesh.faces):,} faces; at most {LARGEST:,} are measured")
    return centred(mesh).scaled(2.0 / mesh.size)
