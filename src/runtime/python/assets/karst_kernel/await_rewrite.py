"""Rewrites awaited calls in cells. A plain call of a host function blocks until its result is there. In `await f(x)`
and `asyncio.gather(f(x), f(y))` the rewritten call returns an awaitable, so that other tasks run meanwhile. A script's
`asyncio.run(main())` at the top level becomes `await main()`, because cells run in an event loop already."""

import ast
import builtins
import inspect
import re

from .objects import HostFunction, HostMethod, HostObject

AWAITED_CALL = "__karst_await__"
AWAITED_ARGUMENT = "__karst_await_for__"
AWAITED_MEMBER = "__karst_await_member__"
# asyncio functions whose arguments are awaitables.
AWAITABLE_CONSUMERS = {"gather", "wait", "wait_for", "shield", "as_completed", "create_task", "ensure_future"}


def install(shell):
    rewriter = AwaitRewriter()
    shell.ast_transformers.append(rewriter)
    setattr(builtins, AWAITED_CALL, awaitable_call)
    setattr(builtins, AWAITED_ARGUMENT, awaitable_argument)
    setattr(builtins, AWAITED_MEMBER, awaitable_member)
    should_run_async = shell.should_run_async

    def may_await(code, **more):
        """The shell asks this before it parses a cell, and runs the cell with `await` only if the answer is True."""
        rewriter.replaces_runs = bool(RUNS_LOOP.search(code))
        return rewriter.replaces_runs or should_run_async(code, **more)

    shell.should_run_async = may_await


RUNS_LOOP = re.compile(r"\basyncio\s*\.\s*run\s*\(|\.\s*run_until_complete\s*\(")


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


def awaitable_member(owner, name):
    """Replaces `owner.name` after `await`. The value of a host object's member is there already."""
    member = getattr(owner, name)
    return _value(member) if isinstance(owner, HostObject) and not inspect.isawaitable(member) else member


async def _coroutine(answer):
    return await answer


async def _value(value):
    return value


class AwaitRewriter(ast.NodeTransformer):
    # Whether `asyncio.run(…)` in the next code becomes an `await`. Code that a magic runs (`%%time`) cannot await.
    replaces_runs = False
    # How many functions, classes and comprehensions contain the node; 1 is added if nothing is to become an `await`.
    depth = 0

    def visit_Module(self, node):
        self.depth, self.replaces_runs = 0 if self.replaces_runs else 1, False
        return self.generic_visit(node)

    def visit_scope(self, node):
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_scope
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_scope

    def visit_Await(self, node):
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Call) and not _is_rewritten(value):
            node.value = _call(AWAITED_CALL, [], value)
        # Python changes the names of private members (`self.__name`) inside a class.
        elif isinstance(value, ast.Attribute) and not value.attr.startswith("__"):
            function = ast.copy_location(ast.Name(AWAITED_MEMBER, ast.Load()), value)
            name = ast.copy_location(ast.Constant(value.attr), value)
            node.value = ast.copy_location(ast.Call(function, [value.value, name], []), value)
        return node

    def visit_Call(self, node):
        if self.depth == 0 and _runs_loop(node):
            return self.visit_Await(ast.copy_location(ast.Await(node.args[0]), node))
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


def _runs_loop(call):
    """Returns True for `asyncio.run(…)` and `loop.run_until_complete(…)`."""
    function = call.func
    if not isinstance(function, ast.Attribute) or len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return False
    is_module = isinstance(function.value, ast.Name) and function.value.id == "asyncio"
    return function.attr == "run_until_complete" or (function.attr == "run" and is_module)


def _is_dotted_name(node):
    """Returns True for a dotted name, which can be evaluated twice without side effects."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
