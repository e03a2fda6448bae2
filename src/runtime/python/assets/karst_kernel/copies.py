"""Copies that the running cell read as fields of host objects. A cell that changes such a copy changes nothing on the host, so
its report names each copy that was changed and not written back."""

import base64
import hashlib
import json
import re
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
# Copies of earlier cells that are recognised when they are written back.
MOST_KEPT = 200


class Copies:
    def __init__(self, values, executions, namespace):
        self._values = values
        self._executions = executions
        self._namespace = namespace
        self._copies = {}
        self._large = {}
        self._kept = {}
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

    def digest_of(self, value):
        """The digest of what the host held when the copy was read, for the host to compare; None for a large copy."""
        copy = self._find(value)
        return copy and copy.digest()

    def wrote_back(self, value, answer):
        """The host has the copy as it is now: only later changes count. It answers whether it held something else than what was
        read, and the digest of what it holds now."""
        with self._lock:
            copy = self._find(value)
            if copy is None:
                return
            if answer and answer[0]:
                path = self._path(copy)
                self._hints.setdefault(
                    f"{path} had changed on the host after the cell read it, and the assignment overwrote those changes. "
                    f"Read {path} again right before changing it."
                )
            self._bytes -= copy.weight
            copy.renew(self._values, answer[1] if answer else None)

    def sent(self, values):
        """The cell gave these to the host itself, as arguments or as another field."""
        if not self._copies:
            return
        with self._lock:
            for copy in filter(None, (self._copies.get(id(value)) for value in values)):
                self._remove(copy)

    def end(self):
        """The hints for the report of the cell. Of copies that later cells can use, only the digest is remembered."""
        with self._lock:
            for copy in self._copies.values():
                self._check(copy)
            hints = list(self._hints)
            known = [*self._kept.values(), *(copy.without_frame() for copy in self._copies.values())]
            self._copies, self._large, self._bytes, self._hints, self._kept = {}, {}, 0, {}, {}
            # What only this list holds cannot be written back any more.
            while known and len(self._kept) < MOST_KEPT:
                copy = known.pop()
                if copy.digest() is not None and copy.is_held_elsewhere():
                    self._kept.setdefault(id(copy.value), copy)
        return hints

    def _find(self, value):
        # The copy is held, so its id cannot have become that of another value.
        return self._copies.get(id(value)) or self._kept.get(id(value))

    def _path(self, copy):
        return f"{_label(copy.owner, self._namespace)}.{copy.name}"

    def _check(self, copy):
        path = self._path(copy)
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

    __slots__ = ("owner", "name", "value", "is_large", "weight", "unchecked", "_frame", "_before", "_digest")

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
        self._digest = None

    def digest(self):
        if self._digest is None and self._frame is not None:
            self._digest = _digest(*self._frame)
        return self._digest

    def without_frame(self):
        """The same for a later cell, which does not report whether it changes the copy."""
        self.digest()
        self._frame = self._before = None
        self.weight = 0
        return self

    def renew(self, values, digest):
        """Takes what the value holds now for what it held."""
        self._digest = digest
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

    def is_held_elsewhere(self):
        """Of a table this is not known, because its columns may be held without it."""
        return not arrays.is_frame(self.value) and not self.is_held_only_here()


def _digest(text, buffers, _special):
    """The digest of a reply's value, as the host makes it of the same value."""
    start = text.index(b',"v":', text.index(b'"k":"reply"')) + 5
    digest = hashlib.sha256(_HANDLES.sub(rb'{"$":"\1"}', text[start:-1]))
    for buffer in buffers:
        digest.update(b"%d:" % len(buffer))
        digest.update(buffer)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


# Objects that stay on their side count as equal. A quote inside a text is escaped, so that no text looks like this.
_HANDLES = re.compile(rb'\{"\$":"([hp])","id":\d+(?:,"s":\d+,"b":"(?:[^"\\]|\\.)*")?\}')


def _is_container(value):
    return type(value) in (list, dict, set) or arrays.is_array(value) or arrays.is_frame(value)


def _most_references(copy):
    """The largest number of references to the container of a copy or to one of those in it."""
    most = 0
    seen = set()
    waiting = [copy.value]
    while waiting:
        value = waiting.pop()
        if arrays.is_frame(value):
            # Its columns may be held without it.
            return sys.maxsize
        if id(value) in seen or not _is_container(value):
            continue
        seen.add(id(value))
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
