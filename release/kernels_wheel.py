"""Build the wheel of compiled kernels for this platform: `make kernels`.

Compiles everything that `jostle warmup` compiles, from nothing, for the baseline processor of the platform, and packs the files of
that cache with their manifest (`jostle/kernels/shipped.py` has the design, docs/compiled_kernels.md the job for other platforms).
The wheel has the tags of the installed llvmlite: kernels run where llvmlite does.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

import jostle
from jostle.kernels.shipped import CODE, MANIFEST, TARGETS, Baseline, distribution

ROOT = Path(__file__).parents[1]
LARGEST = 60 * 10**6
EPOCH = (1980, 1, 1, 0, 0, 0)  # times of the files do not matter, and equal content is to give equal wheels
COMMANDS = (sys.executable, "-c", "from jostle.cli import main; main()")

# Run in a process with the settings of the compiling ones.
DESCRIBE = """
import importlib, json, sys
package = importlib.import_module(sys.argv[1]).__name__
from numba.core.registry import cpu_target
from jostle.kernels.cache import directory_name
from jostle.kernels.shipped import compile_settings, made_from
triple, cpu, features = cpu_target.target_context.codegen().magic_tuple()
manifest = {"triple": triple, "cpu": cpu, "features": features, "settings": compile_settings(), **made_from(package)}
print(json.dumps([directory_name(package), manifest]))
"""


def baseline() -> Baseline:
    """Return the processor to compile for on this platform."""
    machine = llvm.get_default_triple().partition("-")[0]
    if machine not in TARGETS:
        raise SystemExit(f"no baseline for {machine} processors; add one to TARGETS in jostle/kernels/shipped.py")
    return TARGETS[machine]


def compile_environment(target: Baseline, cache: Path) -> dict[str, str]:
    """Return the environment of processes that compile for a target into a cache.

    Other settings of Numba and installed kernels have no say.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    chosen = {"NUMBA_CPU_NAME": target.cpu, "NUMBA_CPU_FEATURES": target.features}
    return environment | chosen | {"JOSTLE_CACHE_DIR": str(cache), "JOSTLE_COMPILED": "0"}


def compiled(package: str, command: Sequence[str], target: Baseline, cache: Path) -> tuple[dict[str, Any], list[Path]]:
    """Run a command that calls all kernels of a package; return manifest and files."""
    environment = compile_environment(target, cache)

    def described() -> Any:
        return json.loads(subprocess.run([sys.executable, "-c", DESCRIBE, package], env=environment, check=True, stdout=-1).stdout)

    before = described()
    subprocess.run(command, env=environment, check=True)
    if described() != before:
        raise SystemExit("sources were edited while their kernels were compiled; build again")
    directory, manifest = before
    files = sorted((cache / directory).glob("*.kernel"))
    if not files:
        raise SystemExit(f"{' '.join(command)} left no compiled kernels in {cache / directory}")
    return {**manifest, "needs": target.needs}, files


def platform_tags() -> list[str]:
    """Return the tags of the installed llvmlite, like cp311-cp311-manylinux_2_17_x86_64."""
    text = importlib.metadata.distribution("llvmlite").read_text("WHEEL") or ""
    tags = [line.removeprefix("Tag: ") for line in text.splitlines() if line.startswith("Tag: ")]
    if not tags:
        raise SystemExit("llvmlite was not installed from a wheel, whose tags are needed: pip install --force-reinstall llvmlite")
    return tags


def write_wheel(package: str, version: str, manifest: dict[str, Any], files: Sequence[Path], folder: Path) -> Path:
    """Write the wheel of a package's kernels into a folder; return its path."""
    folder_name = f"{package}_kernels"
    tags = platform_tags()
    combined = "-".join(".".join(dict.fromkeys(part)) for part in zip(*(tag.split("-") for tag in tags), strict=True))
    pins = {package: version, "numba": manifest["numba"], "llvmlite": manifest["llvmlite"], "numpy": f"{manifest['numpy']}.*"}
    info = f"{folder_name}-{version}.dist-info"
    headers = ["Metadata-Version: 2.1", f"Name: {distribution(package)}", f"Version: {version}"]
    headers += [f"Summary: Compiled kernels of {package}, for {manifest['cpu']} processors", "License: MIT"]
    headers += [f"Requires-Dist: {name}=={pin}" for name, pin in pins.items()]
    about = ["Wheel-Version: 1.0", f"Generator: {Path(__file__).name}", "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in tags)]
    contents: dict[str, bytes | Path] = {
        f"{folder_name}/__init__.py": f'"""Compiled kernels of {package}: data, see its kernels/shipped.py."""\n'.encode(),
        f"{folder_name}/{MANIFEST}": (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode(),
        **{f"{folder_name}/{CODE}/{file.name}": file for file in files},
        f"{info}/METADATA": "\n".join([*headers, "", ""]).encode(),
        f"{info}/WHEEL": "\n".join([*about, ""]).encode(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{folder_name}-{version}-{combined}.whl"
    record = ""
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in contents.items():
            data = content.read_bytes() if isinstance(content, Path) else content
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
            _add(archive, path, data)
        _add(archive, f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode())
    return wheel


def _add(archive: zipfile.ZipFile, path: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(path, EPOCH)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=9)


def main() -> None:
    """Build the wheel of jostle's kernels."""
    parser = argparse.ArgumentParser(description="Build the wheel of compiled kernels for this platform.")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="number of parallel compile processes")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the wheel")
    options = parser.parse_args()
    cache = ROOT / "build" / "kernels"
    shutil.rmtree(cache, ignore_errors=True)  # no files of other sources
    manifest, files = compiled("jostle", [*COMMANDS, "warmup", "--processes", str(options.processes)], baseline(), cache)
    wheel = write_wheel("jostle", jostle.__version__, manifest, files, options.out)
    size = wheel.stat().st_size
    print(f"{wheel}: {len(files)} kernels for {manifest['cpu']}, {size / 1e6:.1f} MB")
    if size > LARGEST:
        raise SystemExit(f"the wheel may have {LARGEST / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
