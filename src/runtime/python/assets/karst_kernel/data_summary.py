"""Summarises tables for their declarations: shape, columns, types and null counts. The same table always has the same
summary: large tables are counted by their first rows, and the text says so. Nothing depends on the clock."""

import collections
import itertools
import re
import sys

from .declared_text import cut, one_line
from .show import show
from .type_names import SAMPLE, type_text, union_text

# How many cells are counted: what a slow machine counts in 20 ms.
MAX_OBJECT_CELLS = 50_000
MAX_NUMBER_CELLS = 500_000
MAX_COLUMNS = 64
MAX_KEYS = 20
# A dict with more keys is data and no record.
MAX_RECORD_KEYS = 1000
MAX_COLUMN_NAME = 100
MAX_COLUMN_LINE = 200
MAX_SAMPLE_LINE = 500
MAX_RECORD = 1000


class Summary:
    """The type of a value, its shape in words, and a line for each column."""

    def __init__(self, kind, shape, lines=()):
        self.type = kind
        self.shape = shape
        self.lines = lines


def summary(value):
    """Returns None for a value that is no table, array or record."""
    if _is_pandas(value, "DataFrame"):
        return _frame_summary(value)
    if _is_pandas(value, "Series"):
        rows = min(len(value), MAX_OBJECT_CELLS)
        basis = "" if rows == len(value) else f" (of the first {rows:,})"
        part = value.iloc[:rows]
        column = _column_text(part, int(part.isna().sum()))
        return Summary("pandas.Series", f"{_count(len(value), 'row')}: {column}{basis}")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return Summary(type_text(value), f"{' x '.join(f'{size:,}' for size in value.shape)} {one_line(str(value.dtype))}")
    if type(value) in (list, tuple) and _are_records(value):
        return _records_summary(value)
    if type(value) is dict and _is_record(value) and len({type(member) for member in value.values()}) > 1:
        return Summary("dict", cut(_record_text([value], 0), MAX_RECORD))
    return None


def sample_lines(name, value, count):
    """Returns the first rows of a table or list, one line each."""
    if not count:
        return []
    if _is_pandas(value, "DataFrame"):
        columns = [value.iloc[:count, at].tolist() for at in range(min(value.shape[1], MAX_COLUMNS))]
        rows = [dict(zip(map(str, value.columns), row)) for row in zip(*columns)]
    elif _is_pandas(value, "Series") or type(value).__name__ == "ndarray":
        rows = value[:count].tolist()
    elif isinstance(value, (list, tuple)):
        rows = value[:count]
    else:
        return []
    place = ".iloc" if _is_pandas(value, "DataFrame", "Series") else ""
    return [f"{name}{place}[{at}]: {_shown_line(row)}" for at, row in enumerate(rows)]


def _shown_line(value):
    lines = [line.strip() for line in show(value, MAX_SAMPLE_LINE)[0].split("\n")]
    text = re.sub(r"(?<=[\[({]) | (?=[\])}]$)", "", " ".join(lines)) if len(lines) > 1 else lines[0]
    return cut(one_line(text), MAX_SAMPLE_LINE)


def _is_pandas(value, *names):
    pandas = sys.modules.get("pandas")
    return pandas is not None and any(isinstance(value, getattr(pandas, name, ())) for name in names)


def _frame_summary(frame):
    total, width = frame.shape
    rows = _counted_rows(frame)
    indexes = [frame.index.get_level_values(level) for level in range(frame.index.nlevels)]
    is_numbered = type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
    lines = [] if is_numbered else [f"  index {_column_name(each.name)}: {one_line(str(each.dtype))}" for each in indexes]
    part = frame.iloc[:rows, :MAX_COLUMNS]
    nulls = part.isna().sum().tolist()
    for at in range(part.shape[1]):
        lines.append(_column_line(frame.columns[at], _column_text(part.iloc[:, at], int(nulls[at]))))
    lines += [f"  … {_count(width - MAX_COLUMNS, 'more column')}"] if width > MAX_COLUMNS else []
    return Summary("pandas.DataFrame", _shape_text(total, rows, width), lines)


def _column_line(name, text):
    return f"  {_column_name(name)}: {cut(one_line(text), MAX_COLUMN_LINE)}"


