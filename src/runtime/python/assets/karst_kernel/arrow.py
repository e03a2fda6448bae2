"""Encodes Arrow data, if pyarrow is loaded. The host cannot read Arrow, so it becomes pandas and Python values."""

import sys


def is_arrow(value):
    return type(value).__module__.partition(".")[0] == "pyarrow" and (hasattr(value, "to_pylist") or hasattr(value, "as_py"))


def encode(value, encoding, encode):
    """Encodes a table or batch as a table, an array as a Series, and a scalar as its Python value."""
    if hasattr(value, "as_py"):
        return encoding._encode(value.as_py(), 0)
    try:
        import pandas
    except ImportError:
        return encoding.each(value.to_pylist())
    if hasattr(value, "schema"):
        return encode(value.to_pandas(types_mapper=getattr(pandas, "ArrowDtype", None), integer_object_nulls=True), encoding)
    return encode(_to_series(value, None, pandas), encoding)


def is_column(column, pandas):
    """Returns True if a pandas column stores its values in Arrow."""
    dtype = column.dtype
    return isinstance(dtype, getattr(pandas, "ArrowDtype", ())) or getattr(dtype, "storage", None) == "pyarrow"


def to_pandas_column(column, pandas):
    return _to_series(column.array.__arrow_array__(), column.index, pandas)


def _to_series(data, index, pandas):
    kinds = sys.modules["pyarrow"].types
    # to_pandas() would turn nested values into numpy arrays, and fails for dates that pandas cannot represent.
    if kinds.is_nested(data.type) or kinds.is_timestamp(data.type) and _is_outside_pandas_range(data):
        return pandas.Series(data.to_pylist(), index=index, dtype=object)
    series = data.to_pandas(integer_object_nulls=True)
    return series if index is None else series.set_axis(index)


def _is_outside_pandas_range(data):
    try:
        data.cast("timestamp[ns]")
        return False
    except ValueError:
        return True
