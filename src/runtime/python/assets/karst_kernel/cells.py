"""Reports each cell to the host: the names it changed, the value of its last expression, its error, and hints."""

import ast
import linecache
import re
import sys
import traceback
import warnings

from . import await_rewrite, notebook, result_text
from .declarations import short_type
from .error_cures import cure_for
from .finish import Finish
from .last_values import LastValues
from .objects import HostMethod, HostObject

MAX_VALUE_BYTES = 64 * 1024
MAX_MESSAGE_LENGTH = 100_000
MAX_HINTS = 20
MAX_TYPES = 20
IPYTHON_NAME = re.compile(r"_+|_i+|_\d+|_i\d+|_dh|_oh|_ih|_exit_code")


class Cells:
    def __init__(self, shell, values, executions):
        self.shell = shell
        self.values = values
        self._executions = executions
        # Nesting of cells: a cell inside another (`%%capture`) belongs to the outer report.
        self._depth = 0
        self._count = 0
        # The number of the cell that runs.
        self._number = 0
        self._last_values = LastValues(shell.user_ns)
        notebook.install(shell)
        self._formatter = result_text.install(shell)
        self._finish = Finish(executions, self._formatter)
        self._functions = {"exit": notebook.leave, "quit": notebook.leave, "finish": self._finish.function()}
        shell.user_ns.update(self._functions)
        # The names of the shell itself are not reported, unless a cell gave them another value.
        self._hidden = {**shell.user_ns_hidden, **shell.user_ns}
        self._known_ids = {}
        # The name under which a value is kept that is shown in part; None if it is not kept.
        self._keep_as = None
        shell.compile.get_code_name = self._name_cell
        await_rewrite.install(shell)
        # The report contains the error of the cell, so the shell need not display it. A magic (`%time f()`) and a
        # failing `__repr__` show an error, and the cell goes on: these errors are printed when it ends.
        shell._last_traceback = None
        self._shown_errors = []
        shell.showtraceback = self._note_shown_error
        for name in ("showsyntaxerror", "showindentationerror"):
            setattr(shell, name, lambda *_args, **_options: None)
        # Keep leading empty lines, so that line numbers match the cell's text.
        cleanup = shell.input_transformer_manager.cleanup_transforms
        cleanup[:] = [transform for transform in cleanup if getattr(transform, "__name__", "") != "leading_empty_lines"]
        shell.events.register("post_run_cell", self._report)
        # The shell would look for a trailing semicolon in its history, which is disabled.
        self._ends_with_semicolon = False
        shell.displayhook.quiet = lambda: self._ends_with_semicolon
        shell.events.register("pre_run_cell", self._before_cell)
        # The report contains the SystemExit.
        warnings.filterwarnings("ignore", "To exit: use 'exit'")

    def begin(self, execution, budget=None, keep_as=None, allows_finish=False):
        """Called when the host announces the next cell."""
        self._depth = 0
        self._finish.begin(allows_finish)
        for name, function in self._functions.items():
            # A cell may have deleted it.
            self.shell.user_ns.setdefault(name, function)
        self._formatter.budget = result_text.DEFAULT_BUDGET if budget is None else budget
        self._keep_as = keep_as
        self._executions.begin(execution)

    def _before_cell(self, cell):
        if self._depth == 0:
            self._number = self._count + 1
        self._depth += 1
        self._executions.enter()
        self._ends_with_semicolon = notebook.ends_with_semicolon(cell.raw_cell)
        self.values.channel.recorded_env.note_code(cell.raw_cell)

    def _note_shown_error(self, exc_tuple=None, *_args, **_options):
        self._shown_errors.append(exc_tuple[1] if exc_tuple else sys.exc_info()[1])

    def _print_shown_errors(self, reported):
        errors, self._shown_errors = self._shown_errors, []
        for error in errors:
            if error is not None and error is not reported:
                print(failure(error)["stack"], file=sys.stderr)

    def names(self):
        return [name for name in list(self.shell.user_ns) if self._is_reported(name)]

    def mark_injected(self, names):
        """Records values that the host has bound, so that they are not reported as changes of a cell."""
        for name in names:
            if self._is_reported(name):
                self._known_ids[name] = id(self.shell.user_ns[name])

    def take_changes(self, assigned=()):
        """Returns the names that changed since the last call, by the identity of their values. Names in `assigned`
        count as reassigned even if their value is the same."""
        namespace = self.shell.user_ns
        now = {name: id(namespace[name]) for name in self.names()}
        before = self._known_ids
        self._known_ids = now
        return {
            "created": [name for name in now if name not in before],
            "reassigned": [name for name in now if name in before and (now[name] != before[name] or name in assigned)],
            "removed": [name for name in before if name not in now],
        }

    def _types(self, changes):
        """Returns the short types of the created and reassigned names, which the model sees after the cell."""
        names = [*changes["created"], *changes["reassigned"]][:MAX_TYPES]
        return {name: short_type(self.shell.user_ns[name]) for name in names}

    def _statements(self, result):
        """Returns the top-level statements of a cell; none if the cell failed."""
        if result is None or result.error_before_exec is not None or result.error_in_exec is not None:
            return ()
        try:
            return ast.parse(self.shell.transform_cell(result.info.raw_cell)).body
        except SyntaxError:
            return ()

    def _assigned(self, statements):
        """Returns the names that the statements assign."""
        names = set()
        for statement in statements:
            if isinstance(statement, ast.Assign):
                targets = statement.targets
            elif isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value):
                targets = [statement.target]
            else:
                continue
            for target in targets:
                found = (node for node in ast.walk(target) if isinstance(node, ast.Name))
                names.update(node.id for node in found if isinstance(node.ctx, ast.Store))
        return names

    def _is_reported(self, name):
        if IPYTHON_NAME.fullmatch(name) or name.startswith("__"):
            return False
        return name not in self._hidden or self.shell.user_ns.get(name) is not self._hidden[name]

    def _name_cell(self, *_code):
        self._count += 1
        # Drop the source of old cells, which only tracebacks use.
        linecache.cache.pop(f"cell-{self._count - 200}.py", None)
        return f"cell-{self._count}.py"

    def _report(self, result):
        self._depth = max(0, self._depth - 1)
        if self._depth > 0:
            return
        channel = self.values.channel
        execution = self._executions.running
        statements = self._statements(result)
        changes = self.take_changes(self._assigned(statements))
        report = {"k": "cell", "x": execution, "changes": changes, "types": self._types(changes)}
        hints = channel.copies.end()
        if hints:
            report["hints"] = hints[:MAX_HINTS]
        buffers, special = (), False
        self._print_shown_errors(result and (result.error_before_exec or result.error_in_exec))
        if result is not None:
            before, during = result.error_before_exec, result.error_in_exec
            error = before or during
            if error is not None:
                report["error"] = failure(error, f"cell-{self._count}.py", isinstance(before, SyntaxError))
                # Keep the error out of Jupyter's reply: it may be large, or its __str__ may fail.
                result.error_before_exec, result.error_in_exec = None, AlreadyReported()
            elif result.result is not None:
                self._record_value(result.result, report)
                coded = self._value(result.result)
                report["v"], buffers, special = coded.json, coded.buffers, coded.special
            elif statements and isinstance(statements[-1], ast.Expr) and not self._ends_with_semicolon:
                report["none"] = True
            if error is None and self._finish.text is not None:
                report["finish"] = self._finish.text
            # Release the last result, which may be large; the shell would hold it.
            self.shell.last_execution_result = None
        channel.objects.release_dropped()
        channel.output.drain()
        channel.recorded_env.end()
        self._executions.end()
        try:
            channel.send(report, buffers, special)
        except ValueError as error:
            channel.send({"k": "cell", "x": execution, "changes": {}, "error": failure(error)})

    def _record_value(self, value, report):
        """Makes a value the last one, and keeps it if it is shown in part."""
        namespace = self.shell.user_ns
        self._last_values.record(self._number, value)
        formatter = self._formatter
        if formatter.written is value and formatter.cut:
            report["cut"] = True
            if self._keep_as is not None and self._keep_as not in namespace:
                namespace[self._keep_as] = value
                self.mark_injected([self._keep_as])
                report["kept"] = self._keep_as
        formatter.written = None

    def forget(self, names):
        for name in names:
            self.shell.user_ns.pop(name, None)
            self._known_ids.pop(name, None)

    def _value(self, value):
        """Encodes small data as a copy, and any other value as a handle."""
        try:
            if _is_small(value):
                return self.values.encode(value)
        except Exception:
            # It cannot be copied, or one of its methods failed: send a handle.
            pass
        return self.values.encode_object(value)


