"""Finds the names that Python code binds, and normalizes dotted paths."""

import ast

# The path of the namespace of globals and built-ins.
NAMESPACE = ""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_bound_by(statement):
    """Yields the names that a top-level statement binds for certain."""
    kinds = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    if isinstance(statement, kinds):
        if not (isinstance(statement, ast.AnnAssign) and statement.value is None):
            yield from (name for node in targets_of(statement) for name in bound_names(node))


def targets_of(statement):
    if isinstance(statement, ast.Assign):
        return [node for target in statement.targets for node in ast.walk(target)]
    return list(ast.walk(statement.target)) if isinstance(statement, ast.AnnAssign) else [statement]


def bound_names(node):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name


def assigned_pairs(node):
    """Yields names with the expressions assigned to them, where the source pairs them up."""
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    else:
        return
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            for part, given in zip(target.elts, value.elts):
                if isinstance(part, ast.Name):
                    yield part.id, given


def local_names(scope):
    """Returns the local names of a function or comprehension. Python does not look these up in outer scopes."""
    if isinstance(scope, COMPREHENSIONS):
        return {name for part in scope.generators for node in ast.walk(part.target) for name in bound_names(node)}
    names, shared = {argument.arg for argument in ast.walk(scope.args) if isinstance(argument, ast.arg)}, set()
    pending = scope.body if isinstance(scope.body, list) else [scope.body]
    while pending:
        node, *pending = pending
        names.update(bound_names(node))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            shared.update(node.names)
        if not isinstance(node, FUNCTIONS + COMPREHENSIONS + (ast.ClassDef,)):
            pending.extend(ast.iter_child_nodes(node))
    return names - shared


def normalize_path(path):
    """Removes `builtins.` and `sys.modules.` from a path."""
    for root in ("builtins", "__builtins__"):
        if path == root:
            return NAMESPACE
        if path.startswith(f"{root}."):
            return normalize_path(path[len(root) + 1 :])
    if path.startswith("sys.modules."):
        return normalize_path(path[len("sys.modules.") :])
    return path


def join(path, name):
    return normalize_path(name if path == NAMESPACE else f"{path}.{name}")


def is_below(path, names):
    """Returns True if a path, or one of its parents, is among the names."""
    return path in names or any(path[:at] in names for at, letter in enumerate(path) if letter == ".")
