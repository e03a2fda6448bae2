"""Copies that the running cell read as fields of host objects. A cell that changes such a copy changes nothing on the host, so
its report names each copy that was changed and not written back."""

import json
import sys
import threading

from . import arrays
from .executions import current

# The report says of a larger copy that it was not checked.
LARGEST_COPY = 2**20
# Large copies are held until the cell ends, so that the last ones are recognised when they are written back.
MOST_LARGE = 8
MOST_COPIES = 2000
MOST_BYTES = 2**23


class Copies:
    def __init__(self, values, executions, namespace):
        self._values = values
        self._executions = executions
        self._namespace = namespace
        self._copies = {}
        self._large = {}
        self._bytes = 0
        self._hints = {}
        # Threads of the cell read fields too.
        self._lock = threading.RLock()

    def read(self, owner, name, value, frame):
        """Remembers a container that was read as a field; `frame` is the message that brought it."""
        running = self._executions.running
        if running is None or current() != running or not _is_container(value):
            return
        with self._lock:
            copy = self._copies[id(value)] = Copy(owner, name, value, frame)
            if copy.is_large:
                self._large[id(value)] = copy
            self._bytes += copy.weight
            self._limit()

    def is_from(self, owner, name, value):
        """Whether a value is the very copy that was read from this field."""
        copy = self._find(value)
        return copy is not None and copy.owner is owner and copy.name == name

    def wrote_back(self, value):
        """The host has the copy as it is now: only later changes count."""
        with self._lock:
            copy = self._find(value)
            if copy is not None:
                self._bytes -= copy.weight
                copy.renew(self._values)

    def sent(self, values):
        """The cell gave these to the host itself, as arguments or as another field."""
        if not self._copies:
            return
        with self._lock:
            for copy in filter(None, map(self._find, values)):
                self._remove(copy)

    def end(self):
        """The hints for the report of the cell. Nothing is remembered after that."""
        with self._lock:
            for copy in self._copies.values():
                self._check(copy)
            hints = list(self._hints)
            self._copies, self._large, self._bytes, self._hints = {}, {}, 0, {}
        return hints

    def _find(self, value):
        # The copy is held, so its id cannot have become that of another value.
        return self._copies.get(id(value))

    def _check(self, copy):
        path = f"{_label(copy.owner, self._namespace)}.{copy.name}"
        if copy.is_changed(self._values):
            self._hints.setdefault(
                f"{path} is a copy, and the cell changed only the copy. Write it back: {path} = <the changed value>"
            )
        elif copy.unchecked:
            self._hints.setdefault(
                f"{path} is a copy, which was not checked for changes ({copy.unchecked}). "
                f"If the cell changed it, write it back: {path} = <the changed value>"
            )

    def _limit(self):
        if len(self._large) > MOST_LARGE:
            oldest = next(iter(self._large.values()))
            self._check(oldest)
            self._remove(oldest)
        if len(self._copies) <= MOST_COPIES and self._bytes <= MOST_BYTES:
            return
        # A copy that is held only here can no longer change: it is checked now. Of the others, the oldest are given up.
        for copy in list(self._copies.values()):
            if copy.is_held_only_here():
                self._check(copy)
                self._remove(copy)
        while len(self._copies) > MOST_COPIES / 2 or self._bytes > MOST_BYTES / 2:
            copy = next(iter(self._copies.values()))
            copy.unchecked = "the cell holds too many copies"
            self._check(copy)
            self._remove(copy)

    def _remove(self, copy):
        self._bytes -= copy.weight
        del self._copies[id(copy.value)]
        self._large.pop(id(copy.value), None)


class Copy:
    """A container that was read as a field, and what it held then."""

    __slots__ = ("owner", "name", "value", "is_large", "weight", "unchecked", "_frame", "_before")

    def __init__(self, owner, name, value, frame):
        text, buffers, _special = frame
        size = len(text) + sum(len(buffer) for buffer in buffers)
        self.owner = owner
        self.name = name
        self.value = value
        self.is_large = size > LARGEST_COPY
        self.unchecked = f"it has {size / 2**20:.1f} MB" if self.is_large else None
        self.weight = 0 if self.is_large else size
        self._frame = None if self.is_large else frame
        self._before = None

    def renew(self, values):
        """Takes what the value holds now for what it held."""
        self._before = None if self.is_large else values.digest(self.value)
        self.weight, self._frame, self.unchecked = 0, None, None

    def is_changed(self, values):
        if self._frame is None and self._before is None:
            return False
        try:
            if self._before is not None:
                return values.digest(self.value) != self._before
            before = values.decode(*self._frame, compared=True)["v"]
            _text, _buffers, special = self._frame
            # Plain JSON is compared as such, which is much faster.
            digest = values.digest if special else json.dumps
            try:
                old = digest(before)
            except Exception:
                self.unchecked = "it contains itself"
                return False
            return digest(self.value) != old
        except Exception:
            # What came as data does not fail: the cell put something in that cannot cross.
            return True

    def is_held_only_here(self):
        return _most_references(self) <= HELD_ONCE


def _is_container(value):
    return type(value) in (list, dict, set) or arrays.is_array(value) or arrays.is_frame(value)


def _most_references(copy):
    """The largest number of references to the container of a copy or to one of those in it."""
    most = 0
    waiting = [copy.value]
    while waiting:
        value = waiting.pop()
        if arrays.is_frame(value):
            # Its columns may be held without it.
            return sys.maxsize
        if not _is_container(value):
            continue
        most = max(most, sys.getrefcount(value))
        if type(value) is dict:
            waiting.extend(value.values())
        elif type(value) is list:
            waiting.extend(value)
    return most


# Python versions differ in how many references the function itself has.
_sample = Copy(None, "", [[]], ("", (), False))
HELD_ONCE = _most_references(_sample)


def _label(owner, namespace):
    """An expression that leads to a host object: its variable, else how it was reached."""
    for name, value in list(namespace.items()):
        if value is owner and not name.startswith("_"):
            return name
    return owner._karst_title
