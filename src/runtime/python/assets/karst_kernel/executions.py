"""Finds the cell that a call of the host belongs to. The host gives every cell an id before it runs. Every operation
on a host object carries the id of the cell whose code makes it, also in tasks, threads and callbacks it leaves."""

import _thread
import contextvars
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

_execution = contextvars.ContextVar("karst_execution", default=None)
# The id of the cell that started a thread. In some versions of Python a thread starts with an empty context.
_thread_execution = threading.local()


class Executions:
    """The ids of the running cell and of the last one."""

    def __init__(self):
        # Set from the announcement of a cell until its report; None between two cells.
        self.running = None
        self.last = None

    def begin(self, execution):
        """Called when the host announces a cell."""
        self.running = self.last = execution

    def enter(self):
        """Called when the cell starts: sets its id in the current context."""
        _execution.set(self.running)

    def end(self):
        """Called when the cell has ended: clears its id for the next cell. Tasks that it left behind keep the id."""
        self.running = None
        _execution.set(None)

    def capture(self):
        """Returns a context for later calls on behalf of the cell whose code runs now, or of the last cell if none runs
        (for example when the host retrieves a function)."""
        context = contextvars.copy_context()
        context.run(_execution.set, current() or self.last)
        return context


def current():
    """Returns the id of the cell whose code is running; None for code that belongs to no cell."""
    return _execution.get() or getattr(_thread_execution, "id", None)


def propagate_to_threads():
    """Patches threads and thread pools so that their code carries the id of the cell that started it."""
    for module in (_thread, threading):
        for name in ("start_new_thread", "start_new", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread"):
            start = getattr(module, name, None)
            if start is not None and not hasattr(start, "propagates_execution"):
                setattr(module, name, _start_with_execution(start))
    if not hasattr(ThreadPoolExecutor.submit, "propagates_execution"):
        ThreadPoolExecutor.submit = _submit_with_execution(ThreadPoolExecutor.submit)


def _start_with_execution(start):
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

    start_with_execution.propagates_execution = True
    return start_with_execution


def _submit_with_execution(submit):
    @functools.wraps(submit)
    def submit_with_execution(pool, function, /, *args, **kwargs):
        execution = current()
        if execution is None:
            return submit(pool, function, *args, **kwargs)
        return submit(pool, functools.partial(_run_in, execution, function), *args, **kwargs)

    submit_with_execution.propagates_execution = True
    return submit_with_execution


def _run_in(execution, function, /, *args, **kwargs):
    before = _execution.set(execution)
    try:
        return function(*args, **kwargs)
    finally:
        _execution.reset(before)
