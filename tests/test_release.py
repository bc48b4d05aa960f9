"""What `make release` refuses and builds. Trying it out takes a network, and is left out here."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

import penstock
import release

ENTRY = "# Changelog\n\n## Unreleased\n\n- One more.\n\n## 1.2.0 - 2026-11-20\n\n- A thing.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(ENTRY)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_a_version_with_an_entry_is_released(repository: Path) -> None:
    assert release.problems(repository, "1.2.0") == []


@pytest.mark.parametrize("version", ["1.2", "1.2.1", "Unreleased", ""])
def test_a_version_without_an_entry_is_not(repository: Path, version: str) -> None:
    (problem,) = release.problems(repository, version)
    assert problem.startswith("CHANGELOG.md has no entry")


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.py"])
def test_a_changed_tree_is_not_released(repository: Path, name: str) -> None:
    (repository / name).write_text(ENTRY + "more\n")
    (problem,) = release.problems(repository, "1.2.0")
    assert name in problem


def test_an_entry_has_a_date_and_a_text() -> None:
    changelog = (
        f"{ENTRY}\n## 1.1.0\n\n- x\n\n## 1.0.0 - 2026-01-01\n\n## 0.9.0 - 2025-01-01\n\n- y\n"
    )
    assert release.versions(changelog) == ["1.2.0", "0.9.0"]


@pytest.mark.long
def test_what_is_built_is_the_package(tmp_path: Path) -> None:
    sdist, wheel = release.build(release.ROOT, tmp_path / "dist")
    release.check(release.ROOT, sdist, wheel, penstock.__version__)
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/LICENSE") for name in archive.getnames())
    with pytest.raises(SystemExit, match=r"the wheel is of version .*, the code of 9\.9"):
        release.check(release.ROOT, sdist, wheel, "9.9")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("penstock/more.py", "")
    with pytest.raises(SystemExit, match=r"the wheel differs from src: penstock/more\.py"):
        release.check(release.ROOT, sdist, wheel, penstock.__version__)
