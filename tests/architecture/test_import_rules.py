"""The import rules of .importlinter hold, and they are able to fail."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(config):
    command = [Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_import_rules_hold():
    result = run(ROOT / ".importlinter")
    assert result.returncode == 0, result.stdout


def test_a_forbidden_import_is_found(tmp_path):
    config = tmp_path / "rules.ini"
    config.write_text(
        "[importlinter]\nroot_package = jostle\n\n[importlinter:contract:x]\nname = x\ntype = forbidden\n"
        "source_modules =\n    jostle.world.world\nforbidden_modules =\n    jostle.report.report\n"
    )
    assert run(config).returncode == 1