def _counted_rows(frame):
    objects = sum(1 for dtype in frame.dtypes[:MAX_COLUMNS] if _is_object(dtype))
    numbers = min(frame.shape[1], MAX_COLUMNS) - objects
    limits = [MAX_OBJECT_CELLS // objects if objects else None, MAX_NUMBER_CELLS // numbers if numbers else None]
    return min([len(frame), *(limit for limit in limits if limit is not None)])


def _is_object(dtype):
    # Strings are Python objects too, whatever their dtype.
    return dtype.kind == "O"


def _column_text(column, nulls):
    """`float64, 119 null`, or `str, 5 int` for a column of Python objects that are mostly str."""
    dtype = one_line(str(column.dtype))
    if nulls and nulls == len(column):
        return f"{dtype}, all null"
    note = f", {nulls:,} null" if nulls else ""
    if dtype == "category":
        return f"category of {_count(len(column.cat.categories), 'value')}{note}"
    return (_objects_text(column.dropna().tolist()) if dtype == "object" and len(column) else dtype) + note


def _objects_text(values):
    """The most frequent type of the values, and how many have another one."""
    kinds = collections.Counter(map(type, values))
    # Sorted by name too, because types of one count have no order.
    ranked = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0].__qualname__))
    (most, _), *others = ranked
    names = [f"{count:,} {_values_type(values, kind)}" for kind, count in others[:3]]
    rest = sum(count for _, count in others[3:])
    return ", ".join([_values_type(values, most), *names, *([f"{rest:,} of other types"] if rest else [])])


def _values_type(values, kind):
    some = list(itertools.islice((value for value in values if type(value) is kind), SAMPLE))
    if kind is dict and all(map(_is_record, some)):
        return _record_text(some, 1)
    if kind in (list, tuple) and all(_are_records(value) for value in some if value):
        inner = [member for value in some for member in itertools.islice(value, SAMPLE)]
        return f"{kind.__name__}[{_record_text(inner, 1)}]" if inner else kind.__name__
    return union_text([type_text(value) for value in some])


def _are_records(values):
    """Returns True for a list of dicts that share most of their keys."""
    some = list(itertools.islice(values, SAMPLE))
    if not some or not all(type(value) is dict and value for value in some):
        return False
    if len(some) == 1:
        return _is_record(some[0])
    keys = [set(value) for value in some]
    everywhere, somewhere = set.intersection(*keys), set.union(*keys)
    return len(somewhere) <= MAX_RECORD_KEYS and len(everywhere) * 2 >= len(somewhere) and all(type(key) is str for key in somewhere)


def _is_record(value):
    """Returns True for a dict whose keys are names of fields and no data."""
    return 0 < len(value) <= MAX_KEYS and all(type(key) is str and key.isidentifier() for key in value)


def _record_text(records, depth):
    """`{"street": str, "zip"?: str}`; a key that some of the records lack has a question mark."""
    keys = dict.fromkeys(key for record in records for key in record)
    if len(keys) > MAX_COLUMNS or depth > 3:
        return "dict"
    parts = []
    for key in keys:
        values = [record[key] for record in records if key in record]
        dicts = [value for value in values if type(value) is dict and _is_record(value)]
        others = [value for value in values if type(value) is not dict or not _is_record(value)]
        kinds = ([_record_text(dicts, depth + 1)] if dicts else []) + [type_text(value, None, 1) for value in others]
        mark = "?" if len(values) < len(records) else ""
        parts.append(f"{_column_name(key)}{mark}: {union_text(kinds)}")
    return f"{{{', '.join(parts)}}}"


def _records_summary(records):
    some = list(itertools.islice(records, SAMPLE))
    width = len({key for record in some for key in record})
    rows = min(len(records), MAX_OBJECT_CELLS // width)
    counted = [record for record in itertools.islice(records, rows) if type(record) is dict]
    names = dict.fromkeys(key for record in some for key in record)
    for record in counted:
        if not names.keys() >= record.keys():
            names.update(dict.fromkeys(key for key in record if type(key) is str))
    shown = list(itertools.islice(names, MAX_COLUMNS))
    lines = [_column_line(name, _records_column(name, counted)) for name in shown]
    lines += [f"  … {_count(len(names) - len(shown), 'more column')}"] if len(names) > len(shown) else []
    lines += [f"  {_count(rows - len(counted), 'item')} of another type"] if rows > len(counted) else []
    return Summary(f"{type(records).__name__}[dict]", _shape_text(len(records), rows), lines)


def _records_column(name, records):
    values = [record[name] for record in records if name in record]
    present = [value for value in values if value is not None]
    nulls, missing = len(values) - len(present), len(records) - len(values)
    notes = [f"{nulls:,} null"] if nulls else []
    notes += [f"{missing:,} missing"] if missing else []
    return ", ".join([_objects_text(present) if present else "None", *notes])


def _shape_text(total, rows, width=None):
    columns = "" if width is None else f" x {_count(width, 'column')}"
    basis = "" if rows == total else f" (types and nulls of the first {rows:,})"
    return f"{_count(total, 'row')}{columns}{basis}:"


def _column_name(name):
    if isinstance(name, str):
        return repr(str(cut(name, MAX_COLUMN_NAME)))
    return cut(one_line(repr(name)), MAX_COLUMN_NAME)


def _count(count, noun):
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