class AlreadyReported(Exception):
    """Replaces an error in Jupyter's result after it was reported to the host."""


def failure(error, cell=None, syntax=False):
    """Describes an exception for the report: its text, the stack frames of cells, and the line in `cell`."""
    if syntax:
        reason = f"{type(error).__name__}: {error.msg}"
        return {"kind": "syntax", "message": reason, "line": error.lineno, "column": error.offset}
    trace = traceback.TracebackException.from_exception(error, compact=True)
    _trim(trace, set())
    cure = cure_for(error)
    text = "\n".join(filter(None, ["".join(trace.format()).rstrip(), cure]))
    message = "\n".join(filter(None, ["".join(traceback.format_exception_only(type(error), error)).strip(), cure]))
    kind = "memory" if isinstance(error, MemoryError) else "throw"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == cell]
    return {
        "kind": kind,
        "name": type(error).__name__,
        "message": message[:MAX_MESSAGE_LENGTH],
        "stack": text[-MAX_MESSAGE_LENGTH:],
        "line": lines[-1] if lines else None,
        "thrown": getattr(error, "_karst_thrown", None),
    }


def _trim(trace, seen):
    if trace is None or id(trace) in seen:
        return
    seen.add(id(trace))
    trace.stack[:] = _cell_frames(trace.stack)
    for other in (trace.__cause__, trace.__context__, *(getattr(trace, "exceptions", None) or ())):
        _trim(other, seen)


def _cell_frames(frames):
    return [frame for frame in frames if re.fullmatch(r"cell-\d+\.py|setup\.py", frame.filename)]


def _is_small(value, depth=0):
    """Estimates whether a value is small without walking all of a large one."""
    if isinstance(value, (HostObject, HostMethod)):
        return True
    if isinstance(value, (str, bytes, bytearray)):
        return len(value) <= MAX_VALUE_BYTES
    if hasattr(value, "nbytes"):
        return isinstance(value.nbytes, int) and value.nbytes <= MAX_VALUE_BYTES
    if type(value).__name__ == "DataFrame" and hasattr(value, "size"):
        return value.size <= 1000
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        if len(value) > 1000 or depth > 4:
            return False
        members = value.values() if isinstance(value, dict) else value
        return all(_is_small(member, depth + 1) for member in members)
    return True
