"""Python's handles of the host's functions, objects and classes, which stay on the host; a handle holds the id."""

import builtins
import collections
import threading
import weakref

from .executions import current


class HostError(Exception):
    """An error that a host function threw. Its subclass has the name of the host's class, and derives from Python's
    exception of that name if there is one."""


class HostObject:
    """An object of the host. Attributes are read and written there, methods run there."""

    def __init__(self, channel, number, shape, title=None):
        # An assignment would write to the host's object. The title is the path by which the object was first reached.
        vars(self).update(_karst_channel=channel, _karst_id=number, _karst_shape=shape, _karst_title=title or shape["name"])

    def __getattr__(self, name):
        # Python looks up protocols by these names. No member of a host object begins with an underscore.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._karst_shape["methods"]:
            return HostMethod(self, name)
        reply = self._karst_channel.operate("get", self, [name])
        member = reply.get("v")
        self._karst_channel.copies.record_read(self, name, member, reply["frame"])
        return member

    def __setattr__(self, name, value):
        copies = self._karst_channel.copies
        back = copies.is_from(self, name, value)
        was = copies.digest_of(value) if back else None
        more = {"back": True, **({"was": was} if was is not None else {})} if back else {}
        answer = self._karst_channel.operate("set", self, [name], [value], **more).get("v")
        if back:
            copies.wrote_back(value, answer)
        else:
            copies.sent([value])

    def __delattr__(self, name):
        raise AttributeError(f"{name} is a member of a host object, and cannot be deleted from Python")

    def __iter__(self):
        if not self._karst_shape.get("iterable", True) and not self._karst_shape.get("open"):
            raise _unsupported(self, "is not iterable")
        return iter(self._karst_channel.operate("list", self)["v"])

    def __aiter__(self):
        if not self._karst_shape.get("iterable", True) and not self._karst_shape.get("open"):
            raise _unsupported(self, "is not iterable")
        return _elements(self)

    def __contains__(self, value):
        return any(item is value or item == value for item in self)

    def __enter__(self):
        if not self._karst_shape.get("disposable"):
            raise _unsupported(self, "cannot be used in a with statement")
        return self

    def __exit__(self, *_error):
        self._karst_channel.operate("dispose", self)

    def __dir__(self):
        shape = self._karst_shape
        # Only a running cell may send an operation to the host.
        asked = self._karst_channel.operate("members", self)["v"] if current() else ()
        return sorted({*object.__dir__(self), *shape["methods"], *shape.get("values", ()), *asked})

    def __bool__(self):
        return True

    def __copy__(self):
        return self

    def __deepcopy__(self, _memo):
        return self

    def __reduce_ex__(self, _protocol):
        raise TypeError(f"{self!r} lives on the host, and cannot be pickled")

    def __repr__(self):
        return f"<host {self._karst_shape['name']}>"


async def _elements(owner):
    """Yields the elements one at a time for `async for`. Leaving the loop ends the host's iterator."""
    iterator = await owner._karst_channel.operate_later("iterate", owner)
    ended = False
    try:
        while True:
            step = await HostMethod(iterator, "next").async_()
            if step.get("done"):
                ended = True
                return
            yield step.get("value")
    finally:
        if not ended and "return" in iterator._karst_shape["methods"]:
            await HostMethod(iterator, "return").async_()


def _unsupported(owner, problem):
    shape = vars(owner)["_karst_shape"]
    fields = [*shape.get("values", ())]
    members = [*fields, *(f"{name}()" for name in shape["methods"])]
    shown = ", ".join(members[:12]) + (", …" if len(members) > 12 else "")
    cure = f"Read a field or call a method: {shown}" if members else "dir() lists its fields and methods"
    return TypeError(f"the host's {shape['name']} {problem} in Python. {cure}")


def _refuse_operation(name, problem):
    def refuse(self, *_given):
        raise _unsupported(self, problem)

    refuse.__name__ = name
    setattr(HostObject, name, refuse)


# Python looks up these operations on the class. Where the host has a method for one, Python code must call it by name.
_refuse_operation("__getitem__", "has no items by []")
_refuse_operation("__setitem__", "has no items by []")
_refuse_operation("__delitem__", "has no items by []")
_refuse_operation("__len__", "has no len()")
for _name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split():
    _refuse_operation(f"__{_name}__", "takes no operators")
    _refuse_operation(f"__r{_name}__", "takes no operators")
for _name in "neg pos abs invert".split():
    _refuse_operation(f"__{_name}__", "takes no operators")
