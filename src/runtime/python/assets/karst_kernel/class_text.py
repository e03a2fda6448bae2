"""Declares classes and functions: signatures with their defaults, members, and the first paragraph of their
documentation."""

import dataclasses
import enum
import functools
import inspect
import itertools
import re
import types

from .declared_text import body_text, cut, doc_of, doc_text, first_paragraph, one_line
from .type_names import class_path, is_familiar, type_text, without_internal_modules

MAX_MEMBERS = 40
MAX_CLASSES = 20
# The length of the members of a class together.
MAX_LENGTH = 12_000
MAX_DEFAULT = 60
MAX_ANNOTATION = 200
# Special methods that say how to use an object.
OPERATORS = ("__call__", "__getitem__", "__setitem__", "__contains__", "__len__", "__iter__", "__enter__")


class Classes:
    """The classes of values, declared at first use. `bound` has the names of classes that are declared anyway, by id;
    `taken` has all names that are declared."""

    def __init__(self, bound, taken):
        self._names = dict(bound)
        self._taken = set(taken)
        self._found = []
        self._finding = True

    def name_of(self, kind, instance):
        """Returns the name under which a class is declared; None if the model knows the class by its path."""
        name = self._names.get(id(kind))
        if name is not None or not self._finding or is_familiar(kind.__module__) or len(self._found) >= MAX_CLASSES:
            return name
        own = kind.__name__
        if not own.isidentifier():
            return None
        name = own
        number = 2
        while name in self._taken:
            name, number = f"{own}{number}", number + 1
        self._names[id(kind)] = name
        self._taken.add(name)
        self._found.append((name, kind, instance))
        return name

    def is_bound(self, kind):
        return id(kind) in self._names

    def texts(self):
        """Returns the declarations of the classes that were found, and of the classes of their attributes."""
        direct = list(self._found)
        texts = [self._text(*found) for found in direct]
        inner = self._found[len(direct) :]
        self._finding = False
        return texts + [self._text(*found) for found in inner]

    def _text(self, name, kind, instance):
        try:
            path = class_path(kind)
            note = "" if path == kind.__name__ else f"  # {path}"
            return _class_block(name, kind, first_paragraph(_class_doc(kind)), self, instance, note=note)
        except Exception:
            return f"class {name}: ..."


def bound_class_text(name, kind, about, classes):
    doc = about.get("description") or (_class_doc(kind) if about.get("doc", True) else None)
    if not about.get("schema", True):
        head = f"class {name}{_bases_text(kind, classes)}:"
        return f"{head}\n{doc_text(cut(doc, 2000), '    ')}" if doc else f"{head} ..."
    return _class_block(name, kind, cut(doc, 2000), classes)


def function_text(name, function, doc, indent=""):
    prefix = "async def" if inspect.iscoroutinefunction(function) else "def"
    return f"{indent}{prefix} {name}{signature_text(function)}:" + body_text(doc, indent + "    ")


def signature_text(function):
    try:
        signature = inspect.signature(function)
    except Exception:
        return "(...)"
    empty = inspect.Parameter.empty
    parameters = [
        parameter.replace(
            default=empty if parameter.default is empty else _Shown(default_text(parameter.default)),
            annotation=empty if parameter.annotation is empty else _Shown(annotation_text(parameter.annotation)),
        )
        for parameter in signature.parameters.values()
    ]
    returns = signature.return_annotation
    if inspect.isclass(function) or returns is empty:
        shown = empty
    else:
        shown = _Shown(annotation_text(returns))
    return one_line(str(signature.replace(parameters=parameters, return_annotation=shown)))


