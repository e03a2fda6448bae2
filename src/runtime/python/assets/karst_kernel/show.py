"""Shows values as text for the model within a budget of characters: all keys of the upper levels, the first items of
long lists with their count, the beginning and the end of long strings with their length. Runs no code of a value except
its `__repr__`, and not that of lists, dicts, dataclasses and other containers."""

import collections
import dataclasses
import itertools
import re
import types

from .show_layout import Group, Layout, String, Text, count_text, share_fairly

MAX_DEPTH = 10
MAX_KEYS = 200
DEFAULT_BUDGET = 5000


def show(value, budget=DEFAULT_BUDGET):
    """Returns the text of a value, in about `budget` characters, and whether something is left out. Never raises. The
    time depends on the budget, not on the size of the value."""
    try:
        return Layout(budget).node(read(value, budget // 2 + 2), budget)
    except Exception as error:
        return cannot_show(value, error), True


def leaves_out(text):
    """Returns True for a text of a table or array that leaves out rows, columns or items. pandas writes `..` instead of
    `...` for the rows of narrow columns; other libraries write `…`."""
    return _ELLIPSIS.search(text) is not None


_ELLIPSIS = re.compile(r"\.\.\.|…|^ *\.\.(?= |$)", re.MULTILINE)


def is_structured(value):
    """Returns True for a value that `show` shows better than its class does."""
    return type(value) in _SCALARS or _open(value) is not None


def read(value, max_members):
    """Reads level by level, so that upper levels are complete before lower ones begin."""
    root = _node(value, None)
    level = [root] if isinstance(root, _Open) else []
    left = max_members
    for _depth in range(MAX_DEPTH):
        if not level or left <= 0:
            break
        shares = share_fairly([min(opened.limit(left), opened.group.total) for opened in level], left)
        following = []
        for share, opened in zip(shares, level):
            members = list(itertools.islice(opened.members(), share))
            left -= len(members)
            for key, joint, inner in members:
                found = _node(inner, opened)
                is_open = isinstance(found, _Open)
                opened.group.members.append((key, joint, found.group if is_open else found))
                if is_open:
                    following.append(found)
        level = following
    return root.group if isinstance(root, _Open) else root


class _Open:
    """A group whose members are still to be read. `members` returns an iterator of key, joint and value."""

    def __init__(self, group, members, first=None):
        self.group = group
        self.members = members
        self.first = first
        self.value = None
        self.parent = None

    def limit(self, left):
        if self.group.noun != "item":
            return MAX_KEYS
        # The rest is for the members of items and of other groups.
        return -(-left // 2) if isinstance(self.first, _SCALARS) else max(2, -(-left // 8))


_SCALARS = (str, bytes, int, float, complex, bool, type(None))


def _node(value, parent):
    if isinstance(value, str) and type(value).__repr__ is str.__repr__:
        return String(value)
    opened = _open(value)
    if opened is None:
        return _leaf(value, parent is not None)
    above = parent
    while above is not None:
        if above.value is value:
            return Text("...".join(opened.group.brackets))
        above = above.parent
    opened.value, opened.parent = value, parent
    return opened


def _open(value):
    """Returns None for a value that is shown by its `__repr__`."""
    kind = type(value)
    own = kind.__repr__
    name = kind.__name__
    if isinstance(value, dict) and own in _DICT_REPRS:
        return _open_dict(value, name)
    for base, brackets in _LISTS:
        if isinstance(value, base) and own is base.__repr__:
            return _open_list(value, base, name, brackets)
    if isinstance(value, tuple) and hasattr(kind, "_fields") and _is_generated(own):
        return _open_fields(kind._fields, lambda: tuple.__iter__(value), name)
    if dataclasses.is_dataclass(kind) and hasattr(own, "__wrapped__") and hasattr(value, "__dict__"):
        fields = [field.name for field in dataclasses.fields(kind) if field.repr and field.name in value.__dict__]
        return _open_fields(fields, lambda: (value.__dict__[field] for field in fields), name)
    if own is types.SimpleNamespace.__repr__ and isinstance(value, types.SimpleNamespace):
        title = "namespace" if kind is types.SimpleNamespace else name
        return _open_fields(list(value.__dict__), lambda: iter(value.__dict__.values()), title)
    if _is_vector(value):
        return _open_vector(value)
    return _open_instance(value, kind) if own is object.__repr__ else None


def _is_generated(own):
    """Returns True for the `__repr__` that namedtuple() writes."""
    return isinstance(own, types.FunctionType) and own.__globals__ is vars(collections)


_DICT_REPRS = (
    dict.__repr__,
    collections.OrderedDict.__repr__,
    collections.Counter.__repr__,
    collections.defaultdict.__repr__,
)

_LISTS = (
    (list, ("[", "]")),
    (tuple, ("(", ")")),
    (set, ("{", "}")),
    (frozenset, ("{", "}")),
    (collections.deque, ("[", "]")),
)


def _open_dict(value, name):
    if name == "dict":
        group = Group("", ("{", "}"), "key", len(value))
    else:
        factory = f"{safe_repr(value.default_factory)}, " if isinstance(value, collections.defaultdict) else ""
        group = Group(name, (f"({factory}{{", "})"), "key", len(value))

    def members():
        for key in dict.__iter__(value):
            yield _key(key), ": ", dict.__getitem__(value, key)

    return _Open(group, members)


def _open_list(value, base, name, brackets):
    total = base.__len__(value)
    opening, closing = brackets
    if base in (set, frozenset) and total == 0:
        return _Open(Group(f"{name}()", ("", ""), "item", 0), lambda: iter(()))
    plain = name == base.__name__ and base in (list, tuple, set)
    group = Group("" if plain else name, brackets if plain else (f"({opening}", f"{closing})"), "item", total)
    first = next(base.__iter__(value), None)
    return _Open(group, lambda: (("", "", item) for item in base.__iter__(value)), first)


def _open_fields(fields, values, name):
    group = Group(name, ("(", ")"), "key", len(fields))
    return _Open(group, lambda: ((field, "=", value) for field, value in zip(fields, values())))


def _open_instance(value, kind):
    """An instance without a `__repr__` of its own, by its attributes."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    if type(attributes) is not dict or not all(type(name) is str for name in itertools.islice(attributes, MAX_KEYS)):
        return None
    if not attributes:
        return _Open(Group(f"<{kind.__name__}>", ("", ""), "key", 0), lambda: iter(()))
    group = Group("", (f"<{kind.__name__} ", ">"), "key", len(attributes))
    return _Open(group, lambda: ((name, "=", member) for name, member in attributes.items()))


def _is_vector(value):
    """Returns True for a numpy array of one dimension that holds numbers, texts or times."""
    kind = type(value)
    if kind.__module__ != "numpy" or kind.__name__ != "ndarray":
        return False
    return value.ndim == 1 and value.dtype.kind in "biufcUS"


def _open_vector(value):
    plain = str(value.dtype) in ("float64", "int64", "bool") or value.dtype.kind in "US"
    group = Group("array", ("([", "])" if plain else f"], dtype={value.dtype})"), "item", len(value))

    def members():
        count = len(value)
        for start in range(0, count, 100):
            for item in value[start : min(count, start + 100)].tolist():
                yield "", "", item

    return _Open(group, members, 0)


def _key(key):
    text = safe_repr(key[:1000] if type(key) is str else key)
    return text if len(text) <= 200 else text[:199] + "…"


def _leaf(value, nested):
    if isinstance(value, (bytes, bytearray)) and len(value) > 200:
        return Text(f"{bytes(value[:100])!r} … ({len(value):,} bytes)", True)
    if nested and _is_table(value):
        return Text(_table_title(value), True)
    text = safe_repr(value)
    return Text(text, leaves_out(text) and hasattr(value, "__len__"))


def _is_table(value):
    kind = type(value)
    return kind.__module__.startswith(("pandas.", "polars.")) and kind.__name__ in ("DataFrame", "Series")


def _table_title(value):
    rows = len(value)
    if len(value.shape) == 1:
        return f"Series ({count_text(rows, 'item')}, {value.dtype})"
    return f"DataFrame ({rows:,} rows × {value.shape[1]:,} columns)"


def safe_repr(value):
    try:
        return repr(value)
    except Exception as error:
        if type(value) is int:
            return f"<int of {value.bit_length():,} bits>"
        return cannot_show(value, error)


def cannot_show(value, error):
    try:
        reason = f": {error}"
    except Exception:
        reason = ""
    return f"<{type(value).__name__} that cannot be shown{reason}>"
