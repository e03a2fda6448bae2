"""Rewrites awaited calls in cells. A plain call of a host function blocks until its result is there. In `await f(x)`
and `asyncio.gather(f(x), f(y))` the rewritten call returns an awaitable, so that other tasks run meanwhile."""

import ast
import asyncio
import builtins
import os

from .objects import HostFunction, HostMethod

AWAITED_CALL = "__karst_await__"
AWAITED_ARGUMENT = "__karst_await_for__"
# asyncio functions whose arguments are awaitables.
AWAITABLE_CONSUMERS = {"gather", "wait", "wait_for", "shield", "as_completed", "create_task", "ensure_future"}


def install(shell):
    shell.ast_transformers.append(AwaitRewriter())
    setattr(builtins, AWAITED_CALL, awaitable_call)
    setattr(builtins, AWAITED_ARGUMENT, awaitable_argument)


def awaitable_call(function, *args, **kwargs):
    """Replaces `function(…)` after `await`. For a host function it makes the asynchronous call."""
    return (function.async_ if isinstance(function, (HostFunction, HostMethod)) else function)(*args, **kwargs)


def awaitable_argument(consumer, function, *args, **kwargs):
    """Replaces `function(…)` as an argument of `consumer`. For a host function and asyncio, returns an awaitable."""
    is_host = isinstance(function, (HostFunction, HostMethod))
    if not is_host or not (getattr(consumer, "__module__", None) or "").startswith("asyncio"):
        return function(*args, **kwargs)
    answer = function.async_(*args, **kwargs)
    return _coroutine(answer) if getattr(consumer, "__name__", "") == "create_task" else answer


async def _coroutine(answer):
    return await answer


def explain_missing_awaitable(error):
    """Adds a note to a TypeError that asyncio raised because it got a result instead of an awaitable."""
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


class AwaitRewriter(ast.NodeTransformer):
    def visit_Await(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and not _is_rewritten(node.value):
            node.value = _call(AWAITED_CALL, [], node.value)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if name in AWAITABLE_CONSUMERS and _is_dotted_name(node.func):
            node.args = [self._rewrite_argument(arg, node.func) for arg in node.args]
        return node

    def _rewrite_argument(self, node, consumer):
        """Rewrites the calls in an argument of `consumer`, also inside lists and comprehensions."""
        if isinstance(node, ast.Call) and not _is_rewritten(node):
            return _call(AWAITED_ARGUMENT, [consumer], node)
        if isinstance(node, ast.Starred):
            node.value = self._rewrite_argument(node.value, consumer)
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            node.elts = [self._rewrite_argument(element, consumer) for element in node.elts]
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            node.elt = self._rewrite_argument(node.elt, consumer)
        return node


def _call(name, first, call):
    function = ast.copy_location(ast.Name(name, ast.Load()), call.func)
    return ast.copy_location(ast.Call(function, [*first, call.func, *call.args], call.keywords), call)


def _is_rewritten(call):
    return isinstance(call.func, ast.Name) and call.func.id in (AWAITED_CALL, AWAITED_ARGUMENT)


def _is_dotted_name(node):
    """Returns True for a dotted name, which can be evaluated twice without side effects."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
