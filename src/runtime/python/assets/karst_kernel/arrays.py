"""Encodes and decodes numpy arrays and pandas tables, if these packages are loaded. Numbers cross as raw bytes, one
buffer for each column."""

import datetime
import json
import math
import sys

from . import arrow
from .cannot_cross import CannotCross

UNKNOWN = object()
SAFE = 2**53 - 1
# The largest number of milliseconds that pandas can store as nanoseconds.
MAX_PANDAS_MS = 9_200_000_000_000
# Limits of a table that the host turns into records.
MAX_CELLS = 2**25
MAX_TEXT_BYTES = 2**26


def to_array(kind, data):
    numpy = _numpy("A typed array")
    if kind == "int":
        return numpy.frombuffer(data, dtype="float64").astype("int64")
    return numpy.frombuffer(data, dtype=kind).copy()


def to_frame(columns, length, buffers):
    try:
        import pandas
    except ImportError:
        raise ImportError("A table needs pandas: pip install pandas, or apt install python3-pandas.") from None
    frame = {column["name"]: _to_column(column, buffers, pandas) for column in columns}
    return pandas.DataFrame(frame, copy=False) if frame else pandas.DataFrame(index=range(length))


def _to_column(column, buffers, pandas):
    numpy = sys.modules["numpy"]
    kind = column["kind"]
    if kind == "values":
        return _objects(column["v"], numpy)
    data = buffers[column["i"]]
    if kind == "text":
        return _objects(json.loads(bytes(data)), numpy)
    if kind == "bool":
        return numpy.frombuffer(data, dtype="uint8").astype(bool)
    if kind == "int":
        return numpy.frombuffer(data, dtype="float64").astype("int64")
    if kind == "date":
        return _dates(numpy.frombuffer(data, dtype="float64"), numpy, pandas)
    return numpy.frombuffer(data, dtype=kind).copy()


def _dates(milliseconds, numpy, pandas):
    is_missing_date = numpy.isnan(milliseconds)
    whole = numpy.where(is_missing_date, 0, milliseconds).astype("int64")
    if len(whole) and numpy.abs(whole).max() > MAX_PANDAS_MS:
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        dates = [epoch + datetime.timedelta(milliseconds=int(each)) for each in whole]
        return _objects([None if missing else date for date, missing in zip(dates, is_missing_date)], numpy)
    times = whole.astype("datetime64[ms]").astype("datetime64[ns]")
    times[is_missing_date] = numpy.datetime64("NaT")
    return pandas.DatetimeIndex(times, tz="UTC")


def _objects(values, numpy):
    # Fill an empty array: numpy.array() would turn nested lists into dimensions.
    column = numpy.empty(len(values), dtype=object)
    column[:] = values
    return column


def replace_objects(frame, replaced):
    """Replaces the Python objects in a table by `replaced(object)`."""
    for at, dtype in enumerate(frame.dtypes):
        if dtype == object:
            values = [replaced(value) for value in frame.iloc[:, at]]
            frame.isetitem(at, _objects(values, sys.modules["numpy"]))


