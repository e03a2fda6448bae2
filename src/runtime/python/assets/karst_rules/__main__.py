"""Checks Python cells against rules by their syntax tree, without running them.

This program runs apart from the kernel, because cells can change the kernel. It reads one JSON object per line,
{"id", "code", "rules"}, and answers each with {"id", "violations"}.
"""

import ast
import json
import sys

from facts import LOADERS, Facts
from names import NAMESPACE, is_below

# Functions and modules that create modules other than by name.
MODULE_MAKERS = {
    *("importlib._bootstrap", "importlib._bootstrap_external", "importlib.machinery", "importlib.util.module_from_spec"),
    *("importlib.util.spec_from_file_location", "runpy.run_path", "zipimport.zipimporter"),
}
# Objects whose members are loaders, or all loaded modules.
LOADER_HOLDERS = {NAMESPACE, "importlib", "sys.modules"}
# Modules that other modules import, and so expose as a member with the same name or with a leading `_`.
REEXPORTED = {"builtins", "ctypes", "importlib", "io", "os", "pathlib", "posix", "shutil", "socket", "subprocess", "sys"}


def check(code, rules):
    """Returns the violations in a cell, in source order. Code that cannot be checked is a violation."""
    lines = code.splitlines() or [""]
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        facts = Facts(compile(code, "<cell>", "exec", flags))
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        asks = lines[min(line, len(lines)) - 1].strip().strip(";")
        cure = "; write print(name.__doc__) in place of name?" if "?" in (asks[:1], asks[-1:]) else ""
        problem = f"this is not Python ({error.msg}), so it cannot be checked; shell commands and magics are not allowed{cure}"
        return [{"rule": "syntax", "message": problem, "line": line, "column": max(error.offset or 1, 1)}]
    except Exception as error:
        problem = f"the cell could not be checked, so nothing is run: {type(error).__name__}: {error}"
        return [{"rule": "syntax", "message": problem, "line": 1, "column": 1}]
    found = {}
    for rule in rules:
        for node, message in CHECKS[rule["kind"]](facts, rule):
            before = lines[min(node.lineno, len(lines)) - 1].encode()[: node.col_offset].decode(errors="replace")
            place = (node.lineno, len(before.encode("utf-16-le")) // 2 + 1)
            violation = {"rule": rule["kind"], "message": message, "line": place[0], "column": place[1]}
            found.setdefault((*place, message), violation)
    return [found[key] for key in sorted(found)]


def import_rule(facts, rule):
    names, only = set(rule["names"]), rule["only"]
    for modules, node in facts.imports:
        if modules is None:
            yield node, "which module this loads cannot be checked; write its name as a string"
        elif any(is_below(module, names) for module in modules) == only:
            continue
        else:
            yield node, with_description(f'the module "{modules[-1]}" is not allowed', rule)
    for path, node, use in facts.names:
        if path in LOADER_HOLDERS and use in ("value", "call", "computed"):
            yield node, escape_message(path, use)
        elif use not in ("alias", "load", "test") and is_below(path, LOADERS | MODULE_MAKERS):
            yield node, f"`{path}` loads modules; what it loads here cannot be checked"
        for step in path.split(".")[1:]:
            reexported = step.lstrip("_")
            if reexported in REEXPORTED and (reexported in names) != only and path.split(".")[0] in facts.modules:
                yield node, with_description(f'the module "{reexported}" is not allowed', rule)


def function_rule(facts, rule):
    refused, excepted = set(rule["names"]), set(rule["except"])
    holders = {NAMESPACE} | {name[:at] for name in refused for at, letter in enumerate(name) if letter == "."}
    for whole, node, use in facts.names:
        for path in (whole, *reexported_paths(whole, facts)):
            if path in holders and use in ("value", "call", "computed"):
                yield node, escape_message(path, use)
            elif use != "test" and is_below(path, refused) and not is_below(path, excepted):
                yield node, with_description(f"`{path}` is not allowed", rule)


def reexported_paths(path, facts):
    """Yields shorter paths through re-exported modules: `shutil.os.system` is `os.system`."""
    root, *steps = path.split(".")
    if root in facts.modules:
        for at, step in enumerate(steps):
            if step.lstrip("_") in REEXPORTED:
                yield ".".join([step.lstrip("_"), *steps[at + 1 :]])


def attribute_rule(facts, rule):
    refused = set(rule["names"])
    for name, node in facts.members:
        if name in refused:
            yield node, with_description(f"the member `{name}` is not allowed", rule)


CHECKS = {"import": import_rule, "function": function_rule, "attribute": attribute_rule}


def with_description(what, rule):
    return f"{what}: {rule['description']}" if rule.get("description") else what


def escape_message(path, use):
    name = path or "globals()"
    if use == "computed":
        return f"which member of `{name}` this is cannot be checked; write its name"
    return f"`{name}` is handed on as a whole, which cannot be checked; use its members by name"


if __name__ == "__main__":
    for request in sys.stdin:
        question = json.loads(request)
        sys.stdout.write(json.dumps(check(question["code"], question["rules"])) + "\n")
        sys.stdout.flush()
