"""Every environment variable of jostle is documented in one table, and those of users in the FAQ."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_variables_stand_in_the_table():
    files = [file for folder in ("src", "tests", "docs", "examples") for file in (ROOT / folder).rglob("*.py")]
    files += [ROOT / "Makefile", ROOT / ".ci" / "run"]
    used = set().union(*(re.findall(r"\bJOSTLE_[A-Z][A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8")) for file in files))
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Environment variables")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(JOSTLE_[A-Z_]+)`", section))
    assert used == documented


def test_those_that_the_package_reads_stand_in_the_faq():
    used = set().union(
        *(re.findall(r"\bJOSTLE_[A-Z][A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8")) for file in (ROOT / "src").rglob("*.py"))
    )
    text = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
    assert used == set(re.findall(r"^\| `(JOSTLE_[A-Z_]+)`", text, re.MULTILINE))
    section = text.partition("### Cache folders and variables")[2].partition("\n### ")[0]
    assert "NUMBA_CACHE_DIR" in section