def is_missing(value):
    """Returns True for pandas.NaT and pandas.NA."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NaT or value is getattr(pandas, "NA", UNKNOWN))


def is_array(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_frame(value):
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def encode(value, encoding):
    """Encodes a numpy, pandas or Arrow value for the host. Returns UNKNOWN for any other value."""
    if is_missing(value):
        return None
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ma.MaskedArray):
            # Masked elements are missing: tolist() makes them None.
            return encoding._encode(value.tolist(), 0)
        if isinstance(value, numpy.ndarray):
            return _array(value, encoding, numpy)
        if isinstance(value, numpy.generic):
            return _scalar(value, encoding, numpy)
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if isinstance(value, pandas.DataFrame):
            return _frame(value, encoding, pandas)
        if isinstance(value, pandas.Series):
            return _series(value, encoding, pandas)
        if isinstance(value, pandas.Index):
            return _one_dimension(value.to_numpy(), encoding, sys.modules["numpy"])
    return arrow.encode(value, encoding, encode) if arrow.is_arrow(value) else UNKNOWN


def _frame(frame, encoding, pandas):
    plain = isinstance(frame.index, pandas.RangeIndex) and frame.index.start == 0 and frame.index.step == 1
    table = frame if plain else frame.reset_index()
    names = [".".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in table.columns]
    duplicate = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if duplicate is not None:
        raise CannotCross(f"the table has two columns named {duplicate!r}; rename one")
    if len(table) * max(1, len(names)) > MAX_CELLS:
        raise CannotCross(f"a table of {len(table)} rows and {len(names)} columns is too large; retrieve a part of it")
    columns = []
    for at, name in enumerate(names):
        try:
            columns.append({"name": name, **_column(table.iloc[:, at], encoding, pandas)})
        except TypeError as error:
            raise error.within(f"[{name!r}]") if hasattr(error, "within") else error
    if sum(len(encoding.buffers[each["i"]]) for each in columns if each["kind"] == "text") > MAX_TEXT_BYTES:
        raise CannotCross("the texts in the table take more than 64 MB; retrieve a part of it")
    return encoding.tagged("t", n=len(table), c=columns)


def _column(column, encoding, pandas):
    numpy = sys.modules["numpy"]
    if arrow.is_column(column, pandas):
        column = arrow.to_pandas_column(column, pandas)
    dtype = column.dtype
    if isinstance(dtype, numpy.dtype) and dtype.kind in "fiu":
        values = column.to_numpy()
        if dtype.kind == "f":
            return {"kind": "float64", "i": encoding.add(values.astype("<f8").tobytes())}
        if _is_safe(values):
            return {"kind": "float64", "i": encoding.add(values.astype("<f8").tobytes())}
    if isinstance(dtype, numpy.dtype) and dtype.kind == "b":
        return {"kind": "bool", "i": encoding.add(column.to_numpy().astype("uint8").tobytes())}
    if pandas.api.types.is_datetime64_any_dtype(dtype):
        return {"kind": "date", "i": encoding.add(_milliseconds(column).tobytes())}
    values = column.astype(object).tolist()
    if all(type(value) is str or value is None for value in values):
        return {"kind": "text", "i": encoding.add(json.dumps(values).encode())}
    missing = pandas.isna(column).tolist()
    return {"kind": "values", "v": encoding.each([None if gone else value for value, gone in zip(values, missing)])}


def _milliseconds(column):
    """Returns dates as milliseconds in floating-point numbers; a missing date is NaN."""
    numpy = sys.modules["numpy"]
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    times = column.to_numpy()
    milliseconds = times.astype("datetime64[ms]").astype("<i8").astype("<f8")
    milliseconds[numpy.isnat(times)] = math.nan
    return milliseconds


def _series(series, encoding, pandas):
    if arrow.is_column(series, pandas):
        series = arrow.to_pandas_column(series, pandas)
    values = _one_dimension(series.astype(object).to_numpy(), encoding, sys.modules["numpy"])
    if series.dtype.kind in "fiu" and not series.hasnans:
        values = _one_dimension(series.to_numpy(), encoding, sys.modules["numpy"])
        if isinstance(series.index, pandas.RangeIndex):
            return values
        values = encoding.each(series.tolist())
    if isinstance(series.index, pandas.RangeIndex):
        return values
    return encoding.tagged("m", e=[list(entry) for entry in zip(encoding.each(series.index.tolist()), values)])


def _array(array, encoding, numpy):
    if array.ndim == 0:
        return encoding._encode(array.item(), 0)
    if array.ndim == 1:
        return _one_dimension(array, encoding, numpy)
    return [_array(row, encoding, numpy) for row in array]


def _one_dimension(array, encoding, numpy):
    kind = array.dtype.kind
    if kind in "fiu":
        # JavaScript has no float16 and no float128.
        wanted = "<f4" if array.dtype == numpy.float16 else "<f8" if kind == "f" and array.dtype.itemsize > 8 else None
        if kind != "f" and array.dtype.itemsize == 8 and _is_safe(array):
            # The host reads them as ordinary numbers and sends them back as 64-bit integers.
            return encoding.tagged("a", t="int", i=encoding.add(array.astype("<f8").tobytes()))
        data = numpy.ascontiguousarray(array, dtype=wanted or array.dtype.newbyteorder("<"))
        return encoding.tagged("a", t=data.dtype.name, i=encoding.add(data.tobytes()))
    if kind == "M":
        return [_date(value, encoding, numpy) for value in array]
    if kind == "O":
        return encoding.each([None if is_missing(value) else value for value in array.tolist()])
    return encoding.each(array.tolist())


def _is_safe(integers):
    """Returns True if JavaScript numbers represent all of the integers exactly."""
    return len(integers) == 0 or (int(integers.max()) <= SAFE and int(integers.min()) >= -SAFE)


def _scalar(value, encoding, numpy):
    if isinstance(value, numpy.datetime64):
        return _date(value, encoding, numpy)
    if isinstance(value, numpy.longdouble):
        return encoding._encode(float(value), 0)
    return encoding._encode(value.item(), 0)


def _date(value, encoding, numpy):
    if numpy.isnat(value):
        return None
    return encoding.tagged("d", v=int(value.astype("datetime64[ms]").astype("int64")))


def _numpy(what):
    try:
        import numpy
    except ImportError:
        raise ImportError(f"{what} needs numpy: pip install numpy, or apt install python3-numpy.") from None
    return numpy
