"""Declares the names of the namespace for the model: types, signatures, documentation and the shape of data. Values are
shown only if a sample was requested. The same namespace always produces the same text."""

import asyncio
import datetime
import enum
import inspect
import itertools
import types

from . import class_text, data_summary, type_names
from .declared_text import cut, doc_of, first_paragraph, one_line
from .type_names import type_text


def entry(name, value):
    type_name = type(value).__name__
    kind, text = _attempt(kind_of, value, "variable"), _attempt(type_text, value, type_name)
    return {"name": name, "kind": kind, "type": text, "size": _attempt(len, value, None)}


def _attempt(read, value, otherwise):
    """Returns `otherwise` if code of the value fails, such as its `__len__` or `__class__`."""
    try:
        return read(value)
    except Exception:
        return otherwise


def kind_of(value):
    if inspect.isclass(value) or type(value).__name__ == "HostClass":
        return "type"
    return "function" if inspect.isroutine(value) or type(value).__name__ == "HostFunction" else "variable"


def is_changeable(value):
    """Returns True if a value lives in the kernel and can be changed in place."""
    if isinstance(value, (tuple, frozenset)):
        return any(is_changeable(member) for member in value)
    fixed = (type(None), bool, int, float, complex, str, bytes, range, datetime.date, datetime.timedelta, types.ModuleType)
    return kind_of(value) == "variable" and type(value).__name__ != "HostObject" and not isinstance(value, fixed)


def describe(names, namespace, about):
    """Returns a declaration for each name, and those of the classes of their values. `about` has what the author of a
    name said about it."""
    # By the type: a value's own `__class__` may fail.
    bound = {id(namespace[name]): name for name in names if issubclass(type(namespace[name]), type)}
    classes = class_text.Classes(bound, names)
    texts = [_safe_declaration(name, namespace[name], about.get(name, {}), classes) for name in names]
    return {"names": texts, "classes": classes.texts()}


def _safe_declaration(name, value, about, classes):
    try:
        return declaration(name, value, about, classes)
    except Exception:
        # The value's own code failed, such as a property of a table.
        return f"{name}: {one_line(type(value).__name__)}"


def declaration(name, value, about, classes):
    description = about.get("description")
    if inspect.ismodule(value):
        return module_text(name, value)
    if inspect.isclass(value):
        return class_text.bound_class_text(name, value, about, classes)
    if inspect.isroutine(value):
        doc = description or (doc_of(value) if about.get("doc", True) else None)
        return class_text.function_text(name, value, cut(doc, MAX_DOC))
    summary = data_summary.summary(value)
    kind = about.get("type") or (summary.type if summary else type_text(value, classes))
    note = one_line(_sentence(description, summary.shape if summary else ""))
    lines = list(summary.lines) if summary else []
    lines += data_summary.sample_lines(name, value, about.get("sample") or 0)
    return "\n".join([f"{name}: {kind}" + (f"  # {note}" if note else ""), *(f"# {line}" for line in lines)])


MAX_DOC = 2000


def _sentence(description, shape):
    if not description or not shape:
        return description or shape
    return f"{description} {shape}" if description.rstrip().endswith((".", "!", "?", ":")) else f"{description}; {shape}"


def module_text(name, module):
    """Declares a module. The functions and classes of the user's own modules are listed."""
    path = one_line(module.__name__)
    head = f"import {path}" if path == name else f"import {path} as {name}"
    if not type_names.is_own_module(module):
        return head
    public = getattr(module, "__all__", None)
    members = [(key, vars(module)[key]) for key in public if key in vars(module)] if public else [
        (key, value)
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    shown = [text for text in (_module_member(name, key, value) for key, value in members) if text]
    lines = shown[: class_text.MAX_MEMBERS]
    if len(shown) > len(lines):
        lines.append(f"… {len(shown) - len(lines)} more")
    return "\n".join([head, *(f"# {line}" for line in lines)])


def _module_member(module, name, value):
    if not isinstance(name, str) or not name.isidentifier():
        return None
    if isinstance(value, enum.EnumMeta):
        return f"{module}.{name}: {', '.join(itertools.islice(value.__members__, class_text.MAX_MEMBERS))}"
    if inspect.isclass(value) or inspect.isroutine(value):
        doc = first_paragraph(doc_of(value))
        signature = class_text.signature_text(value)
        return f"{module}.{name}{signature}" + (f": {doc}" if doc else "")
    return None


def short_type(value):
    """Returns the type of a value in a few words, for the note after a cell."""
    try:
        if inspect.isclass(value):
            return "class"
        if inspect.iscoroutine(value) or inspect.isawaitable(value):
            return f"{type(value).__name__} ({'done' if _is_done(value) else 'not awaited'})"
        text = type_text(value)
        if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > 0:
            return f"{text} ({len(value):,})"
        # Reading it from any other object could run code of a cell or a call of the host.
        shape = getattr(value, "shape", None) if type_names.is_library(type(value).__module__) else None
        if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
            return f"{text} ({' x '.join(map(str, shape))})"
        return text
    except Exception:
        return type(value).__name__


def _is_done(value):
    """Returns True for a task or coroutine that has ended."""
    if inspect.iscoroutine(value):
        return inspect.getcoroutinestate(value) == inspect.CORO_CLOSED
    return isinstance(value, asyncio.Future) and value.done()
