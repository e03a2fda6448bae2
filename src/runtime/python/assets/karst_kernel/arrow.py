"""Arrow, where pyarrow is there: the host cannot read it, so its values become those of pandas and Python, and cross as such."""

import sys


def is_arrow(value):
    return type(value).__module__.partition(".")[0] == "pyarrow" and (hasattr(value, "to_pylist") or hasattr(value, "as_py"))


def encode(value, encoding, encode):
    """A table or batch crosses as a table, an array as a column of one, a scalar as what it is in Python."""
    if hasattr(value, "as_py"):
        return encoding._encode(value.as_py(), 0)
    try:
        import pandas
    except ImportError:
        return encoding.each(value.to_pylist())
    if hasattr(value, "schema"):
        return encode(value.to_pandas(types_mapper=getattr(pandas, "ArrowDtype", None), integer_object_nulls=True), encoding)
    return encode(_plain(value, None, pandas), encoding)


def is_column(column, pandas):
    """Whether a column of pandas keeps its values in Arrow."""
    dtype = column.dtype
    return isinstance(dtype, getattr(pandas, "ArrowDtype", ())) or getattr(dtype, "storage", None) == "pyarrow"


def plain_column(column, pandas):
    return _plain(column.array.__arrow_array__(), column.index, pandas)


def _plain(data, index, pandas):
    kinds = sys.modules["pyarrow"].types
    # What lies within would be arrays of numpy, and a date far away no date of pandas.
    if kinds.is_nested(data.type) or kinds.is_timestamp(data.type) and _is_far(data):
        return pandas.Series(data.to_pylist(), index=index, dtype=object)
    series = data.to_pandas(integer_object_nulls=True)
    return series if index is None else series.set_axis(index)


def _is_far(data):
    try:
        data.cast("timestamp[ns]")
        return False
    except ValueError:
        return True
