"""Functions, objects and classes of the host as Python uses them. They stay on the host; Python holds their ids."""

import builtins
import collections
import threading
import weakref

from .executions import current


class HostError(Exception):
    """What a function of the host threw. Its class has the host's name for it, and derives from Python's class of that name."""


class HostObject:
    """An object of the host. Attributes are read and written there, methods run there."""

    def __init__(self, channel, number, shape, title=None):
        # Not by assignment, which would write fields of the host's object. The title is how the object was reached first.
        vars(self).update(_karst_channel=channel, _karst_id=number, _karst_shape=shape, _karst_title=title or shape["name"])

    def __getattr__(self, name):
        # Python looks protocols up by such names. The host has no members that begin so.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._karst_shape["methods"]:
            return HostMethod(self, name)
        reply = self._karst_channel.operate("get", self, [name])
        member = reply.get("v")
        self._karst_channel.copies.read(self, name, member, reply["frame"])
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
        # Outside of cells the host is not asked.
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
    """The elements one at a time, as `async for` takes them. Leaving the loop ends the host's iterator."""
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


def _refuse(name, problem):
    def refuse(self, *_given):
        raise _unsupported(self, problem)

    refuse.__name__ = name
    setattr(HostObject, name, refuse)


# What Python looks up on the class. JavaScript may do some of it by a member's name, which Python has to say.
_refuse("__getitem__", "has no items by []")
_refuse("__setitem__", "has no items by []")
_refuse("__delitem__", "has no items by []")
_refuse("__len__", "has no len()")
for _name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split():
    _refuse(f"__{_name}__", "takes no operators")
    _refuse(f"__r{_name}__", "takes no operators")
for _name in "neg pos abs invert".split():
    _refuse(f"__{_name}__", "takes no operators")
for _name in "lt le gt ge".split():
    _refuse(f"__{_name}__", "cannot be compared")


class HostFunction(HostObject):
    """A function of the host: `f(x)` waits for its result; `await f(x)` and `f.async_(x)` let other tasks run meanwhile."""

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
    """A method of a host object, which it keeps alive."""

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
    """The host objects that Python holds; the same object is the same here. The host is told of each one that is dropped, and
    how often it had been received, because it may be on its way once more."""

    def __init__(self, channel):
        self._channel = channel
        self._shapes = {}
        self._held = weakref.WeakValueDictionary()
        self._received = collections.Counter()
        # Finalisers fill it. They may run in the middle of anything, so nothing is sent from there.
        self._dropped = collections.deque()
        self._lock = threading.RLock()

    def learn(self, shape):
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
    # The host sees what was printed before the call first.
    channel.output.flush()
    whole = owner._karst_shape.get("whole", False)
    operate = channel.operate_later if later else channel.operate
    answer = operate(op, owner, path, [list(args), kwargs], whole)
    channel.copies.sent([*args, *kwargs.values()])
    return answer if later else answer.get("v")


def host_error(told):
    name, message = told["name"], told["message"]
    if name not in _classes:
        own = _relatives.get(name) or getattr(builtins, name, None)
        related = isinstance(own, type) and issubclass(own, Exception) and own not in (Exception, KeyError)
        _classes[name] = type(name, (HostError, own) if related else (HostError,), {"__module__": "builtins"})
    try:
        error = _classes[name](message)
    except TypeError:
        # Python's class of that name takes other arguments.
        _classes[name] = type(name, (HostError,), {"__module__": "builtins"})
        error = _classes[name](message)
    error._karst_thrown = told.get("thrown")
    return error


_classes = {}
_relatives = {"RangeError": ValueError, "ReferenceError": NameError}
