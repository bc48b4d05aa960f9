"""The XML form of a punctuation, in the paper's `punct:` namespace.

    <punct:tempdata xmlns:punct="urn:penstock:punct">
      <sid>*</sid><hour>[17,20)</hour><min>*</min><currtmp>*</currtmp>
    </punct:tempdata>

The element is named like the records it is about, so that whoever does not know punctuations never
takes one for a record. Patterns are in the text form. A column whose name is no XML name is
`<punct:column name="...">`. Reading, a column left out is the wildcard, and the namespace need not
be declared, as it is not in the paper. Document types, and so entities, are refused.
"""

from __future__ import annotations

import re
from typing import NoReturn
from xml.etree import ElementTree

import pyarrow as pa

from penstock.errors import PlanError, SqlContext
from penstock.punctuation import text as text_form
from penstock.punctuation.pattern import Constant, Pattern
from penstock.punctuation.punctuation import Punctuation

NAMESPACE = "urn:penstock:punct"

_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_COLUMN = f"{{{NAMESPACE}}}column"
_WRAPPER = f'<w xmlns:punct="{NAMESPACE}">'


def write(punctuation: Punctuation, name: str = "record") -> str:
    """The element `punct:name`."""
    if not _NAME.fullmatch(name):
        raise PlanError(f"found {name!r}, expected a name for an XML element")
    root = ElementTree.Element(f"punct:{name}", {"xmlns:punct": NAMESPACE})
    for field, pattern in zip(punctuation.schema, punctuation.patterns, strict=True):
        if _NAME.fullmatch(field.name):
            child = ElementTree.SubElement(root, field.name)
        else:
            quoted = text_form.write_pattern(Constant(field.name), pa.string())
            child = ElementTree.SubElement(root, "punct:column", {"name": quoted})
        child.text = text_form.write_pattern(pattern, field.type)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def parse(text: str, schema: pa.Schema, name: str | None = None) -> Punctuation:
    """The punctuation, where `name` is given of that element only."""
    if (place := text.find("<!DOCTYPE")) >= 0:
        _fail(text, place, "found a document type, expected just an element")
    try:
        roots = list(ElementTree.fromstring(f"{_WRAPPER}{text}</w>"))
    except ElementTree.ParseError as error:
        line, offset = error.position
        lines = text.split("\n")
        place = sum(len(one) + 1 for one in lines[: line - 1]) + offset
        _fail(text, min(max(place - (len(_WRAPPER) if line == 1 else 0), 0), len(text)), str(error))
    wanted = f"punct:{name}" if name else "an element in the namespace punct:"
    if len(roots) != 1 or not roots[0].tag.startswith(f"{{{NAMESPACE}}}"):
        _fail(text, 0, f"found {[root.tag for root in roots]}, expected {wanted}")
    if name and roots[0].tag != f"{{{NAMESPACE}}}{name}":
        _fail(text, 0, f"found {roots[0].tag}, expected {wanted}")
    named: dict[str, Pattern] = {}
    for child in roots[0]:
        column = child.tag
        if child.tag == _COLUMN:
            quoted = text_form.parse_pattern(child.get("name", ""), pa.string())
            column = quoted.value if isinstance(quoted, Constant) else child.tag
        if column not in schema.names or column in named:
            again = " a second time" if column in named else ""
            place = max(text.find(f"<{column}"), 0)
            _fail(
                text, place, f"found column {column!r}{again}, expected each of {schema.names} once"
            )
        try:
            named[column] = text_form.parse_pattern(child.text or "", schema.field(column).type)
        except PlanError as error:
            context = error.getQueryContext()[0]
            start = max(text.find(child.text or "", text.find(f"<{column}")), 0)
            start += context.startIndex()
            raise PlanError(
                f"column {column!r}: {error.args[0]}", context=SqlContext(text, start, start + 1)
            ) from None
    return Punctuation.of_mapping(schema, named)


def _fail(text: str, place: int, message: str) -> NoReturn:
    context = SqlContext(text, place, min(place + 1, len(text)))
    raise PlanError(f"not a punctuation in XML: {message}", context=context)
