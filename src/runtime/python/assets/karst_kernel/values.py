"""Values on their way between the host and Python. Plain JSON is itself; anything else is an object with a "$"."""

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
from .crossing import CannotCross
from .objects import HostMethod, HostObject, host_error

SAFE = 2**53 - 1
DEEPEST = 200
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)

# Values, not objects with behaviour, for which JavaScript has nothing that means the same.
WITHOUT_FORM = (decimal.Decimal, fractions.Fraction, complex, datetime.timedelta, datetime.time)


class Values:
    def __init__(self, channel, executions):
        self.channel = channel
        self.host_error = host_error
        self._executions = executions
        # Python's own objects that the host holds, by their numbers.
        self.given = {}
        self._numbers = {}
        self._next = 0
        self._giving = threading.RLock()

    def encode(self, value, whole=False):
        """With `whole`, tables stay here and the host gets handles of them."""
        return Encoding(self, whole).start(value)

    def encode_object(self, value):
        """The same for a value that is not to be copied, whatever it is."""
        coded = Encoding(self)
        coded.json = coded.object(value)
        return coded

    def digest(self, value):
        """The same for two values that would cross as the same. Nothing is given to the host."""
        coded = Comparison(self).start(value)
        # JSON of JavaScript has no numbers that are no numbers, so there is no need to refuse them.
        digest = hashlib.sha256(json.dumps(coded.json).encode())
        for buffer in coded.buffers:
            digest.update(b"%d:" % len(buffer))
            digest.update(buffer)
        return digest.digest()

    def decode(self, text, buffers, special, compared=False):
        """With `compared`, references to objects come as references: the value is only for `digest`."""
        if not special:
            return json.loads(text)
        aliases = []
        revive = self._revive_compared if compared else self._revive
        message = json.loads(text, object_hook=lambda found: revive(found, buffers, aliases))
        return _linked(message, message, set()) if aliases else message

    def give(self, value):
        """A number under which the host can speak of an object. What the host calls of it runs in the context of the cell that
        gave it last."""
        with self._giving:
            number = self.number_of(value)
            if number is None:
                self._next += 1
                number = self._numbers[id(value)] = self._next
                self.given[number] = Given(value)
            given = self.given[number]
            given.count += 1
            given.context = self._executions.capture()
            return number

    def number_of(self, value):
        return self._numbers.get(id(value))

    def release(self, number, count):
        with self._giving:
            given = self.given.get(number)
            if given is None:
                return
            given.count -= count
            if given.count <= 0:
                del self.given[number]
                del self._numbers[id(given.value)]

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
            return self.given_object(found["id"])
        if tag == "i":
            return imported(found["m"], found["a"])
        if tag == "h":
            return self.channel.objects.receive(found["id"], found["s"], found.get("b"))
        if tag == "hm":
            return HostMethod(found["of"], found["name"])
        if tag == "k":
            return Keywords(found["v"])
        if tag == "sh":
            # Shapes come first in a message, so they are known before the objects that have them.
            return self.channel.objects.learn(found)
        raise ValueError(f"The host sent a value of an unknown form: {tag}.")

    def _revive_compared(self, found, buffers, aliases):
        tag = found.get("$")
        if tag in ("h", "p"):
            return Reference(tag, {"id": found["id"]})
        if tag == "hm":
            return Reference(tag, {"of": {"$": "h", **found["of"].parts}, "name": found["name"]})
        return None if tag == "sh" else self._revive(found, buffers, aliases)

    def given_object(self, number):
        if number not in self.given:
            raise ReferenceError("The Python object is gone: it was released, or lived in a kernel that has ended.")
        return self.given[number].value


class Keywords(dict):
    """Arguments that the host passes by keyword, as the last argument of a call."""


class Given:
    """An object of Python that the host holds."""

    def __init__(self, value):
        self.value = value
        # How often the host was given it.
        self.count = 0
        self.context = None


class Reference:
    """Stands for an object in a value that is only compared."""

    def __init__(self, tag, parts):
        self.tag = tag
        self.parts = parts


