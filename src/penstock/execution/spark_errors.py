"""What Spark objects to, in a sentence: without its names for columns, its codes and its stack."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from penstock.sql.binding.analyser import AnalysisError
from penstock.sql.text import closest

FORMATS = ("avro", "csv", "delta", "json", "kafka", "orc", "parquet", "rate", "socket", "text")
EXPLODED = (
    "This makes several rows of one, which is not supported. Explode the rows before they are "
    "appended, or join with a table of positions."
)
NOT_MAINTAINED = (
    "This aggregate function is not maintained. Write it in terms of count, sum, avg, min and max."
)


def objection(error: Any, functions: Callable[[], Iterable[str]] = tuple) -> AnalysisError:
    """An exception of Spark as an objection; `functions` are those that could have been meant."""
    condition = str(error.getCondition() or "")
    given = {key: _plain(value) for key, value in (error.getMessageParameters() or {}).items()}
    if condition in ("MISSING_GROUP_BY", "MISSING_AGGREGATION"):
        return AnalysisError(NOT_MAINTAINED, unsupported=True)
    if "GENERATOR" in condition:
        return AnalysisError(EXPLODED, unsupported=True)
    if condition == "DATA_SOURCE_NOT_FOUND":
        return misnamed_format(given["provider"])
    if condition == "UNRESOLVED_ROUTINE":
        name = given["routineName"].lower()
        meant = closest(name, functions())
        question = f" Did you mean {meant.lower()}?" if meant else ""
        return AnalysisError(f"There is no function {name}.{question}")
    for known, sentence in SENTENCES.items():
        if condition.startswith(known):
            try:
                return AnalysisError(sentence.format(**given))
            except KeyError:
                break
    return AnalysisError(_first_sentence(error))


SENTENCES = {
    "CAST_INVALID_INPUT": "{expression} is not of type {targetType}. With try_cast it is NULL.",
    "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES": (
        "{left} and {right} do not go together here. Cast one of them."
    ),
    "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE": (
        "This operator is for {inputType}, not for {actualDataType}."
    ),
    "DATATYPE_MISMATCH.CAST": "{srcType} cannot be cast to {targetType}.",
    "DATATYPE_MISMATCH.DATA_DIFF_TYPES": (
        "All values of {functionName} have one type, and here they are {dataType}. Cast some."
    ),
    "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE": (
        "The {paramIndex} operand must be {requiredType}, and here it is {inputType}."
    ),
    "FAILED_TO_PARSE_TOO_COMPLEX": (
        "This has more terms than Spark can read. Compute parts of it in a query in FROM."
    ),
    "INVALID_EXTRACT_BASE_FIELD_TYPE": "{other} has no fields: STRUCT, MAP and ARRAY have.",
    "PATH_NOT_FOUND": "There is no file or folder {path}.",
    "WRONG_NUM_ARGS": "{functionName} takes {expectedNum} arguments, and {actualNum} are given.",
}


# what Spark calls several types at once, and what it calls CASE
WORDS = {
    "NUMERIC or INTERVAL": "numbers and intervals",
    "(TIMESTAMP OR TIMESTAMP": "a timestamp",
    "casewhen": "CASE",
}


def unreadable(format: str, error: Any) -> AnalysisError:
    """An exception of Java about a source that Spark cannot read, as an objection."""
    text = str(error)
    if "DATA_SOURCE_NOT_FOUND" in text:
        return misnamed_format(format)
    scheme, missing = _SCHEME.search(text), _FILE_SYSTEM.search(text)
    if scheme is not None or missing is not None:
        what = f"{scheme[1]}://" if scheme else str(missing and missing[1].rpartition(".")[2])
        return AnalysisError(
            f"Spark has no file system for this path ({what}). Give connect() a SparkSession with "
            "the package of one (for Amazon S3 hadoop-aws, with s3a:// in the path), or give a "
            "path of this machine."
        )
    cause = _CAUSE.search(text)
    return AnalysisError(f"Format {format} cannot be read: {cause[1] if cause else text[:200]}")


_SCHEME = re.compile(r'No FileSystem for scheme "([^"]+)"')
_FILE_SYSTEM = re.compile(r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found")
_CAUSE = re.compile(r"^: [\w.$]+: (.{0,300})", re.MULTILINE)


def misnamed_format(name: str) -> AnalysisError:
    if name.lower() in FORMATS:
        return AnalysisError(f"Format {name} needs a package that this Spark does not have.")
    meant = closest(name, FORMATS)
    question = f" Did you mean {meant}?" if meant else ""
    return AnalysisError(f"There is no format {name}.{question}")


def _plain(value: Any) -> str:
    """A parameter of a message as users know it."""
    text = re.sub(r'["`]', "", str(value))
    for known, words in WORDS.items():
        if known in text:
            return words
    return text.strip("[]")


def _first_sentence(error: Any) -> str:
    message = str(error.getMessage() if hasattr(error, "getMessage") else error)
    first = message.split("SQLSTATE")[0].split("\n")[0].strip()
    if first.startswith("[") and "]" in first:
        first = first[first.index("]") + 1 :].strip()
    return re.sub(r'^Cannot resolve ".*" due to data type mismatch: (.)', _upper, first)


def _upper(found: re.Match[str]) -> str:
    return found.group(1).upper()
