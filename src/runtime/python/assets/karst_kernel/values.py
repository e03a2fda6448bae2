"""Encodes and decodes the values that cross between the host and Python. Plain JSON stays as it is; any other value is
an object with a "$" tag."""

import datetime
import decimal
import enum
import fractions
import hashlib
import importlib
import inspect
import json
import math
import threading
from collections.abc import ItemsView, KeysView, ValuesView

from . import arrays
from .cannot_cross import CannotCross
from .objects import HostMethod, HostObject, host_error

SAFE = 2**53 - 1
MAX_DEPTH = 200
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)

# Types of plain values that have no equivalent in JavaScript.
NO_JAVASCRIPT_TYPE = (decimal.Decimal, fractions.Fraction, complex, datetime.timedelta, datetime.time)


class Values:
    def __init__(self, channel, executions):
        self.channel = channel
        self.host_error = host_error
        self._executions = executions
        # The Python objects that the host has handles of, by number.
        self.handed_out = {}
        self._numbers = {}
        self._next = 0
        self._lock = threading.RLock()

    def encode(self, value, whole=False):
        """Encodes a value. With `whole`, tables stay here and the host gets handles of them."""
        return Encoding(self, whole).start(value)

    def encode_object(self, value):
        """Encodes any value as a handle."""
        coded = Encoding(self)
        coded.json = coded.object(value)
        return coded

    def digest(self, value):
        """Returns equal digests for two values with the same encoding. Sends nothing and creates no handles."""
        coded = Comparison(self).start(value)
        # NaN in the JSON does no harm here: the text is only hashed.
        digest = hashlib.sha256(json.dumps(coded.json).encode())
        for buffer in coded.buffers:
            digest.update(b"%d:" % len(buffer))
            digest.update(buffer)
        return digest.digest()

    def decode(self, text, buffers, special, compared=False):
        """Decodes a message. With `compared`, for `digest` only, handles become `Reference` objects."""
        if not special:
            return json.loads(text)
        aliases = []
        revive = self._revive_compared if compared else self._revive
        message = json.loads(text, object_hook=lambda found: revive(found, buffers, aliases))
        return _resolve_aliases(message, message, set()) if aliases else message

    def create_handle(self, value):
        """Returns the number of a handle for an object. The host's calls through it run in the context of the cell that
        passed it most recently."""
        with self._lock:
            number = self.number_of(value)
            if number is None:
                self._next += 1
                number = self._numbers[id(value)] = self._next
                self.handed_out[number] = HandedOut(value)
            handed_out = self.handed_out[number]
            handed_out.count += 1
            handed_out.context = self._executions.capture()
            return number

    def number_of(self, value):
        return self._numbers.get(id(value))

    def release(self, number, count):
        with self._lock:
            handed_out = self.handed_out.get(number)
            if handed_out is None:
                return
            handed_out.count -= count
            if handed_out.count <= 0:
                del self.handed_out[number]
                del self._numbers[id(handed_out.value)]

    def _revive(self, found, buffers, aliases):
        tag = found.get("$")
        if tag is None:
            return found
        if tag == "n":
            return int(found["v"], 16)
        if tag == "f":
            return float(found["v"])
        if tag == "d":
            return EPOCH + datetime.timedelta(milliseconds=found["v"])
        if tag == "b":
            return bytes(buffers[found["i"]])
        if tag == "a":
            return arrays.to_array(found["t"], buffers[found["i"]])
        if tag == "t":
            return arrays.to_frame(found["c"], found["n"], buffers)
        if tag in ("m", "o"):
            return dict(found["e"])
        if tag == "s":
            return set(found["e"])
        if tag == "r":
            aliases.append(found)
            return Alias(found["p"])
        if tag == "p":
            return self.handed_out_object(found["id"])
        if tag == "i":
            return import_reference(found["m"], found["a"])
        if tag == "h":
            return self.channel.objects.receive(found["id"], found["s"], found.get("b"))
        if tag == "hm":
            return HostMethod(found["of"], found["name"])
        if tag == "k":
            return Keywords(found["v"])
        if tag == "sh":
            # Shapes come first in a message, before the objects that have them.
            return self.channel.objects.add_shape(found)
        raise ValueError(f"The host sent a value of an unknown form: {tag}.")

    def _revive_compared(self, found, buffers, aliases):
        tag = found.get("$")
        if tag in ("h", "p"):
            return Reference(tag, {"id": found["id"]})
        if tag == "hm":
            return Reference(tag, {"of": {"$": "h", **found["of"].parts}, "name": found["name"]})
        return None if tag == "sh" else self._revive(found, buffers, aliases)

    def handed_out_object(self, number):
        if number not in self.handed_out:
            raise ReferenceError("The Python object is gone: it was released, or lived in a kernel that has ended.")
        return self.handed_out[number].value


class Keywords(dict):
    """Arguments that the host passes by keyword, as the last argument of a call."""


class HandedOut:
    """A Python object that the host has a handle of."""

    def __init__(self, value):
        self.value = value
        # How often the object was sent to the host.
        self.count = 0
        self.context = None


class Reference:
    """Replaces a handle in a value that is only compared."""

    def __init__(self, tag, parts):
        self.tag = tag
        self.parts = parts


class Alias:
    """Replaces a value that occurs elsewhere in the same message, until the whole message is decoded."""

    def __init__(self, path):
        self.path = path


def _resolve_aliases(value, message, seen):
    if isinstance(value, Alias):
        found = message
        for step in value.path:
            found = found[step]
        return found
    if id(value) in seen:
        return value
    if type(value) is list:
        seen.add(id(value))
        value[:] = [_resolve_aliases(member, message, seen) for member in value]
    elif type(value) is dict:
        seen.add(id(value))
        for key, member in value.items():
            value[key] = _resolve_aliases(member, message, seen)
    return value


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


def import_reference(module, attribute):
    try:
        found = importlib.import_module(module)
        for name in filter(None, attribute.split(".")):
            found = getattr(found, name)
        return found
    except Exception as error:
        path = f"{module}:{attribute}" if attribute else module
        raise ImportError(f'py("{path}") cannot be had: {error}') from error

