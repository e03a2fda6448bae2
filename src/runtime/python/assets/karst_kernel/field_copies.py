"""Tracks the copies that the running cell read from fields of host objects. Changing such a copy changes nothing on
the host, so the report names each copy that the cell changed and did not write back."""

import base64
import hashlib
import json
import re
import sys
import threading

from . import arrays
from .executions import current

# Larger copies are not checked for changes; the report says so.
MAX_CHECKED_BYTES = 2**20
# The most recent large copies are held until the cell ends, so that they are recognised when they are written back.
MAX_LARGE = 8
MAX_COPIES = 2000
MAX_BYTES = 2**23
# How many copies of earlier cells are recognised when they are written back.
MAX_EARLIER = 200


class Copies:
    def __init__(self, values, executions, namespace):
        self._values = values
        self._executions = executions
        self._namespace = namespace
        self._copies = {}
        self._large = {}
        self._earlier = {}
        self._bytes = 0
        self._hints = {}
        # Threads that the cell started read fields too.
        self._lock = threading.RLock()

    def record_read(self, owner, name, value, frame):
        """Records a container that was read as a field; `frame` is the message that contained it."""
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
        """Returns True if a value is the copy that was read from this field."""
        copy = self._find(value)
        return copy is not None and copy.owner is owner and copy.name == name

    def digest_of(self, value):
        """Returns the digest of the field when the copy was read, for the host to compare; None for a large copy."""
        copy = self._find(value)
        return copy and copy.digest()

    def wrote_back(self, value, answer):
        """Records that the host now has the current content of the copy, so that only later changes are reported.
        `answer` is the host's: whether the field had changed since the copy was read, and the digest of its new value."""
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
        """Stops tracking values that the cell passed to the host, as arguments or as another field."""
        if not self._copies:
            return
        with self._lock:
            for copy in filter(None, (self._copies.get(id(value)) for value in values)):
                self._remove(copy)

    def end(self):
        """Returns the hints for the cell's report. Of copies that later cells can still use, stores only the digest."""
        with self._lock:
            for copy in self._copies.values():
                self._check(copy)
            hints = list(self._hints)
            known = [*self._earlier.values(), *(copy.without_frame() for copy in self._copies.values())]
            self._copies, self._large, self._bytes, self._hints, self._earlier = {}, {}, 0, {}, {}
            # A copy that nothing else references cannot be written back.
            while known and len(self._earlier) < MAX_EARLIER:
                copy = known.pop()
                if copy.digest() is not None and copy.is_referenced():
                    self._earlier.setdefault(id(copy.value), copy)
        return hints

    def _find(self, value):
        # The copy is referenced here, so no other value can have got its id.
        return self._copies.get(id(value)) or self._earlier.get(id(value))

    def _path(self, copy):
        return f"{_expression_for(copy.owner, self._namespace)}.{copy.name}"

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
        if len(self._large) > MAX_LARGE:
            oldest = next(iter(self._large.values()))
            self._check(oldest)
            self._remove(oldest)
        if len(self._copies) <= MAX_COPIES and self._bytes <= MAX_BYTES:
            return
        # A copy that is referenced only here cannot change any more: check it now. Then drop the oldest of the others.
        for copy in list(self._copies.values()):
            if copy.is_unreferenced():
                self._check(copy)
                self._remove(copy)
        while len(self._copies) > MAX_COPIES / 2 or self._bytes > MAX_BYTES / 2:
            copy = next(iter(self._copies.values()))
            copy.unchecked = "the cell holds too many copies"
            self._check(copy)
            self._remove(copy)

    def _remove(self, copy):
        self._bytes -= copy.weight
        del self._copies[id(copy.value)]
        self._large.pop(id(copy.value), None)


class Copy:
    """A container that was read as a field, and its content at that time."""

    __slots__ = ("owner", "name", "value", "is_large", "weight", "unchecked", "_frame", "_before", "_digest")

    def __init__(self, owner, name, value, frame):
        text, buffers, _special = frame
        size = len(text) + sum(len(buffer) for buffer in buffers)
        self.owner = owner
        self.name = name
        self.value = value
        self.is_large = size > MAX_CHECKED_BYTES
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
        """Reduces the copy to its digest, for later cells, which do not report changes of it."""
        self.digest()
        self._frame = self._before = None
        self.weight = 0
        return self

    def renew(self, values, digest):
        """Takes the current content of the value as the unchanged state."""
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
            # Comparing plain JSON directly is much faster.
            digest = values.digest if special else json.dumps
            try:
                old = digest(before)
            except Exception:
                self.unchecked = "it contains itself"
                return False
            return digest(self.value) != old
        except Exception:
            # The original was encoded without failure, so the cell has added something that cannot cross.
            return True

    def is_unreferenced(self):
        return _max_references(self) <= UNREFERENCED_COUNT

    def is_referenced(self):
        """Returns False for tables: their columns may be referenced without the table, so this cannot be known."""
        return not arrays.is_frame(self.value) and not self.is_unreferenced()


def _digest(text, buffers, _special):
    """Returns the digest of a reply's value; the host computes the same digest for the same value."""
    start = text.index(b',"v":', text.index(b'"k":"reply"')) + 5
    digest = hashlib.sha256(_HANDLES.sub(rb'{"$":"\1"}', text[start:-1]))
    for buffer in buffers:
        digest.update(b"%d:" % len(buffer))
        digest.update(buffer)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


# All handles count as equal. Quotes inside strings are escaped, so no string matches this pattern.
_HANDLES = re.compile(rb'\{"\$":"([hp])","id":\d+(?:,"s":\d+,"b":"(?:[^"\\]|\\.)*")?\}')


def _is_container(value):
    return type(value) in (list, dict, set) or arrays.is_array(value) or arrays.is_frame(value)


def _max_references(copy):
    """Returns the largest reference count among the container of a copy and the containers in it."""
    most = 0
    seen = set()
    waiting = [copy.value]
    while waiting:
        value = waiting.pop()
        if arrays.is_frame(value):
            # The columns of a table may be referenced without it.
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


# The count that `_max_references` itself causes, which depends on the version of Python.
_sample = Copy(None, "", [[]], ("", (), False))
UNREFERENCED_COUNT = _max_references(_sample)


def _expression_for(owner, namespace):
    """Returns an expression for a host object: a variable that holds it, otherwise the path by which it was reached."""
    for name, value in list(namespace.items()):
        if value is owner and not name.startswith("_"):
            return name
    return owner._karst_title
