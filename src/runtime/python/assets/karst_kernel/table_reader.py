"""Makes a table or an array from its description and raw bytes. Runs no code that they contain."""

import base64
import datetime
import decimal
import fractions
import uuid

from .cannot_cross import CannotCross
from .table_writer import DTYPE, LISTS, MASKED, MAX_DEPTH, ZONE


class TableReader:
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
