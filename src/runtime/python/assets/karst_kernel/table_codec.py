"""Encodes tables and arrays as plain data: a JSON description and raw bytes. Decoding runs no code, so a kernel can
safely read what another kernel has written."""

import base64
import datetime
import decimal
import fractions
import json
import re
import sys
import uuid

from .values import CannotCross

MAGIC = b"karst-table-1\n"
DTYPE = re.compile(r"[<>|][biufc]\d{1,2}|[<>][mM]8\[\d{0,6}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]")
ZONE = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")
MASKED = {f"{kind}{bits}" for kind in ("Int", "UInt", "Float") for bits in (8, 16, 32, 64)} | {"boolean"}
MAX_DEPTH = 100


def is_plain_array(value):
    """Returns True for a numpy array of numbers, booleans or times."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and DTYPE.fullmatch(value.dtype.str) is not None


def is_extension_array(value):
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.api.extensions.ExtensionArray)


def dump(value):
    """Encodes a DataFrame, Series, Index or array as bytes. Raises `CannotCross` for a value that is not data."""
    writer = _Writer()
    head = {"value": writer.table(value), "sizes": [len(data) for data in writer.buffers]}
    text = json.dumps(head, allow_nan=False).encode()
    return b"".join([MAGIC, len(text).to_bytes(8, "little"), text, *writer.buffers])


def load(data):
    """Decodes the bytes that `dump` made. Raises `CannotCross` for any others."""
    try:
        return _read(memoryview(data))
    except CannotCross:
        raise
    except Exception as error:
        raise CannotCross(f"what the other kernel wrote is not a table: {error}") from None


def _read(data):
    start = len(MAGIC) + 8
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise CannotCross("what the other kernel wrote is not a table")
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    head = json.loads(bytes(data[start:end]))
    buffers = []
    for size in head["sizes"]:
        buffers.append(data[end : end + size])
        end += size
    return _Reader(buffers).table(head["value"])


class _Writer:
    def __init__(self):
        import numpy
        import pandas

        self.numpy = numpy
        self.pandas = pandas
        self.buffers = []

    def table(self, value):
        pandas = self.pandas
        if isinstance(value, pandas.DataFrame):
            data = [self.column(value.iloc[:, at], value.columns[at]) for at in range(value.shape[1])]
            return {"k": "frame", "index": self.index(value.index), "columns": self.index(value.columns), "data": data}
        if isinstance(value, pandas.Series):
            name = self.scalar(value.name)
            return {"k": "series", "index": self.index(value.index), "data": self.column(value, value.name), "name": name}
        if isinstance(value, pandas.Index):
            return self.index(value)
        if is_plain_array(value):
            return self.plain(value)
        if is_extension_array(value):
            return {"k": "values", "of": self.array(pandas.Series(value))}
        raise CannotCross(f"it is an instance of {type(value).__qualname__}, which is no table")

    def column(self, series, name):
        try:
            return self.array(series)
        except CannotCross as error:
            raise error.within(f"[{name!r}]") from None

    def raw(self, array):
        if not DTYPE.fullmatch(array.dtype.str):
            raise CannotCross(f"it holds an array of type {array.dtype}, which is not data")
        self.buffers.append(self.numpy.ascontiguousarray(array).tobytes())
        return {"d": array.dtype.str, "i": len(self.buffers) - 1}

    def plain(self, array):
        return {"k": "plain", "shape": list(array.shape), **self.raw(array)}

    def array(self, series):
        pandas, dtype = self.pandas, series.dtype
        if isinstance(dtype, self.numpy.dtype):
            if dtype.kind == "O":
                return {"k": "objects", "v": self.objects(series.to_numpy().tolist())}
            return {"k": "raw", **self.raw(series.to_numpy())}
        if isinstance(dtype, pandas.DatetimeTZDtype):
            local = series.dt.tz_convert("UTC").dt.tz_localize(None)
            return {"k": "zoned", "zone": _zone(dtype.tz), **self.raw(local.to_numpy())}
        values = series.array
        if isinstance(dtype, pandas.CategoricalDtype):
            categories = self.index(values.categories)
            return {"k": "category", "ordered": bool(values.ordered), "of": categories, **self.raw(values.codes)}
        if isinstance(dtype, pandas.PeriodDtype):
            return {"k": "period", "freq": dtype.freq.freqstr, **self.raw(values.asi8)}
        if isinstance(dtype, pandas.IntervalDtype):
            ends = {"left": self.index(values.left), "right": self.index(values.right)}
            return {"k": "interval", "closed": values.closed, **ends}
        if isinstance(dtype, pandas.SparseDtype):
            dense = pandas.Series(values.to_dense())
            return {"k": "sparse", "fill": self.scalar(values.fill_value), "of": self.array(dense)}
        if dtype.name in MASKED:
            return {"k": "masked", "name": dtype.name, "mask": self.raw(values._mask), **self.raw(values._data)}
        if isinstance(dtype, pandas.StringDtype):
            texts = [value if isinstance(value, str) else None for value in values]
            return {"k": "string", "name": "str" if dtype.name == "str" else "string", "v": texts}
        raise CannotCross(f"it is of type {dtype}; convert it with .astype() first")

    def objects(self, values):
        if all(type(value) is str or value is None for value in values):
            return values
        return [self.scalar(value) for value in values]

    def index(self, index):
        pandas = self.pandas
        if isinstance(index, pandas.MultiIndex):
            levels = [self.index(level) for level in index.levels]
            codes = [self.raw(self.numpy.asarray(code)) for code in index.codes]
            return {"k": "multi", "levels": levels, "codes": codes, "names": [self.scalar(name) for name in index.names]}
        name = self.scalar(index.name)
        if isinstance(index, pandas.RangeIndex):
            return {"k": "range", "name": name, "of": [index.start, index.stop, index.step]}
        freq = getattr(index, "freqstr", None) if index.dtype.kind in "mM" else None
        return {"k": "index", "name": name, "freq": freq, "of": self.array(index.to_series(index=range(len(index))))}

    def scalar(self, value, depth=0):
        if depth > MAX_DEPTH:
            raise CannotCross(f"it is nested deeper than {MAX_DEPTH} levels")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -(2**53) < value < 2**53 else ["int", str(value)]
        if kind is float:
            return value if value - value == 0 else ["float", repr(value)]
        if kind in LISTS:
            return [kind.__name__, *(self.scalar(each, depth + 1) for each in value)]
        if kind is dict:
            pairs = ([self.scalar(key, depth + 1), self.scalar(each, depth + 1)] for key, each in value.items())
            return ["dict", *pairs]
        if kind is bytes:
            return ["bytes", base64.b64encode(value).decode()]
        if kind is complex:
            return ["complex", repr(value)]
        if kind is decimal.Decimal or kind is fractions.Fraction or kind is uuid.UUID:
            return [kind.__name__, str(value)]
        if kind is datetime.timedelta:
            return ["timedelta", value.days, value.seconds, value.microseconds]
        if kind is datetime.date or (kind is datetime.time and value.tzinfo is None):
            return [kind.__name__, value.isoformat()]
        if kind is datetime.datetime:
            zone = None if value.tzinfo is None else _zone(value.tzinfo)
            return ["datetime", value.replace(tzinfo=None).isoformat(), zone, value.fold]
        return self.package_scalar(value)

    def package_scalar(self, value):
        pandas, numpy = self.pandas, self.numpy
        if value is pandas.NaT or value is pandas.NA:
            return ["NaT" if value is pandas.NaT else "NA"]
        if type(value) is pandas.Timestamp:
            zone = None if value.tzinfo is None else _zone(value.tzinfo)
            return ["Timestamp", *self.bytes_of(value.to_datetime64()), zone]
        if type(value) is pandas.Timedelta:
            return ["Timedelta", *self.bytes_of(value.to_timedelta64())]
        if isinstance(value, numpy.generic) and DTYPE.fullmatch(value.dtype.str):
            return ["scalar", *self.bytes_of(value)]
        if is_plain_array(value):
            return ["plain", self.plain(value)]
        raise CannotCross(f"it holds an instance of {type(value).__qualname__}, which is not data")

    def bytes_of(self, scalar):
        return [scalar.dtype.str, base64.b64encode(scalar.tobytes()).decode()]


LISTS = (list, tuple, set, frozenset)


def _zone(zone):
    """Returns the name of a time zone, or its offset from UTC in seconds."""
    if zone is datetime.timezone.utc:
        return "UTC"
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if isinstance(name, str) and ZONE.fullmatch(name):
        return ["zoneinfo", name] if hasattr(zone, "key") else name
    offset = zone.utcoffset(None)
    if offset is None:
        raise CannotCross(f"it holds times of {zone!r}, a zone without a name")
    return offset.total_seconds()


class _Reader:
    def __init__(self, buffers):
        import numpy
        import pandas

        self.numpy = numpy
        self.pandas = pandas
        self.buffers = buffers

    def table(self, head):
        pandas, kind = self.pandas, head["k"]
        if kind == "plain":
            return self.plain(head)
        if kind == "values":
            return pandas.Series(self.array(head["of"])).array
        if kind not in ("frame", "series"):
            return self.index(head)
        index = self.index(head["index"])
        if kind == "series":
            return pandas.Series(self.array(head["data"]), index=index, name=self.scalar(head["name"]), copy=False)
        data = {at: self.array(column) for at, column in enumerate(head["data"])}
        frame = pandas.DataFrame(data, index=index, columns=range(len(data)), copy=False)
        frame.columns = self.index(head["columns"])
        return frame

    def raw(self, head):
        if not DTYPE.fullmatch(head["d"]):
            raise CannotCross(f"the table holds data of type {head['d']!r}, which cannot go to another kernel")
        return self.numpy.frombuffer(self.buffers[head["i"]], dtype=head["d"]).copy()

    def plain(self, head):
        return self.raw(head).reshape([int(size) for size in head["shape"]])

    def array(self, head):
        pandas, kind = self.pandas, head["k"]
        if kind == "raw":
            return self.raw(head)
        if kind == "objects":
            values = self.numpy.empty(len(head["v"]), dtype=object)
            for at, value in enumerate(head["v"]):
                values[at] = self.scalar(value) if isinstance(value, list) else value
            return values
        if kind == "zoned":
            return pandas.DatetimeIndex(self.raw(head)).tz_localize("UTC").tz_convert(self.zone(head["zone"])).array
        if kind == "category":
            return pandas.Categorical.from_codes(self.raw(head), self.index(head["of"]), ordered=head["ordered"])
        if kind == "period":
            return pandas.arrays.PeriodArray(self.raw(head), dtype=pandas.PeriodDtype(str(head["freq"])))
        if kind == "interval":
            left, right = self.index(head["left"]), self.index(head["right"])
            return pandas.arrays.IntervalArray.from_arrays(left, right, closed=str(head["closed"]))
        if kind == "sparse":
            return pandas.arrays.SparseArray(self.array(head["of"]), fill_value=self.scalar(head["fill"]))
        if kind == "masked":
            return self.masked(head)
        if kind == "string":
            return pandas.array([None if each is None else str(each) for each in head["v"]], dtype=self.text_type(head))
        raise CannotCross(f"the table holds a column of the kind {kind!r}, which is not known")

    def text_type(self, head):
        return "str" if head["name"] == "str" else "string"

    def masked(self, head):
        arrays, name = self.pandas.arrays, head["name"]
        if name not in MASKED:
            raise CannotCross(f"the table holds a column of the type {name!r}, which is not known")
        made = arrays.BooleanArray if name == "boolean" else arrays.FloatingArray if name[0] == "F" else arrays.IntegerArray
        return made(self.raw(head), self.raw(head["mask"]))

    def index(self, head):
        pandas, kind = self.pandas, head["k"]
        if kind == "multi":
            levels = [self.index(level) for level in head["levels"]]
            names = [self.scalar(name) for name in head["names"]]
            return pandas.MultiIndex(levels, [self.raw(code) for code in head["codes"]], names=names)
        name = self.scalar(head["name"])
        if kind == "range":
            return pandas.RangeIndex(*(int(each) for each in head["of"]), name=name)
        values = self.array(head["of"])
        objects = {"dtype": object} if head["of"]["k"] == "objects" else {}
        index = pandas.Index(values, name=name, tupleize_cols=False, **objects)
        if isinstance(head["freq"], str):
            index = type(index)(index, freq=head["freq"], name=name)
        return index

    def zone(self, zone):
        if isinstance(zone, (int, float)):
            return datetime.timezone(datetime.timedelta(seconds=zone))
        name = zone[1] if isinstance(zone, list) else zone
        if not isinstance(name, str) or not ZONE.fullmatch(name):
            raise CannotCross(f"the table holds times of the zone {name!r}, which is not known")
        if isinstance(zone, list):
            import zoneinfo

            return zoneinfo.ZoneInfo(name)
        return self.pandas.Timestamp(0, tz=name).tz if name != "UTC" else datetime.timezone.utc

    def scalar(self, value, depth=0):
        if depth > MAX_DEPTH:
            raise CannotCross(f"the table holds values nested deeper than {MAX_DEPTH} levels")
        if not isinstance(value, list):
            return value
        kind, *rest = value
        if kind in SEQUENCES:
            return SEQUENCES[kind](self.scalar(each, depth + 1) for each in rest)
        if kind == "dict":
            return {self.scalar(key, depth + 1): self.scalar(each, depth + 1) for key, each in rest}
        if kind in TEXTS:
            return TEXTS[kind](*rest)
        if kind == "datetime":
            moment, zone, fold = rest
            tz = None if zone is None else self.zone(zone)
            made = datetime.datetime.fromisoformat(moment).replace(fold=int(fold))
            # A pytz zone chooses the offset in localize().
            return tz.localize(made, is_dst=not fold) if hasattr(tz, "localize") else made.replace(tzinfo=tz)
        return self.package_scalar(kind, rest)

    def package_scalar(self, kind, rest):
        pandas = self.pandas
        if kind == "NaT" or kind == "NA":
            return pandas.NaT if kind == "NaT" else pandas.NA
        if kind == "plain":
            return self.plain(rest[0])
        if kind in ("Timestamp", "Timedelta", "scalar") and DTYPE.fullmatch(rest[0]):
            found = self.numpy.frombuffer(base64.b64decode(rest[1]), dtype=rest[0])[0]
            if kind == "scalar":
                return found
            if kind == "Timedelta":
                return pandas.Timedelta(found)
            made = pandas.Timestamp(found)
            return made if rest[2] is None else made.tz_localize("UTC").tz_convert(self.zone(rest[2]))
        raise CannotCross(f"the table holds a value of the kind {kind!r}, which is not known")


SEQUENCES = {kind.__name__: kind for kind in LISTS}

TEXTS = {
    "int": int,
    "float": float,
    "complex": complex,
    "bytes": base64.b64decode,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": datetime.timedelta,
}
