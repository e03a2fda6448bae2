"""Evaluates expressions that always result in the same string."""

import ast

MAX_TEXT = 10_000
TEXT_METHODS = {"casefold", "decode", "encode", "join", "lower", "removeprefix", "removesuffix", "replace", "strip", "upper"}
BUILTINS = {"chr": chr, "str": str, "reversed": lambda text: list(reversed(text))}


def text_of(node, texts):
    """Returns the constant string of an expression, or None. `texts` maps names to their constant strings."""
    try:
        value = constant(node, texts)
    except Exception:
        return None
    return value if isinstance(value, str) else None


def constant(node, texts):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return texts[node.id]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [constant(element, texts) for element in node.elts]
    if isinstance(node, ast.JoinedStr):
        return limit_length("".join(str(constant(part, texts)) for part in node.values))
    if isinstance(node, ast.FormattedValue) and node.format_spec is None and node.conversion == -1:
        return constant(node.value, texts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -constant(node.operand, texts)
    if isinstance(node, ast.BinOp):
        left, right = constant(node.left, texts), constant(node.right, texts)
        if isinstance(node.op, ast.Add):
            return limit_length(left + right)
        if isinstance(node.op, ast.Mult) and max(len(str(left)), len(str(right))) < 100:
            return limit_length(left * min(right, 1000) if isinstance(right, int) else right * min(left, 1000))
        if isinstance(node.op, ast.Mod) and isinstance(left, str) and "*" not in left and not any(map(str.isdigit, left)):
            return limit_length(left % (tuple(right) if isinstance(right, list) else right))
    if isinstance(node, ast.Subscript):
        return constant(node.value, texts)[constant(node.slice, texts)]
    if isinstance(node, ast.Slice):
        return slice(*(part and constant(part, texts) for part in (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Call) and not node.keywords:
        values = [constant(argument, texts) for argument in node.args]
        if isinstance(node.func, ast.Name):
            return BUILTINS[node.func.id](*values)
        if node.func.attr in TEXT_METHODS:
            return limit_length(getattr(constant(node.func.value, texts), node.func.attr)(*values))
    raise ValueError("no constant")


def limit_length(value):
    if not isinstance(value, int) and len(value) > MAX_TEXT:
        raise ValueError("too long")
    return value
