"""The time and the chance of cells that are recorded, so that one that is run again sees the same; and by what a cell reaches
outside. The kernel's own looks at the clock, and those of other threads, come when they come: they see the real one."""

import ctypes
import datetime
import gc
import hashlib
import importlib.machinery
import os
import random
import sys
import threading
import time

# A program that asks for the time in a loop must not fill the host's journal.
MOST_READS = 1000

REAL_TIME = time.time
REAL_TIME_NS = time.time_ns
REAL_URANDOM = os.urandom
KERNEL = {"ipykernel", "IPython", "jupyter_client", "zmq", "tornado", "asyncio", "traitlets", "karst_kernel"}
# A module is loaded once, and whether it is there already depends on more than the cell.
LOADING = {"importlib", "_frozen_importlib", "_frozen_importlib_external"}


class World:
    def __init__(self, channel, executions):
        self._channel = channel
        self._executions = executions
        self._installed = False
        self._clocked = self._diced = self._tells = False
        self._seeded = False
        self._recorded = []
        self._reads = []
        self._count = 0
        self._last = 0.0
        self._effects = {}
        self._told = 0
        self._seed = ""
        self._bytes = iter(())

    def begin(self, times, seed, tells):
        """For the next cell."""
        self._clocked, self._recorded, self._count, self._last = times is not None, times or [], 0, 0.0
        self._diced, self._tells, self._effects, self._told = seed is not None, tells, {}, 0
        if not self._installed and (times is not None or seed is not None or tells):
            self._installed = True
            self._install()
        if seed is not None:
            self._seed = seed
            self._bytes = _stream(seed)
            if not self._seeded:
                random.seed(f"{seed}/random")
                self.seed_arrays()

    def look(self, code):
        """A program that seeds its chance itself has what it wants, as long as its kernel lives."""
        self._seeded = self._seeded or "seed(" in code

    def end(self):
        self.tell()
        self._clocked = self._diced = self._tells = False

    def tell(self):
        """Before anything that the cell does because of what it has seen."""
        if not self._reads and len(self._effects) == self._told:
            return
        reads, self._reads = self._reads, []
        effects = list(self._effects)[self._told :]
        self._told = len(self._effects)
        self._channel.send({"k": "news", "x": self._executions.last, "reads": reads, "effects": effects})

    def seed_arrays(self):
        arrays = sys.modules.get("numpy.random")
        if arrays is not None and self._diced and not self._seeded:
            arrays.seed(list(hashlib.sha256(f"{self._seed}/numpy".encode()).digest()))

    def _draw(self, count):
        return bytes(next(self._bytes) for _ in range(count))

    def _now(self):
        """Milliseconds; None where the real clock is asked."""
        if not self._clocked or not _is_cell():
            return None
        known = self._count < len(self._recorded)
        self._last = self._recorded[self._count] if known else max(self._last, REAL_TIME() * 1000)
        self._count += 1
        if not known and self._count <= MOST_READS:
            self._reads.append(self._last)
        elif not known:
            self._effects.setdefault(f"the clock, once it was looked at {MOST_READS:,} times")
        return self._last

    def _seconds(self):
        now = self._now()
        return REAL_TIME() if now is None else now / 1000

    def _install(self):
        def time_ns():
            now = self._now()
            return REAL_TIME_NS() if now is None else int(now * 1000) * 1000

        def urandom(size, /):
            return self._draw(size) if self._diced and _is_cell() else REAL_URANDOM(size)

        time.time, time.time_ns = self._seconds, time_ns
        for name in ("localtime", "gmtime", "ctime"):
            setattr(time, name, self._at_default(getattr(time, name)))
        time.strftime = self._formatted(time.strftime)
        os.urandom = random._urandom = urandom
        sys.meta_path.insert(0, AfterNumpy(self))
        self._install_dates()
        sys.addaudithook(self._on_audit)

    def _at_default(self, real):
        return lambda seconds=None: real(self._seconds() if seconds is None else seconds)

    def _formatted(self, real):
        return lambda form, *given: real(form, *(given or [time.localtime()]))

    def _install_dates(self):
        """`date.today` asks `time.time`; the others ask the system. The class must stay the same one, or nothing could be
        pickled: so its own dictionary is changed, which Python shows to nobody but the garbage collector."""
        members = gc.get_referents(datetime.datetime.__dict__)[0]
        if not isinstance(members, dict):
            return self._effects.setdefault("datetime.now() of a Python whose classes cannot be changed")
        real = {name: members[name] for name in ("now", "utcnow")}

        def now(cls, tz=None):
            at = self._now()
            return real["now"].__get__(None, cls)(tz) if at is None else cls.fromtimestamp(at / 1000, tz)

        def utcnow(cls):
            at = self._now()
            if at is None:
                return real["utcnow"].__get__(None, cls)()
            return cls.fromtimestamp(at / 1000, datetime.timezone.utc).replace(tzinfo=None)

        members.update(now=classmethod(now), utcnow=classmethod(utcnow))
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))

    def _on_audit(self, event, args):
        if not self._tells or event not in EFFECTS:
            return
        if event == "open" and not _writes(args):
            return
        if _asks_for_cell():
            self._effects.setdefault(EFFECTS[event])


class AfterNumpy:
    """Numpy takes its chance from the system when it is loaded: a recorded cell that loads it gets it from its own seed."""

    def __init__(self, world):
        self._world = world

    def find_spec(self, name, path, target=None):
        if name != "numpy.random":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (load(module), self._world.seed_arrays())
        return spec


EFFECTS = {
    "open": "a file that is written",
    "os.remove": "a file that is removed",
    "os.rename": "a file that is renamed",
    "os.mkdir": "a folder that is made",
    "os.rmdir": "a folder that is removed",
    "socket.connect": "the network",
    "subprocess.Popen": "a program that is started",
    "os.system": "a program that is started",
    "os.posix_spawn": "a program that is started",
}


def _writes(args):
    flags = args[2] if len(args) > 2 and isinstance(args[2], int) else 0
    return flags & (os.O_WRONLY | os.O_RDWR) != 0 and str(args[0]) != os.devnull


def _is_cell():
    return threading.current_thread() is threading.main_thread() and _asks_for_cell()


def _asks_for_cell():
    """Whether code of a cell, or what it called, asks: not the kernel, and no module that is being loaded."""
    frame = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if module == "__main__":
            return True
        root = module.partition(".")[0]
        if root in LOADING or root in KERNEL and module != __name__:
            return False
        frame = frame.f_back
    return False


def _stream(seed):
    """Bytes without end, the same for the same seed."""
    blocks = 0
    while True:
        yield from hashlib.sha512(f"{seed}/{blocks}".encode()).digest()
        blocks += 1