class Alias:
    """Stands for a value that is elsewhere in the same message, until all of it is there."""

    def __init__(self, path):
        self.path = path


def _linked(value, message, seen):
    if isinstance(value, Alias):
        found = message
        for step in value.path:
            found = found[step]
        return found
    if id(value) in seen:
        return value
    if type(value) is list:
        seen.add(id(value))
        value[:] = [_linked(member, message, seen) for member in value]
    elif type(value) is dict:
        seen.add(id(value))
        for key, member in value.items():
            value[key] = _linked(member, message, seen)
    return value


class Encoding:
    """One value on its way to the host: JSON, its buffers, and whether the JSON is more than plain data."""

    def __init__(self, values, whole=False):
        self.values = values
        self.whole = whole
        self.buffers = []
        self.special = False
        self.json = None
        # The JSON of each list, dict and set by its id, with the value, whose id must stay its own; None while it is made.
        self._made = {}
        self._shared = {}

    def start(self, value):
        if isinstance(value, WITHOUT_FORM):
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
            return self._inside(value, depth, self._items)
        if kind is dict:
            return self._inside(value, depth, self._dict)
        return self._other(value, depth)

    def each(self, values):
        """A list of values, for columns and arrays of objects."""
        return self._items(values, 0)

    def _inside(self, value, depth, encode):
        if depth >= DEEPEST:
            raise CannotCross(f"the value is nested more than {DEEPEST} deep")
        key = id(value)
        if key in self._made:
            return self._again(self._made[key])
        self._made[key] = None
        try:
            result = encode(value, depth + 1)
        except BaseException:
            del self._made[key]
            raise
        # What cannot change needs no identity: Python itself makes one of equal tuples.
        if isinstance(value, (tuple, range, frozenset)):
            del self._made[key]
        else:
            self._made[key] = (value, result)
        return result

    def _again(self, made):
        """A reference to a list, dict or set that came earlier, which gets a number now: one object stays one on the host."""
        if made is None:
            raise CannotCross("the value contains itself, and data that does so cannot cross")
        _value, result = made
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
            return self._inside(value, depth, self._set)
        if self.whole and arrays.is_frame(value):
            return self.object(value)
        found = arrays.encode(value, self)
        if found is not arrays.UNKNOWN:
            return found
        if isinstance(value, bool):
            return bool(value)
        if isinstance(value, WITHOUT_FORM):
            name = type(value).__name__
            raise CannotCross(f"a {name} has no form in JavaScript: convert it with float() or str()")
        if isinstance(value, int):
            return self._encode(int(value), depth)
        if isinstance(value, float):
            return self._encode(float(value), depth)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, (list, tuple, range)):
            return self._inside(value, depth, self._items)
        if isinstance(value, (KeysView, ValuesView, ItemsView)):
            return self._inside(list(value), depth, self._items)
        if isinstance(value, dict):
            return self._inside(value, depth, self._dict)
        if inspect.isawaitable(value):
            raise CannotCross("it was not awaited: write await before it")
        return self.object(value)

    def _date(self, value):
        # A time without a zone is one of UTC, as it is for pandas.
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return self.tagged("d", v=round((aware - EPOCH) / MILLISECOND))

    def object(self, value):
        return self.tagged("p", id=self.values.give(value), type=type_name(value), callable=callable(value))


class Comparison(Encoding):
    """A value as it would cross, to be compared with another."""

    def object(self, value):
        if isinstance(value, Reference):
            return self.tagged(value.tag, **value.parts)
        return self.tagged("p", id=self.values.number_of(value))

    def _set(self, value, depth):
        # Two equal sets may have different orders.
        return self.tagged("s", e=sorted(self._items(list(value), depth), key=json.dumps))


def type_name(value):
    kind = type(value)
    own = kind.__module__ in ("builtins", "__main__")
    return kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"


def imported(module, attribute):
    try:
        found = importlib.import_module(module)
        for name in filter(None, attribute.split(".")):
            found = getattr(found, name)
        return found
    except Exception as error:
        path = f"{module}:{attribute}" if attribute else module
        raise ImportError(f'py("{path}") cannot be had: {error}') from error

