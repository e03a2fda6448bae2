"""The report of each cell: the names it changed, the value of its last expression, its error, and hints."""

import ast
import linecache
import re
import traceback
import warnings

from . import awaits
from .objects import HostMethod, HostObject
from .values import CannotCross

LARGEST_VALUE = 64 * 1024
LARGEST_MESSAGE = 100_000
MOST_HINTS = 20
OWN = re.compile(r"_+|_i+|_\d+|_i\d+|_dh|_oh|_ih")


class Cells:
    def __init__(self, shell, values, executions):
        self.shell = shell
        self.values = values
        self._executions = executions
        # Cells within cells (`%%capture`) are part of the outer one.
        self._depth = 0
        self._count = 0
        # The shell's own would end the kernel a little later.
        shell.user_ns.update(exit=leave, quit=leave)
        # Only what a cell leaves is of interest; the names of the shell itself are not.
        self._hidden = {*shell.user_ns, *shell.user_ns_hidden, "In", "Out"}
        self._settled = {}
        shell.compile.get_code_name = self._name_cell
        awaits.install(shell)
        # Errors are told in the report; the shell's own picture of them is slow to draw and shown to nobody.
        shell._last_traceback = None
        for name in ("showtraceback", "showsyntaxerror", "showindentationerror"):
            setattr(shell, name, lambda *_args, **_options: None)
        # Lines are counted in the cell's own text, so what it begins with stays.
        cleanup = shell.input_transformer_manager.cleanup_transforms
        cleanup[:] = [transform for transform in cleanup if getattr(transform, "__name__", "") != "leading_empty_lines"]
        shell.events.register("post_run_cell", self._report)
        # The shell would look for the semicolon in its history, which there is none of.
        self._quiet = False
        shell.displayhook.quiet = lambda: self._quiet
        shell.events.register("pre_run_cell", self._look)
        # Of an exit the report tells.
        warnings.filterwarnings("ignore", "To exit: use 'exit'")

    def begin(self, execution):
        """The host announces the next cell."""
        self._depth = 0
        self._executions.begin(execution)

    def _look(self, cell):
        self._depth += 1
        self._executions.enter()
        self._quiet = cell.raw_cell.rstrip().endswith(";")
        self.values.channel.world.look(cell.raw_cell)

    def names(self):
        return [name for name in list(self.shell.user_ns) if self._shows(name)]

    def put(self, names):
        """Remembers what the host has put in, so that it is no cell's doing."""
        for name in names:
            if self._shows(name):
                self._settled[name] = id(self.shell.user_ns[name])

    def settle(self, assigned=()):
        """What changed since the last time, by the identity of the values. Names in `assigned` count as reassigned
        although they have the same value as before."""
        namespace = self.shell.user_ns
        now = {name: id(namespace[name]) for name in self.names()}
        before = self._settled
        self._settled = now
        return {
            "created": [name for name in now if name not in before],
            "reassigned": [name for name in now if name in before and (now[name] != before[name] or name in assigned)],
            "removed": [name for name in before if name not in now],
        }

    def _assigned(self, result):
        """The names that the top-level statements of a cell assigned, which ran to its end."""
        if result is None or result.error_before_exec is not None or result.error_in_exec is not None:
            return ()
        try:
            tree = ast.parse(self.shell.transform_cell(result.info.raw_cell))
        except SyntaxError:
            return ()
        names = set()
        for statement in tree.body:
            if isinstance(statement, ast.Assign):
                targets = statement.targets
            elif isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value):
                targets = [statement.target]
            else:
                continue
            for target in targets:
                names.update(node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        return names

    def _shows(self, name):
        return name not in self._hidden and not OWN.fullmatch(name) and not name.startswith("__")

    def _name_cell(self, *_code):
        self._count += 1
        # Old sources are of no use but to tracebacks, and would pile up.
        linecache.cache.pop(f"cell-{self._count - 200}.py", None)
        return f"cell-{self._count}.py"

    def _report(self, result):
        self._depth = max(0, self._depth - 1)
        if self._depth > 0:
            return
        channel = self.values.channel
        execution = self._executions.running
        report = {"k": "cell", "x": execution, "changes": self.settle(self._assigned(result))}
        hints = channel.copies.end()
        if hints:
            report["hints"] = hints[:MOST_HINTS]
        buffers, special = (), False
        if result is not None:
            before, during = result.error_before_exec, result.error_in_exec
            error = before or during
            if error is not None:
                awaits.explain(error)
                report["error"] = failure(error, f"cell-{self._count}.py", isinstance(before, SyntaxError))
                # Jupyter's own answer would tell it once more: it may be large, or fail when it is asked for its text.
                result.error_before_exec, result.error_in_exec = None, Told()
            elif result.result is not None:
                coded = self._value(result.result)
                report["v"], buffers, special = coded.json, coded.buffers, coded.special
            # The shell keeps the last result; nobody asks for it, and it may be large.
            self.shell.last_execution_result = None
        channel.objects.release_dropped()
        channel.output.drain()
        channel.world.end()
        self._executions.end()
        try:
            channel.send(report, buffers, special)
        except ValueError as error:
            channel.send({"k": "cell", "x": execution, "changes": {}, "error": failure(error)})

    def _value(self, value):
        """The value itself where it is small data, else a way to reach it."""
        if _is_small(value):
            try:
                return self.values.encode(value)
            except Exception:
                # It cannot cross, or its own methods fail: then it stays.
                pass
        return self.values.encode_object(value)


class Told(Exception):
    """Stands for an error that the host has been told."""


def leave(code=None):
    """Ends the cell."""
    raise SystemExit(code)


def failure(error, cell=None, syntax=False):
    """An exception as its reader needs it: the frames of cells, and the line in the one that ran."""
    if syntax:
        reason = f"{type(error).__name__}: {error.msg}"
        return {"kind": "syntax", "message": reason, "line": error.lineno, "column": error.offset}
    told = traceback.TracebackException.from_exception(error, compact=True)
    _trim(told, set())
    text = "".join(told.format()).rstrip()
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    kind = "memory" if isinstance(error, MemoryError) else "throw"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == cell]
    return {
        "kind": kind,
        "name": type(error).__name__,
        "message": message[:LARGEST_MESSAGE],
        "stack": text[-LARGEST_MESSAGE:],
        "line": lines[-1] if lines else None,
        "thrown": getattr(error, "_karst_thrown", None),
    }


def _trim(told, seen):
    if told is None or id(told) in seen:
        return
    seen.add(id(told))
    told.stack[:] = _cell_frames(told.stack)
    for other in (told.__cause__, told.__context__, *(getattr(told, "exceptions", None) or ())):
        _trim(other, seen)


def _cell_frames(frames):
    return [frame for frame in frames if re.fullmatch(r"cell-\d+\.py|setup\.py", frame.filename)]


def _is_small(value, depth=0):
    """A quick look, so that a huge value is not walked only to be found huge."""
    if isinstance(value, (HostObject, HostMethod)):
        return True
    if isinstance(value, (str, bytes, bytearray)):
        return len(value) <= LARGEST_VALUE
    if hasattr(value, "nbytes"):
        return isinstance(value.nbytes, int) and value.nbytes <= LARGEST_VALUE
    if type(value).__name__ == "DataFrame" and hasattr(value, "size"):
        return value.size <= 1000
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        if len(value) > 1000 or depth > 4:
            return False
        members = value.values() if isinstance(value, dict) else value
        return all(_is_small(member, depth + 1) for member in members)
    return True
