"""Describes the namespace to people and to the model: names, types and documentation, never values."""

import datetime
import inspect
import itertools
import re
import sys
import types


def entry(name, value):
    size = None
    try:
        size = len(value)
    except Exception:
        pass
    return {"name": name, "kind": kind_of(value), "type": type_text(value), "size": size}


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


def declaration(name, value, wanted):
    about = wanted["about"].get(name, {})
    description = about.get("description")
    if inspect.ismodule(value):
        module = value.__name__
        return f"import {module}" + ("" if module == name else f" as {name}")
    if inspect.isclass(value):
        return class_text(name, value, about)
    if inspect.isroutine(value):
        return function_text(name, value, description or (doc_of(value) if about.get("doc", True) else None))
    note = one_line(" ".join(filter(None, [description, columns_text(value)])))
    return f"{name}: {about.get('type') or type_text(value)}" + (f"  # {note}" if note else "")


def function_text(name, function, doc, indent=""):
    prefix = "async def" if inspect.iscoroutinefunction(function) else "def"
    return f"{indent}{prefix} {name}{signature_text(function)}:" + body_text(doc, indent + "    ")


def signature_text(function):
    try:
        return without_internal_modules(str(inspect.signature(function)).replace("'", ""))
    except (TypeError, ValueError):
        return "(...)"


def class_text(name, cls, about):
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
    doc = about.get("description") or (doc_of(cls) if about.get("doc", True) else None)
    # The generated docstring of a dataclass is only its signature.
    if doc and doc.startswith(f"{cls.__name__}("):
        doc = None
    lines = [doc_text(doc, "    ")] if doc else []
    if about.get("schema", True):
        lines += members(cls)
    return "\n".join([head, *lines]) if lines else f"{head} ..."


def members(cls):
    lines = []
    if hasattr(cls, "__members__"):
        return [f"    {name} = {member.value!r}" for name, member in cls.__members__.items()]
    for name, kind in inspect.get_annotations(cls).items():
        if not name.startswith("_"):
            lines.append(f"    {name}: {annotation_text(kind)}")
    for name, member in vars(cls).items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, (staticmethod, classmethod)):
            lines.append(f"    @{type(member).__name__}")
            member = member.__func__
        elif isinstance(member, property):
            lines.append("    @property")
            member = member.fget
        if isinstance(member, types.FunctionType):
            lines.append(function_text(name, member, first_paragraph(doc_of(member)), "    "))
    return lines


def annotation_text(kind):
    return kind if isinstance(kind, str) else without_internal_modules(inspect.formatannotation(kind))


def without_internal_modules(text):
    """Removes module names that cells cannot use: `__main__` and the modules of skills."""
    return re.sub(r"\b(__main__|karst_skill_\d+)\.", "", text)


def doc_of(value):
    # Not inspect.getdoc(), which also returns inherited documentation.
    doc = getattr(value, "__doc__", None)
    return inspect.cleandoc(doc) if isinstance(doc, str) and doc.strip() else None


def first_paragraph(doc):
    return doc.split("\n\n")[0] if doc else None


def doc_text(doc, indent):
    """A docstring that no text can end, of the lines of the text."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", " ", re.sub("\r\n?|[\u2028\u2029]", "\n", doc.strip()))
    body = text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n" + indent)
    return f'{indent}"""{body}{" " if body.endswith(chr(34)) else ""}"""'


def one_line(text):
    """A text for a comment: one line without control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()


def body_text(doc, indent):
    return "\n" + doc_text(doc, indent) if doc else " ..."


def type_text(value, depth=0):
    """Returns the type of a value as Python source, judged by its first members."""
    kind = type(value)
    if kind.__name__ in ("HostObject", "HostClass"):
        return vars(value)["_karst_shape"]["name"]
    if inspect.isclass(value):
        return "type"
    if inspect.isroutine(value) or kind.__name__ == "HostFunction":
        return "function"
    if value is None:
        return "None"
    if depth < 2 and kind in (list, set, frozenset, tuple) and len(value) > 0:
        found = union_text([type_text(member, depth + 1) for member in itertools.islice(value, 20)])
        return f"tuple[{found}, ...]" if kind is tuple else f"{kind.__name__}[{found}]"
    if depth < 2 and kind is dict and value:
        some = list(itertools.islice(value.items(), 20))
        keys = union_text([type_text(key, depth + 1) for key, _ in some])
        return f"dict[{keys}, {union_text([type_text(member, depth + 1) for _, member in some])}]"
    module = kind.__module__.partition(".")[0]
    return kind.__qualname__ if module == "builtins" else without_internal_modules(f"{module}.{kind.__qualname__}")


def short_type(value):
    """Returns the type of a value in a few words, for the note after a cell."""
    try:
        if inspect.isclass(value):
            return "class"
        if inspect.iscoroutine(value) or inspect.isawaitable(value):
            return f"{type(value).__name__} (not awaited)"
        text = type_text(value)
        # To read a member of a host object would be an operation on it.
        if type(value).__name__ in ("HostObject", "HostFunction", "HostClass"):
            return text
        if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > 0:
            return f"{text} ({len(value):,})"
        # A host object has no such member in its class: reading it would be an operation on the host.
        shape = value.shape if hasattr(type(value), "shape") else None
        if isinstance(shape, tuple) and all(isinstance(size, int) for size in shape):
            return f"{text} ({' x '.join(map(str, shape))})"
        return text
    except Exception:
        return type(value).__name__


def union_text(parts):
    return " | ".join(dict.fromkeys(parts))


def columns_text(value):
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.DataFrame):
        return ""
    shown = [f"{name} {dtype}" for name, dtype in list(zip(value.columns, value.dtypes))[:50]]
    more = f", and {len(value.columns) - 50} more" if len(value.columns) > 50 else ""
    return f"columns: {', '.join(shown)}{more}"