for _name in "lt le gt ge".split():
    _refuse_operation(f"__{_name}__", "cannot be compared")


class HostFunction(HostObject):
    """A function of the host: `f(x)` waits for its result; `await f(x)` and `f.async_(x)` let other tasks run."""

    def __init__(self, channel, number, shape, title=None):
        super().__init__(channel, number, shape, title)
        vars(self).update(__name__=shape["name"], __qualname__=shape["name"], __doc__=shape.get("doc"))

    def __call__(self, *args, **kwargs):
        return call(self, "call", [], args, kwargs)

    def async_(self, *args, **kwargs):
        return call(self, "call", [], args, kwargs, later=True)

    def __repr__(self):
        return f"<host function {self._karst_shape['name']}>"


class HostClass(HostObject):
    """A class of the host: calling it makes an instance there, and `isinstance` asks there."""

    def __call__(self, *args, **kwargs):
        return call(self, "new", [], args, kwargs)

    def __instancecheck__(self, value):
        if not isinstance(value, HostObject):
            return False
        return self._karst_channel.operate("instance", self, [], [value])["v"]

    def __repr__(self):
        return f"<host class {self._karst_shape['name']}>"


class HostMethod:
    """A method of a host object. It holds a reference to the object."""

    def __init__(self, owner, name):
        self._karst_owner = owner
        self._karst_name = self.__name__ = name

    def __call__(self, *args, **kwargs):
        return call(self._karst_owner, "call", [self._karst_name], args, kwargs)

    def async_(self, *args, **kwargs):
        return call(self._karst_owner, "call", [self._karst_name], args, kwargs, later=True)

    def __eq__(self, other):
        same = isinstance(other, HostMethod) and other._karst_owner is self._karst_owner
        return same and other._karst_name == self._karst_name

    def __hash__(self):
        return hash((id(self._karst_owner), self._karst_name))

    def __repr__(self):
        return f"<host method {self._karst_name}>"


class Objects:
    """The handles that Python holds, one for each host object. When a handle is dropped, the kernel sends a release
    with the number of times it received the object, because the host may just be sending it again."""

    def __init__(self, channel):
        self._channel = channel
        self._shapes = {}
        self._held = weakref.WeakValueDictionary()
        self._received = collections.Counter()
        # Finalisers add to it. They may interrupt anything, so they send nothing themselves.
        self._dropped = collections.deque()
        self._lock = threading.RLock()

    def add_shape(self, shape):
        self._shapes[shape["n"]] = {**shape, "methods": frozenset(shape["methods"])}

    def receive(self, number, shape, title=None):
        with self._lock:
            self._received[number] += 1
            held = self._held.get(number)
            if held is None:
                found = self._shapes[shape]
                held = self._held[number] = CLASSES[found["is"]](self._channel, number, found, title)
                weakref.finalize(held, self._dropped.append, number).atexit = False
            return held

    def release_dropped(self, least=1):
        if len(self._dropped) < least:
            return
        released = []
        with self._lock:
            while self._dropped:
                number = self._dropped.popleft()
                if number not in self._held:
                    released.append([number, self._received.pop(number, 0)])
        if released:
            self._channel.send({"k": "release", "ids": released})


CLASSES = {"function": HostFunction, "class": HostClass, "object": HostObject}


def call(owner, op, path, args, kwargs, later=False):
    channel = owner._karst_channel
    # Send the output printed so far before the call.
    channel.output.flush()
    whole = owner._karst_shape.get("whole", False)
    operate = channel.operate_later if later else channel.operate
    answer = operate(op, owner, path, [list(args), kwargs], whole)
    channel.copies.sent([*args, *kwargs.values()])
    return answer if later else answer.get("v")


def host_error(thrown):
    name, message = thrown["name"], thrown["message"]
    if name not in _error_classes:
        python_class = _python_equivalents.get(name) or getattr(builtins, name, None)
        is_exception = isinstance(python_class, type) and issubclass(python_class, Exception)
        has_base = is_exception and python_class not in (Exception, KeyError)
        bases = (HostError, python_class) if has_base else (HostError,)
        _error_classes[name] = type(name, bases, {"__module__": "builtins"})
    try:
        error = _error_classes[name](message)
    except TypeError:
        # Python's exception of that name takes other arguments.
        _error_classes[name] = type(name, (HostError,), {"__module__": "builtins"})
        error = _error_classes[name](message)
    error._karst_thrown = thrown.get("thrown")
    return error


_error_classes = {}
_python_equivalents = {"RangeError": ValueError, "ReferenceError": NameError}
