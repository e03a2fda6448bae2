"""Replays the clock and random values of recorded cells, so that a repeated cell sees the same ones, and reports the
effects of cells outside the kernel. The kernel itself and threads see the real clock: they read it at any time."""

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

# Limits the host's journal for a cell that reads the clock in a loop.
MAX_READS = 1000

REAL_TIME = time.time
REAL_TIME_NS = time.time_ns
REAL_URANDOM = os.urandom
KERNEL = {"ipykernel", "IPython", "jupyter_client", "zmq", "tornado", "asyncio", "traitlets", "karst_kernel"}
# Whether an import runs a module's code depends on earlier cells, so what that code does is not counted for the cell.
LOADING = {"importlib", "_frozen_importlib", "_frozen_importlib_external"}


class RecordedEnv:
    def __init__(self, channel, executions):
        self._channel = channel
        self._executions = executions
        self._installed = False
        self._has_clock = self._has_seed = self._reports_effects = False
        self._seeded_by_cell = False
        self._recorded = []
        self._reads = []
        self._count = 0
        self._last = 0.0
        self._effects = {}
        self._reported_effects = 0
        self._seed = ""
        self._bytes = iter(())

    def begin(self, times, seed, tells):
        """Sets up the next cell: recorded clock values, random seed, and whether to report effects; None means real."""
        self._has_clock, self._recorded, self._count, self._last = times is not None, times or [], 0, 0.0
        self._has_seed, self._reports_effects, self._effects, self._reported_effects = seed is not None, tells, {}, 0
        if not self._installed and (times is not None or seed is not None or tells):
            self._installed = True
            self._install()
        if seed is not None:
            self._seed = seed
            self._bytes = _byte_stream(seed)
            if not self._seeded_by_cell:
                random.seed(f"{seed}/random")
                self.seed_numpy()

    def note_code(self, code):
        """Once a cell seeds its own random numbers, leaves the generators alone for the life of the kernel."""
        self._seeded_by_cell = self._seeded_by_cell or "seed(" in code

    def end(self):
        self.send_updates()
        self._has_clock = self._has_seed = self._reports_effects = False

    def send_updates(self):
        """Sends new clock values and effects. Called before each request, which may depend on them."""
        if not self._reads and len(self._effects) == self._reported_effects:
            return
        reads, self._reads = self._reads, []
        effects = list(self._effects)[self._reported_effects :]
        self._reported_effects = len(self._effects)
        self._channel.send({"k": "news", "x": self._executions.last, "reads": reads, "effects": effects})

    def seed_numpy(self):
        arrays = sys.modules.get("numpy.random")
        if arrays is not None and self._has_seed and not self._seeded_by_cell:
            arrays.seed(list(hashlib.sha256(f"{self._seed}/numpy".encode()).digest()))

    def _random_bytes(self, count):
        return bytes(next(self._bytes) for _ in range(count))

    def _now(self):
        """Returns the time for a cell in milliseconds; None if the caller gets the real time."""
        if not self._has_clock or not _is_cell_in_main_thread():
            return None
        known = self._count < len(self._recorded)
        self._last = self._recorded[self._count] if known else max(self._last, REAL_TIME() * 1000)
        self._count += 1
        if not known and self._count <= MAX_READS:
            self._reads.append(self._last)
        elif not known:
            self._effects.setdefault(f"the clock, once it was looked at {MAX_READS:,} times")
        return self._last

    def _seconds(self):
        now = self._now()
        return REAL_TIME() if now is None else now / 1000

    def _install(self):
        def time_ns():
            now = self._now()
            return REAL_TIME_NS() if now is None else int(now * 1000) * 1000

        def urandom(size, /):
            return self._random_bytes(size) if self._has_seed and _is_cell_in_main_thread() else REAL_URANDOM(size)

        time.time, time.time_ns = self._seconds, time_ns
        for name in ("localtime", "gmtime", "ctime"):
            setattr(time, name, self._with_recorded_default(getattr(time, name)))
        time.strftime = self._with_recorded_time(time.strftime)
        os.urandom = random._urandom = urandom
        sys.meta_path.insert(0, NumpySeeder(self))
        self._install_dates()
        sys.addaudithook(self._on_audit)

    def _with_recorded_default(self, real):
        return lambda seconds=None: real(self._seconds() if seconds is None else seconds)

    def _with_recorded_time(self, real):
        return lambda form, *given: real(form, *(given or [time.localtime()]))

    def _install_dates(self):
        """Replaces datetime.now and datetime.utcnow, which do not call `time.time`. The class must stay the same
        object, or datetimes could not be pickled. So its dictionary is changed, which only the garbage collector reveals."""
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
        if not self._reports_effects or event not in EFFECTS:
            return
        if event == "open" and not _writes(args):
            return
        if _is_called_by_cell():
            self._effects.setdefault(EFFECTS[event])


class NumpySeeder:
    """Seeds numpy.random when a recorded cell imports it: numpy takes its initial seed from the operating system."""

    def __init__(self, recorded_env):
        self._recorded_env = recorded_env

    def find_spec(self, name, path, target=None):
        if name != "numpy.random":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (load(module), self._recorded_env.seed_numpy())
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


def _is_cell_in_main_thread():
    return threading.current_thread() is threading.main_thread() and _is_called_by_cell()


def _is_called_by_cell():
    """Returns True if a cell or code that it called is the caller, not the kernel or a module being imported."""
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


def _byte_stream(seed):
    """Yields endless bytes that depend only on the seed."""
    blocks = 0
    while True:
        yield from hashlib.sha512(f"{seed}/{blocks}".encode()).digest()
        blocks += 1