class _Shown:
    """A text in the place of a value in a signature."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def default_text(value):
    """Returns a default as Python writes it. The text of any other object could differ between processes."""
    if isinstance(value, enum.Enum):
        return one_line(f"{type(value).__name__}.{value.name}")
    if inspect.isclass(value) or inspect.isroutine(value):
        name = getattr(value, "__name__", "...")
        return name if name.isidentifier() else "..."
    if not _is_literal(value, 3):
        return "..."
    text = repr(value)
    return text if len(text) <= MAX_DEFAULT else "..."


def _is_literal(value, depth):
    kind = type(value)
    if kind in (str, bytes):
        return len(value) <= MAX_DEFAULT
    if kind is int:
        return value.bit_length() < 200
    if kind in (type(None), bool, float, complex, type(...)):
        return True
    if depth == 0 or kind not in (tuple, list, dict) or len(value) > 20:
        return False
    members = [*value.keys(), *value.values()] if kind is dict else value
    return all(_is_literal(member, depth - 1) for member in members)


def annotation_text(kind):
    try:
        text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    except Exception:
        return "Any"
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", without_internal_modules(one_line(text)))
    return "Any" if len(text) > MAX_ANNOTATION or re.search(r" at 0x[0-9a-f]+", text) else text


def _class_doc(kind):
    doc = doc_of(kind)
    # The generated docstring of a dataclass is only its signature.
    return None if doc and doc.startswith(f"{kind.__name__}(") else doc


def _class_block(name, kind, doc, classes, instance=None, note=""):
    own = vars(kind)
    decorator = "@dataclass\n" if "__dataclass_fields__" in own and not isinstance(kind, enum.EnumMeta) else ""
    head = f"{decorator}class {name}{_bases_text(kind, classes)}:"
    lines = [doc_text(doc, "    ")] if doc else []
    lines += _member_lines(kind, classes, instance)
    return "\n".join([head + note, *lines]) if lines else f"{head} ...{note}"


def _shown_with(kind, classes):
    """Returns the class and those of its bases whose members are shown with it, because nothing else declares them."""
    declared = {base for each in kind.__mro__[1:] if classes.is_bound(each) for base in each.__mro__}
    return [kind] + [base for base in kind.__mro__[1:] if base not in declared and not is_familiar(base.__module__)]


def _bases_text(kind, classes):
    merged = _shown_with(kind, classes)
    bases = [base for each in merged for base in each.__bases__ if base is not object and base not in merged]
    names = dict.fromkeys(classes.name_of(base, None) or one_line(base.__name__) for base in bases)
    return f"({', '.join(names)})" if names else ""


def _member_lines(kind, classes, instance):
    if isinstance(kind, enum.EnumMeta):
        lines = [f"    {name} = {default_text(member.value)}" for name, member in kind.__members__.items()]
        return _limited(lines)
    fields, methods = {}, {}
    for each in _shown_with(kind, classes):
        _add_members(each, fields, methods, instance, classes)
    _add_attributes(instance, fields, methods, classes)
    return _limited([*fields.values(), *methods.values()])


def _limited(lines):
    lengths = itertools.accumulate(map(len, lines))
    shown = [line for line, length in zip(lines[:MAX_MEMBERS], lengths) if length <= MAX_LENGTH]
    rest = len(lines) - len(shown)
    return [*shown, f"    # … {rest:,} more members"] if rest else lines


def _add_members(kind, fields, methods, instance, classes):
    is_dataclass = "__dataclass_fields__" in vars(kind)
    for name, annotation in inspect.get_annotations(kind).items():
        if _is_shown(name) and name not in fields:
            fields[name] = f"    {name}: {annotation_text(annotation)}{_field_default(kind, name) if is_dataclass else ''}"
    for name, member in vars(kind).items():
        # A class that a cell can call shows its constructor.
        is_constructor = name == "__init__" and instance is None and not is_dataclass
        if not (_is_shown(name) or name in OPERATORS or is_constructor) or name in methods or name in fields:
            continue
        text = _member_text(name, member, instance, classes)
        if text is not None:
            (methods if text.lstrip().startswith(("def", "async", "@")) else fields)[name] = text


def _is_shown(name):
    return isinstance(name, str) and name.isidentifier() and not name.startswith("_")


def _field_default(kind, name):
    field = vars(kind)["__dataclass_fields__"].get(name)
    if field is None or (field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING):
        return ""
    return f" = {'...' if field.default is dataclasses.MISSING else default_text(field.default)}"


def _member_text(name, member, instance, classes):
    decorator = ""
    if isinstance(member, types.MemberDescriptorType):
        return f"    {name}: {_slot_type(member, instance, classes)}"
    if isinstance(member, (property, functools.cached_property)):
        return _property_text(name, member)
    if isinstance(member, (staticmethod, classmethod)):
        decorator = f"    @{type(member).__name__}\n"
        member = member.__func__
    if not isinstance(member, types.FunctionType) and not (inspect.isroutine(member) and _is_shown(name)):
        return None
    return decorator + function_text(name, member, first_paragraph(doc_of(member)), "    ")


def _slot_type(member, instance, classes):
    try:
        return type_text(member.__get__(instance), classes)
    except Exception:
        return "Any"


def _property_text(name, member):
    getter = member.fget if isinstance(member, property) else member.func
    try:
        annotation = annotation_text(inspect.get_annotations(getter)["return"])
    except Exception:
        annotation = "Any"
    read_only = isinstance(member, property) and member.fset is None
    notes = [note for note in ["read-only" if read_only else "", first_paragraph(doc_of(getter))] if note]
    return f"    {name}: {annotation}" + (f"  # {': '.join(notes)}" if notes else "")


def _add_attributes(instance, fields, methods, classes):
    """Adds the attributes that only the instance has, by their types."""
    try:
        attributes = object.__getattribute__(instance, "__dict__")
    except AttributeError:
        return
    for name, value in attributes.items() if type(attributes) is dict else ():
        if _is_shown(name) and name not in fields and name not in methods:
            fields[name] = f"    {name}: {type_text(value, classes)}"
