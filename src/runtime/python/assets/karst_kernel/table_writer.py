"""Describes a table or an array as plain data: a JSON description and raw bytes."""

import base64
import datetime
import decimal
import fractions
import re
import sys
import uuid

from .cannot_cross import CannotCross

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


class TableWriter:
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
