"""The host's own functions and objects, as Python sees them: the very same ones, by number."""

import builtins
import collections
import weakref


class HostError(Exception):
    """What a function of the host threw. Its class is named as the host's, and is Python's own where there is such."""


class HostFunction:
    """A function of the host: `f(x)` waits for its result; `await f(x)` and `f.async_(x)` do not hold up the rest."""

    def __init__(self, channel, number, name, doc=None):
        self._karst_channel = channel
        self._karst_id = number
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __call__(self, *args, **kwargs):
        return call(self._karst_channel, self._karst_id, None, args, kwargs)

    def async_(self, *args, **kwargs):
        return call(self._karst_channel, self._karst_id, None, args, kwargs, later=True)

    def __repr__(self):
        return f"<host function {self.__name__}>"


class HostMethod:
    """A method of an object of the host, which it keeps alive."""

    def __init__(self, owner, name):
        self._karst_owner = owner
        self._karst_channel = owner._karst_channel
        self._karst_id = owner._karst_id
        self._karst_name = self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self._call(args, kwargs)

    def async_(self, *args, **kwargs):
        return self._call(args, kwargs, later=True)

    def _call(self, args, kwargs, later=False):
        whole = self._karst_owner._karst_whole
        return call(self._karst_channel, self._karst_id, self._karst_name, args, kwargs, later, whole)

    def __repr__(self):
        return f"<host method {self._karst_name}>"


# What the host answers when a member turns out to be a method.
METHOD = object()


class HostObject:
    """An object of the host. Attributes are read and written there, methods run there."""

    def __init__(self, channel, number, name, methods, whole=False):
        vars(self).update(
            _karst_channel=channel,
            _karst_id=number,
            _karst_type=name,
            _karst_methods=frozenset(methods),
            # Whether tables go there as they are.
            _karst_whole=whole,
        )

    def __getattr__(self, name):
        # What begins so is Python looking for a protocol, never a member that the host shows.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._karst_methods:
            return HostMethod(self, name)
        member = self._karst_channel.request({"k": "get", "t": self._karst_id, "m": name})
        return HostMethod(self, name) if member is METHOD else member

    def __setattr__(self, name, value):
        coded = self._karst_channel.values.encode(value)
        message = {"k": "set", "t": self._karst_id, "m": name, "v": coded.json}
        self._karst_channel.request(message, coded.buffers, coded.special)

    def __iter__(self):
        return iter(self._karst_channel.request({"k": "list", "t": self._karst_id}))

    def __dir__(self):
        return sorted({*object.__dir__(self), *self._karst_channel.request({"k": "members", "t": self._karst_id})})

    def __repr__(self):
        return f"<host {self._karst_type}>"


class HostClass(HostObject):
    """A class of the host: calling it makes an instance there, and `isinstance` asks there."""

    def __call__(self, *args, **kwargs):
        return call(self._karst_channel, self._karst_id, None, args, kwargs)

    def __instancecheck__(self, value):
        if not isinstance(value, HostObject):
            return False
        return self._karst_channel.request({"k": "instance", "t": self._karst_id, "of": value._karst_id})

    def __repr__(self):
        return f"<host class {self._karst_type}>"


class Objects:
    """Every object of the host that Python holds; the same object is the same here. The host hears of each one that
    is dropped, and of how often it had been received, because another copy may be on its way."""

    def __init__(self, channel):
        self._channel = channel
        self._held = weakref.WeakValueDictionary()
        self._received = collections.Counter()
        # Filled by finalisers, which may run in the middle of anything: so nothing is sent from there.
        self._dropped = collections.deque()

    def receive(self, found):
        number = found["id"]
        self._received[number] += 1
        held = self._held.get(number)
        if held is None:
            held = self._held[number] = self._make(number, found)
            weakref.finalize(held, self._dropped.append, number).atexit = False
        return held

    def tell_dropped(self):
        released = []
        while self._dropped:
            number = self._dropped.popleft()
            if number not in self._held:
                released.append([number, self._received.pop(number, 0)])
        if released:
            self._channel.send({"k": "release", "ids": released})

    def _make(self, number, found):
        if found["is"] == "function":
            return HostFunction(self._channel, number, found["name"], found.get("doc"))
        make = HostClass if found["is"] == "class" else HostObject
        return make(self._channel, number, found["name"], found["methods"], found.get("whole", False))


def call(channel, number, method, args, kwargs, later=False, whole=False):
    # What was printed before is seen before.
    channel.output.flush()
    coded = channel.values.encode([list(args), kwargs], whole)
    message = {"k": "call", "t": number, "m": method, "v": coded.json}
    return (channel.request_later if later else channel.request)(message, coded.buffers, coded.special)


def awaitable(function, *args, **kwargs):
    """What `await function(…)` in a cell awaits: of a function of the host, the call that does not hold up the rest."""
    return getattr(function, "async_", function)(*args, **kwargs) if _is_host(function) else function(*args, **kwargs)


def host_error(told):
    name, message = told["name"], told["message"]
    if name not in _classes:
        own = _relatives.get(name) or getattr(builtins, name, None)
        related = isinstance(own, type) and issubclass(own, Exception) and own not in (Exception, KeyError)
        _classes[name] = type(name, (HostError, own) if related else (HostError,), {"__module__": "builtins"})
    error = _classes[name](message)
    error._karst_thrown = told.get("thrown")
    return error


_classes = {}
_relatives = {"RangeError": ValueError, "ReferenceError": NameError}


def _is_host(function):
    return isinstance(function, (HostFunction, HostMethod))
