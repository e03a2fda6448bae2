"""Encodes a value for the host. Plain JSON stays as it is; any other value is an object with a "$" tag."""

import datetime
import decimal
import enum
import fractions
import inspect
import json
import math
from collections.abc import ItemsView, KeysView, ValuesView

from . import arrays
from .arrays import SAFE
from .cannot_cross import CannotCross
from .objects import HostMethod, HostObject

MAX_DEPTH = 200
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)

# Types of plain values that have no equivalent in JavaScript.
NO_JAVASCRIPT_TYPE = (decimal.Decimal, fractions.Fraction, complex, datetime.timedelta, datetime.time)


class Encoding:
    """Encodes one value for the host: the JSON, its buffers, and whether the JSON holds tagged values."""

    def __init__(self, values, whole=False):
        self.values = values
        self.whole = whole
        self.buffers = []
        self.special = False
        self.json = None
        # The JSON of each list, dict and set by id, with the value, so that the id stays valid; None while encoding.
        self._encoded = {}
        self._shared = {}

    def start(self, value):
        if isinstance(value, NO_JAVASCRIPT_TYPE):
            self.json = self.object(value)
        else:
            self.json = self._encode(value, 0)
        return self

    def tagged(self, tag, **rest):
        self.special = True
        return {"$": tag, **rest}

    def add(self, buffer):
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def _encode(self, value, depth):
        kind = type(value)
        if value is None or kind is str or kind is bool:
            return value
        if kind is int:
            return value if -SAFE <= value <= SAFE else self.tagged("n", v=format(value, "x"))
        if kind is float:
            return value if math.isfinite(value) else self.tagged("f", v=str(value))
        if kind is list or kind is tuple:
            return self._container(value, depth, self._items)
        if kind is dict:
            return self._container(value, depth, self._dict)
        return self._other(value, depth)

    def each(self, values):
        """Encodes a list of values, for columns and arrays of objects."""
        return self._items(values, 0)

    def _container(self, value, depth, encode):
        if depth >= MAX_DEPTH:
            raise CannotCross(f"the value is nested more than {MAX_DEPTH} deep")
        key = id(value)
        if key in self._encoded:
            return self._shared_reference(self._encoded[key])
        self._encoded[key] = None
        try:
            result = encode(value, depth + 1)
        except BaseException:
            del self._encoded[key]
            raise
        # Immutable containers need no identity: Python itself may reuse equal tuples.
        if isinstance(value, (tuple, range, frozenset)):
            del self._encoded[key]
        else:
            self._encoded[key] = (value, result)
        return result

    def _shared_reference(self, encoded):
        """Encodes a list, dict or set that occurred before as a reference, and numbers its first occurrence, so that
        the host gets one object."""
        if encoded is None:
            raise CannotCross("the value contains itself, and data that does so cannot cross")
        _value, result = encoded
        number = self._shared.get(id(result))
        if number is None:
            number = self._shared[id(result)] = len(self._shared) + 1
            if type(result) is list:
                result.insert(0, {"$": "q", "n": number})
            else:
                whole = dict(result)
                result.clear()
                result.update({"$": "q", "n": number, "v": whole})
        return self.tagged("r", n=number)

    def _items(self, values, depth):
        result = []
        try:
            for value in values:
                result.append(self._encode(value, depth))
        except CannotCross as error:
            raise error.within(f"[{len(result)}]") from None
        return result

    def _dict(self, value, depth):
        if all(type(key) is str for key in value):
            result = {}
            key = ""
            try:
                for key, member in value.items():
                    result[key] = self._encode(member, depth)
            except CannotCross as error:
                raise error.within(f"[{key!r}]") from None
            return self.tagged("o", e=list(result.items())) if "$" in result else result
        entries = []
        for key, member in value.items():
            try:
                entries.append([self._encode(key, depth), self._encode(member, depth)])
            except CannotCross as error:
                raise error.within(f"[{key!r}]") from None
        return self.tagged("m", e=entries)

    def _set(self, value, depth):
        return self.tagged("s", e=self._items(list(value), depth))

    def _other(self, value, depth):
        if isinstance(value, HostObject):
            return self.tagged("h", id=value._karst_id)
        if isinstance(value, HostMethod):
            return self.tagged("hm", of=self.tagged("h", id=value._karst_owner._karst_id), name=value._karst_name)
        if isinstance(value, enum.Enum):
            return self._encode(value.value, depth)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self.tagged("b", i=self.add(bytes(value)))
        if isinstance(value, datetime.datetime) and not arrays.is_missing(value):
            return self._date(value)
        if isinstance(value, datetime.date) and not arrays.is_missing(value):
            return self._date(datetime.datetime(value.year, value.month, value.day))
        if isinstance(value, (set, frozenset)):
            return self._container(value, depth, self._set)
        if self.whole and arrays.is_frame(value):
            return self.object(value)
        found = arrays.encode(value, self)
        if found is not arrays.UNKNOWN:
            return found
        if isinstance(value, bool):
            return bool(value)
        if isinstance(value, NO_JAVASCRIPT_TYPE):
            name = type(value).__name__
            raise CannotCross(f"a {name} has no form in JavaScript: convert it with float() or str()")
        if isinstance(value, int):
            return self._encode(int(value), depth)
        if isinstance(value, float):
            return self._encode(float(value), depth)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, (list, tuple, range)):
            return self._container(value, depth, self._items)
        if isinstance(value, (KeysView, ValuesView, ItemsView)):
            return self._container(list(value), depth, self._items)
        if isinstance(value, dict):
            return self._container(value, depth, self._dict)
        if inspect.isawaitable(value):
            raise CannotCross("it was not awaited: write await before it")
        return self.object(value)

    def _date(self, value):
        # A time without a zone counts as UTC, as in pandas.
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return self.tagged("d", v=round((aware - EPOCH) / MILLISECOND))

    def object(self, value):
        return self.tagged("p", id=self.values.create_handle(value), type=type_name(value), callable=callable(value))


class Comparison(Encoding):
    """Encodes a value only to compare it with another."""

    def object(self, value):
        if isinstance(value, Reference):
            return self.tagged(value.tag, **value.parts)
        return self.tagged("p", id=self.values.number_of(value))

    def _set(self, value, depth):
        # Equal sets may iterate in different orders.
        return self.tagged("s", e=sorted(self._items(list(value), depth), key=json.dumps))


def type_name(value):
    kind = type(value)
    own = kind.__module__ in ("builtins", "__main__")
    return kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"


class Reference:
    """Replaces a handle in a value that is only compared."""

    def __init__(self, tag, parts):
        self.tag = tag
        self.parts = parts
