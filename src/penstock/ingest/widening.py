"""Which types widen to which: those that hold every value of the other as it is."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as t

_WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
WIDER = (
    "TINYINT widens to SMALLINT, INT and BIGINT, SMALLINT to INT and BIGINT, INT to BIGINT, FLOAT "
    "to DOUBLE, and DECIMAL(p, s) to a DECIMAL with as many digits or more on both sides of the "
    "point."
)


def is_wider(before: pa.DataType, after: pa.DataType) -> bool:
    """Whether every value of one type is a value of the other, too."""
    if before in _WHOLE and after in _WHOLE:
        return _WHOLE.index(before) < _WHOLE.index(after)
    if t.is_float32(before):
        return bool(t.is_float64(after))
    if t.is_decimal(before) and t.is_decimal(after):
        whole = before.precision - before.scale <= after.precision - after.scale
        return bool(whole and before.scale <= after.scale and before != after)
    return False
