"""Host functions where Python expects something to await. A plain call of a host function waits for its result, so cells are
rewritten: `await f(x)` and `asyncio.gather(f(x), f(y))` make calls that let other tasks run meanwhile."""

import ast
import asyncio
import builtins
import os

from .objects import HostFunction, HostMethod

AWAITED = "__karst_await__"
TAKEN = "__karst_await_for__"
# Functions of asyncio that take awaitables.
TAKERS = {"gather", "wait", "wait_for", "shield", "as_completed", "create_task", "ensure_future"}


def install(shell):
    shell.ast_transformers.append(Awaits())
    setattr(builtins, AWAITED, awaitable)
    setattr(builtins, TAKEN, awaitable_for)


def awaitable(function, *args, **kwargs):
    """What `await function(…)` in a cell awaits: for a host function, the call that lets other tasks run."""
    return (function.async_ if isinstance(function, (HostFunction, HostMethod)) else function)(*args, **kwargs)


def awaitable_for(taker, function, *args, **kwargs):
    """What `taker(function(…))` in a cell passes on: something to await, where a function of asyncio takes it."""
    is_host = isinstance(function, (HostFunction, HostMethod))
    if not is_host or not (getattr(taker, "__module__", None) or "").startswith("asyncio"):
        return function(*args, **kwargs)
    answer = function.async_(*args, **kwargs)
    return _coroutine(answer) if getattr(taker, "__name__", "") == "create_task" else answer


async def _coroutine(answer):
    return await answer


def explain(error):
    """Adds the cure to an error of asyncio for a result in the place of something to await."""
    if not isinstance(error, TypeError) or not hasattr(error, "add_note"):
        return
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and os.path.dirname(last.tb_frame.f_code.co_filename) == os.path.dirname(asyncio.__file__):
        error.add_note(
            "asyncio was given a value that cannot be awaited. A call of a host function gives its result; "
            "write f.async_(x) in the place of f(x) to get something to await."
        )


class Awaits(ast.NodeTransformer):
    def visit_Await(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and not _is_ours(node.value):
            node.value = _call(AWAITED, [], node.value)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if name in TAKERS and _is_path(node.func):
            node.args = [self._taken(arg, node.func) for arg in node.args]
        return node

    def _taken(self, node, taker):
        """An argument of `taker`: calls in it, also in lists and comprehensions, give something to await."""
        if isinstance(node, ast.Call) and not _is_ours(node):
            return _call(TAKEN, [taker], node)
        if isinstance(node, ast.Starred):
            node.value = self._taken(node.value, taker)
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            node.elts = [self._taken(element, taker) for element in node.elts]
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            node.elt = self._taken(node.elt, taker)
        return node


def _call(name, first, call):
    function = ast.copy_location(ast.Name(name, ast.Load()), call.func)
    return ast.copy_location(ast.Call(function, [*first, call.func, *call.args], call.keywords), call)


def _is_ours(call):
    return isinstance(call.func, ast.Name) and call.func.id in (AWAITED, TAKEN)


def _is_path(node):
    """Whether an expression is a name or members of one, which can be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
