"""`make release`: builds the source distribution and the wheel, and tries them out.

Refuses where the tree is not what is committed, or where CHANGELOG.md has no entry for the version.
Nothing is uploaded.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from venv import EnvBuilder

from packaging.metadata import Metadata

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
PIPELINE = """
import penstock

with penstock.connect() as db:
    db.sql("CREATE SOURCE temps (room STRING, temp INT, t INT) EVENT TIME t")
    db.sql("CREATE VIEW hot AS SELECT room FROM temps WHERE temp > 80")
    db.source("temps").append([("a", 90, 1), ("b", 70, 2)])
    db.source("temps").end()
    db.step()
    assert [row.room for row in db.view("hot").snapshot().collect()] == ["a"]
"""


def problems(root: Path, version: str) -> list[str]:
    """Why this tree is not to be released as this version."""
    found = []
    if changed := output("git", "status", "--porcelain", cwd=root):
        found.append(f"the tree is not what is committed:\n{changed}")
    if version not in versions((root / "CHANGELOG.md").read_text("utf-8")):
        found.append(f"CHANGELOG.md has no entry `## {version} - YYYY-MM-DD`")
    return found


def versions(changelog: str) -> list[str]:
    """The versions with an entry that has a date and says something, the newest first."""
    heading = r"^## (\d\S*) - \d{4}-\d\d-\d\d\n+(?=[^#\s])"
    return re.findall(heading, changelog, re.MULTILINE)


def build(root: Path, dist: Path) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is made of it."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, root)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return sdist, wheel


def check(root: Path, sdist: Path, wheel: Path, version: str) -> None:
    """Whether both hold all of the package, and say of it what indexes ask for."""
    modules = {
        path.relative_to(root / "src").as_posix()
        for path in (root / "src" / "penstock").rglob("*")
        if path.suffix == ".py" or path.name == "py.typed"
    }
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(archive.read(about), validate=True)
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/src/")[2] for name in archive.getnames()}
    expect("the wheel", modules, {n for n in names if n.startswith("penstock/")})
    expect("the source distribution", modules, {n for n in sources if n.startswith("penstock/")})
    if str(metadata.version) != version:
        raise SystemExit(f"the wheel is of version {metadata.version}, the code of {version}")
    if not metadata.description:
        raise SystemExit("the wheel has no description")


def expect(what: str, wanted: Iterable[str], found: Iterable[str]) -> None:
    """The same modules in both; folders do not count."""
    found = {name for name in found if name.endswith((".py", ".typed"))}
    if different := sorted(set(wanted) ^ found):
        raise SystemExit(f"{what} differs from src: {', '.join(different)}")


def try_out(wheel: Path, pins: Path, folder: Path, version: str) -> None:
    """Install the wheel with what it asks for, at the pinned versions, and run a pipeline."""
    EnvBuilder(with_pip=True).create(folder / "venv")
    binaries = folder / "venv" / "bin"
    quiet = ("-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "install")
    run(binaries / "python", *quiet, "--constraint", pins, wheel)
    told = output(binaries / "penstock", "--version", cwd=folder)
    if version not in told.split():
        raise SystemExit(f"penstock --version says {told!r}, not {version}")
    run(binaries / "python", "-c", PIPELINE, cwd=folder)


def output(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """A command that is heard only where it fails."""
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")


def main() -> None:
    """Build into a new folder, so that only what was tried out gets into dist."""
    from penstock import __version__ as version

    if found := problems(ROOT, version):
        raise SystemExit("\n".join([f"Penstock {version} is not released:", *found]))
    with tempfile.TemporaryDirectory(prefix="penstock-release-") as name:
        folder = Path(name)
        sdist, wheel = build(ROOT, folder / "dist")
        check(ROOT, sdist, wheel, version)
        try_out(wheel, ROOT / "requirements.txt", folder, version)
        DIST.mkdir(exist_ok=True)
        for made in (sdist, wheel):
            (DIST / made.name).write_bytes(made.read_bytes())
            print(f"dist/{made.name}")


if __name__ == "__main__":
    main()
