"""Runs the Python modules of skills. A module runs once; either all or none of its exports go into the namespace."""

import contextlib
import itertools
import keyword
import sys
import traceback
import types

# Imported now, while its folder is on sys.path; modules of skills then find it in sys.modules.
import karst

_numbers = itertools.count(1)


class ModuleFailed(Exception):
    pass


def run(code, file):
    """Runs a module and returns its exports. Its name is unique, because dataclasses and pickle look it up."""
    name = f"karst_skill_{next(_numbers)}"
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = file
    try:
        with cave_agent_modules():
            exec(compile(code, file, "exec"), module.__dict__)
        return _exports(module)
    except ModuleFailed:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        raise ModuleFailed(_explain(error, file)) from error


@contextlib.contextmanager
def cave_agent_modules():
    """Lets a module import `Function`, `Variable` and `Type` from cave_agent, so that skills written for CaveAgent load
    unchanged. Cells do not see these modules, and see CaveAgent itself if it is installed."""
    before = {name: found for name, found in sys.modules.items() if name.partition(".")[0] == "cave_agent"}
    for name in before:
        del sys.modules[name]
    sys.modules["cave_agent"] = _CaveAgentModule("cave_agent")
    sys.modules["cave_agent.runtime"] = sys.modules["cave_agent"].runtime = _CaveAgentModule("cave_agent.runtime")
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "cave_agent"]:
            del sys.modules[name]
        sys.modules.update(before)


class _CaveAgentModule(types.ModuleType):
    __path__ = ()
    Function, Variable, Type = karst.Function, karst.Variable, karst.Type
    __all__ = ("Function", "Variable", "Type")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(
            f"{self.__name__}.{name} is not available: of CaveAgent, a skill can import Function, Variable and Type"
        )


def problems(exports, taken):
    """Yields a reason for each export that cannot be bound."""
    names = [export.name for export in exports]
    for name in dict.fromkeys(names):
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            yield f"{name!r} is not a name"
        elif name.startswith("_"):
            yield f"{name!r} begins with an underscore"
        elif name == "finish":
            yield f"{name!r} is the function with which a cell ends its run; choose another name"
        elif names.count(name) > 1:
            yield f"{name!r} is exported twice"
        elif name in taken:
            yield f"{name!r} is already there"


def _exports(module):
    exports = getattr(module, "__exports__", None)
    if not isinstance(exports, (list, tuple)):
        raise ModuleFailed("it defines no list __exports__ of Function, Variable and Type (from karst)")
    if not exports:
        raise ModuleFailed("it exports nothing to bind")
    for at, export in enumerate(exports):
        if not isinstance(export, (karst.Function, karst.Variable, karst.Type)):
            kind = type(export).__name__
            raise ModuleFailed(f"__exports__[{at}] is a {kind}, and not a Function, Variable or Type (from karst)")
    return exports


def _explain(error, file):
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return f"{message} (line {lines[-1]})" if lines else message
