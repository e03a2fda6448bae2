"""Shows what a name is: `name?` prints its declaration and documentation, `name??` its source. Declarations look like
those that the model is given."""

import inspect
import re

from . import declarations
from .class_text import Classes, bound_class_text, function_text, signature_text
from .declared_text import body_text, doc_of, first_paragraph
from .objects import HostMethod, HostObject
from .show import show

MAX_CLASS_LENGTH = 3000
VALUE_BUDGET = 500


def install(shell):
    shell.register_magic_function(lambda text: _print(shell, text, describe), "line", "pinfo")
    shell.register_magic_function(lambda text: _print(shell, text, source), "line", "pinfo2")


def _print(shell, text, explain):
    try:
        code = compile(text.strip(), "name?", "eval")
    except SyntaxError:
        # A magic, or a keyword of Python.
        shell._inspect("pinfo", text)
        return
    print(explain(text.strip().rpartition(".")[2], eval(code, shell.user_ns)))


def describe(name, value):
    if is_host(value):
        return host_text(value)
    if inspect.ismodule(value):
        return _join(declarations.module_text(name, value), inspect.getdoc(value))
    if inspect.isclass(value):
        return class_text(name, value)
    if inspect.isroutine(value):
        return function_text(name, value, inspect.getdoc(value))
    described = declarations.describe([name], {name: value}, {})
    return _join(*described["names"], show(value, VALUE_BUDGET)[0], *described["classes"])


def source(name, value):
    if is_host(value):
        return host_text(value)
    try:
        found = value if inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value) else type(value)
        return inspect.getsource(found).rstrip()
    except (TypeError, OSError):
        return describe(name, value)


def class_text(name, cls):
    text = bound_class_text(name, cls, {}, Classes({}, [name]))
    if len(text) <= MAX_CLASS_LENGTH:
        return text
    signature = f"class {name}{signature_text(cls)}:"
    doc = body_text(first_paragraph(doc_of(cls)), "    ")
    return f"{signature}{doc}\n(dir({name}) lists its members; {name}.member? shows one.)"


def is_host(value):
    return isinstance(value, (HostObject, HostMethod))


def host_text(value):
    """Returns the declaration of a host object as the host writes it: of its binding, otherwise by its members."""
    owner, method = (value._karst_owner, value._karst_name) if isinstance(value, HostMethod) else (value, None)
    text = owner._karst_channel.operate("declare", owner).get("v") or _members_text(owner)
    return (method and _method_text(text, method)) or text


def _method_text(declaration, name):
    """Returns the lines of one method in the declaration of a class; None if it has none."""
    found = re.search(rf"^    (def {re.escape(name)}\(.*(?:\n {{8}}.*)*)", declaration, re.MULTILINE)
    return found and re.sub(r"^    ", "", found[1], flags=re.MULTILINE)


def _members_text(owner):
    shape = owner._karst_shape
    lines = [f"    {name}" for name in shape.get("values", ())]
    lines += [f"    def {name}(self, *args): ..." for name in sorted(shape["methods"])]
    return "\n".join([f"class {shape['name']}:", *lines]) if lines else f"class {shape['name']}: ..."


def _join(*texts):
    return "\n".join(filter(None, texts))
