"""The cell that a call of the host belongs to. The host gives every cell an id before it runs, and every operation on a host
object carries the id of the cell whose code makes it: also from tasks, threads and callbacks that a cell left behind."""

import _thread
import contextvars
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

_execution = contextvars.ContextVar("karst_execution", default=None)
# The id of the cell that started a thread. A contextvar is not enough: some versions of Python run threads in an empty context.
_thread_execution = threading.local()


class Executions:
    """The id of the cell that runs now, and of the last one."""

    def __init__(self):
        # The cell between its announcement and its report; None between two cells.
        self.running = None
        self.last = None

    def begin(self, execution):
        """The host announces a cell."""
        self.running = self.last = execution

    def enter(self):
        """The cell starts: its context gets its id."""
        _execution.set(self.running)

    def end(self):
        """The cell has ended. What it left behind keeps its id; the context that the next cell starts in loses it."""
        self.running = None
        _execution.set(None)

    def capture(self):
        """A context in which a function can be called later, for the cell whose code runs now. Outside of a cell, for
        example when the host retrieves a function, that is the last one."""
        context = contextvars.copy_context()
        context.run(_execution.set, current() or self.last)
        return context


def current():
    """The id of the cell whose code runs here; None where it is no cell's code."""
    return _execution.get() or getattr(_thread_execution, "id", None)


def follow_threads():
    """Lets threads and the jobs of thread pools carry the id of the cell that started them."""
    for module in (_thread, threading):
        for name in ("start_new_thread", "start_new", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread"):
            start = getattr(module, name, None)
            if start is not None and not hasattr(start, "follows"):
                setattr(module, name, _starting(start))
    if not hasattr(ThreadPoolExecutor.submit, "follows"):
        ThreadPoolExecutor.submit = _submitting(ThreadPoolExecutor.submit)


def _starting(start):
    @functools.wraps(start)
    def start_with_execution(function, *args, **kwargs):
        execution = current()
        if execution is None or not callable(function):
            return start(function, *args, **kwargs)

        def run(*given, **named):
            _thread_execution.id = execution
            _execution.set(execution)
            return function(*given, **named)

        return start(run, *args, **kwargs)

    start_with_execution.follows = True
    return start_with_execution


def _submitting(submit):
    @functools.wraps(submit)
    def submit_with_execution(pool, function, /, *args, **kwargs):
        execution = current()
        if execution is None:
            return submit(pool, function, *args, **kwargs)
        return submit(pool, functools.partial(_run_in, execution, function), *args, **kwargs)

    submit_with_execution.follows = True
    return submit_with_execution


def _run_in(execution, function, /, *args, **kwargs):
    before = _execution.set(execution)
    try:
        return function(*args, **kwargs)
    finally:
        _execution.reset(before)
