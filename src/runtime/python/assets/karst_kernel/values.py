"""Encodes and decodes the values that cross between the host and Python. Plain JSON stays as it is; any other value is
an object with a "$" tag."""

import datetime
import hashlib
import importlib
import json
import threading

from . import arrays
from .encoding import EPOCH, Comparison, Encoding, Reference
from .objects import HostMethod, host_error


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
        made = Made()
        revive = self._revive_compared if compared else self._revive
        message = json.loads(text, object_hook=lambda found: revive(found, buffers, made))
        if not made.aliases:
            return message
        seen = set()
        for frame in made.frames:
            arrays.replace_objects(frame, lambda member: _resolve_aliases(member, message, seen))
        return _resolve_aliases(message, message, seen)

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

    def _revive(self, found, buffers, made):
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
            frame = arrays.to_frame(found["c"], found["n"], buffers)
            made.frames.append(frame)
            return frame
        if tag in ("m", "o"):
            return dict(found["e"])
        if tag == "s":
            return set(found["e"])
        if tag == "r":
            alias = Alias(found["p"])
            made.aliases.append(alias)
            return alias
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

    def _revive_compared(self, found, buffers, made):
        tag = found.get("$")
        if tag in ("h", "p"):
            return Reference(tag, {"id": found["id"]})
        if tag == "hm":
            return Reference(tag, {"of": {"$": "h", **found["of"].parts}, "name": found["name"]})
        return None if tag == "sh" else self._revive(found, buffers, made)

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


class Made:
    """What was made of a message and needs the whole message: aliases, and tables that may contain them."""

    def __init__(self):
        self.aliases = []
        self.frames = []


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
    elif type(value) in (dict, Keywords):
        seen.add(id(value))
        for key, member in value.items():
            value[key] = _resolve_aliases(member, message, seen)
    return value


def import_reference(module, attribute):
    try:
        found = importlib.import_module(module)
        for name in filter(None, attribute.split(".")):
            found = getattr(found, name)
        return found
    except Exception as error:
        path = f"{module}:{attribute}" if attribute else module
        raise ImportError(f'py("{path}") cannot be had: {error}') from error
