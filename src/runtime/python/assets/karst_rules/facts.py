"""Collects from a cell's syntax tree how it uses modules, names and members that it did not define."""

import ast
import string

from constant_strings import text_of
from names import COMPREHENSIONS, FUNCTIONS, NAMESPACE, assigned_pairs, bound_names, join, local_names, names_bound_by
from names import normalize_path

LOADERS = {
    *("__import__", "__loader__.load_module", "importlib.__import__", "importlib.import_module", "importlib.util.find_spec"),
    *("pkgutil.find_loader", "pkgutil.get_loader", "pkgutil.resolve_name", "runpy.run_module"),
}
BASE_MEMBER_READERS = {"object.__getattribute__", "type.__getattribute__", "inspect.getattr_static"}
MEMBER_READERS = {"getattr", "hasattr", "setattr", "delattr", "object.__setattr__", *BASE_MEMBER_READERS}
MEMBER_READER_METHODS = {"__getattribute__", "__getattr__", "__setattr__", "__delattr__"}
MEMBER_GETTERS = {"operator.attrgetter", "operator.methodcaller"}
DICT_LOOKUPS = {"get", "pop", "setdefault", "__getitem__"}
HARMLESS_DICT_METHODS = {"keys", "update"}


class Facts:
    """The modules that a cell loads, its uses of outside names by path (`os.system`), and the members it uses."""

    def __init__(self, tree):
        self.imports, self.names, self.members = [], [], []
        # Names that refer to outside values, and names whose value is always the same string.
        self.aliases, self.texts = {}, {}
        self.modules = set()
        self.deleted = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
        self.own = {}
        self.scopes = []
        self.in_class = False
        for statement in tree.body:
            for name in names_bound_by(statement):
                self.own.setdefault(name, statement.lineno)
        self.collect(tree)
        for statement in tree.body:
            self.visit_below(statement)
        if any(use == "value" and path in MEMBER_READERS | MEMBER_GETTERS for path, _, use in self.names):
            self.record_all_strings(tree)

    def record_all_strings(self, tree):
        """Records every string as a member name: the cell passes on a function that reads members by name."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.record_dotted(node.value, node)

    def collect(self, tree):
        """Finds the aliases and constant strings anywhere in the cell. Chains of them need several rounds."""
        bound = [name for node in ast.walk(tree) for name in bound_names(node)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    target = alias.name if alias.asname else alias.name.split(".")[0]
                    self.alias(alias.asname or target, target)
                    self.modules.add(alias.name.split(".")[0])
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.modules.add(node.module.split(".")[0])
                for alias in node.names:
                    self.alias(alias.asname or alias.name, f"{node.module}.{alias.name}")
        pairs = [pair for node in ast.walk(tree) for pair in assigned_pairs(node)]
        for _ in range(4):
            for name, value in pairs:
                text = self.text(value)
                if text is not None and bound.count(name) == 1:
                    self.texts[name] = text
                for path in self.paths(value):
                    self.alias(name, path)

    def alias(self, name, path):
        self.aliases.setdefault(name, set()).add(normalize_path(path))

    # What expressions refer to.

    def paths(self, node):
        if isinstance(node, ast.Name):
            return self.paths_of_name(node)
        if isinstance(node, ast.Attribute):
            if node.attr == "__dict__":
                return self.paths(node.value)
            return {join(path, node.attr) for path in self.paths(node.value)}
        if isinstance(node, ast.Call):
            return self.paths_of_call(node)
        if isinstance(node, ast.Subscript) and self.is_namespace(node.value):
            key = self.text(node.slice)
            return set() if key is None else {join(path, key) for path in self.paths(node.value)}
        if isinstance(node, ast.NamedExpr):
            return self.paths(node.value)
        if isinstance(node, ast.IfExp):
            return self.paths(node.body) | self.paths(node.orelse)
        if isinstance(node, ast.BoolOp):
            return set().union(*map(self.paths, node.values))
        return set()

    def paths_of_name(self, node):
        aliased = self.aliases.get(node.id, set())
        if any(node.id in scope for scope in self.scopes):
            return aliased
        is_own = node.id in self.own and node.id not in self.deleted and self.own[node.id] < node.lineno
        return aliased if is_own else aliased | {normalize_path(node.id)}

    def paths_of_call(self, node):
        called, (first, second) = self.paths(node.func), (node.args + [None, None])[:2]
        if called & LOADERS:
            module = self.module_of(first)
            if module is None:
                return set()
            return {normalize_path(module.split(".")[0] if "__import__" in called else module)}
        if called & {"globals", "locals"} or ("vars" in called and first is None):
            return {NAMESPACE}
        if "vars" in called:
            return self.paths(first)
        if called & {"getattr", *BASE_MEMBER_READERS} and second is not None:
            key = self.text(second)
            return set() if key is None else {join(path, key) for path in self.paths(first)}
        if isinstance(node.func, ast.Attribute) and node.func.attr in MEMBER_READER_METHODS:
            key = self.text(first)
            return set() if key is None else {join(path, key) for path in self.paths(node.func.value)}
        if isinstance(node.func, ast.Attribute) and node.func.attr in DICT_LOOKUPS and self.is_namespace(node.func.value):
            key = self.text(first)
            return set() if key is None else {join(path, key) for path in self.paths(node.func.value)}
        if isinstance(node.func, ast.Call) and self.paths(node.func.func) & {"operator.attrgetter"} and first is not None:
            key = self.text((node.func.args + [None])[0])
            return set() if key is None else {join(path, key) for path in self.paths(first)}
        return set()

    def is_namespace(self, node):
        """Returns True if a node is a dictionary of names, such as `globals()`."""
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return True
        if isinstance(node, ast.Call) and self.paths(node.func) & {"vars", "globals", "locals"}:
            return True
        return bool(self.paths(node) & {NAMESPACE, "sys.modules"})

    def module_of(self, node):
        text = self.text(node)
        return text and text.replace(":", ".")

    def text(self, node):
        return text_of(node, self.texts)

    # How the cell uses them.

    def visit(self, node, use="value"):
        self.visit_below(node)
        for path in self.paths(node):
            self.names.append((path, node, use))

    def visit_below(self, node):
        """Records the uses below a node. The caller records the use of the node itself."""
        if isinstance(node, ast.Attribute):
            self.members.append((node.attr, node))
            return self.visit_below(node.value)
        if isinstance(node, ast.Call):
            return self.visit_call(node)
        if isinstance(node, ast.Subscript):
            if self.is_namespace(node.value):
                return self.key(node.value, node.slice, node)
            self.visit(node.value, "write" if isinstance(node.ctx, ast.Store) else "value")
            return self.visit(node.slice)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return self.visit_import(node)
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                self.visit(side, "test")
            return None
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                self.visit_below(target)
            is_alias = not self.in_class and all(isinstance(target, ast.Name) for target in targets)
            self.visit(node.value, "alias" if is_alias else "value")
            return self.visit(node.annotation) if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, FUNCTIONS + COMPREHENSIONS):
            return self.visit_scope(node)
        if isinstance(node, ast.MatchClass):
            self.members.extend((name, node) for name in node.kwd_attrs)
        self.visit_children(ast.iter_child_nodes(node), self.in_class or isinstance(node, ast.ClassDef))
        return None

    def visit_children(self, nodes, in_class):
        """Visits nodes. A name assigned in a class body is no alias: it can also be reached through the class."""
        outer, self.in_class = self.in_class, in_class
        for node in nodes:
            self.visit_child(node)
        self.in_class = outer

    def visit_child(self, node):
        if not isinstance(node, ast.expr):
            return self.visit_below(node)
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return self.visit_below(node)
        return self.visit(node)

    def visit_scope(self, node):
        outer = getattr(node, "decorator_list", [])
        if isinstance(node, FUNCTIONS):
            outer = [*outer, *node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        for each in outer:
            self.visit(each, "call" if each in getattr(node, "decorator_list", []) else "value")
        self.scopes.append(local_names(node))
        self.visit_children((child for child in ast.iter_child_nodes(node) if child not in outer), False)
        self.scopes.pop()

    def visit_import(self, node):
        if isinstance(node, ast.Import):
            self.imports.extend(([alias.name], node) for alias in node.names)
            return
        base = "." * node.level + (node.module or "")
        for alias in node.names:
            # The imported name may itself be a module.
            whole = base if base.endswith(".") else f"{base}."
            self.imports.append(([base, whole + alias.name] if alias.name != "*" else [base], node))
            self.members.append((alias.name, node))
            use = "value" if alias.name == "*" else "alias"
            path = base if alias.name == "*" else f"{base}.{alias.name}"
            self.names.append((normalize_path(path), node, use))

    def visit_call(self, node):
        called, arguments = self.paths(node.func), list(node.args)
        first, second = (arguments + [None, None])[:2]
        if called & LOADERS:
            module = self.module_of(first)
            self.imports.append((None if module is None else [module], node))
            self.visit(node.func, "load")
        else:
            self.visit(node.func, "call")
        own = isinstance(node.func, ast.Attribute) and node.func.attr
        if called & MEMBER_READERS and second is not None:
            self.key(first, second, node)
            arguments = arguments[2:]
        elif own in MEMBER_READER_METHODS and first is not None and not called & MEMBER_READERS:
            self.key(node.func.value, first, node)
            # Called on a class, the name is the second argument, after the object.
            self.record_dotted(self.text(second), node)
        elif own in DICT_LOOKUPS and self.is_namespace(node.func.value) and first is not None:
            self.key(node.func.value, first, node)
        elif own and own not in HARMLESS_DICT_METHODS and self.is_namespace(node.func.value):
            for path in self.paths(node.func.value):
                self.names.append((path, node, "value"))
        elif called & MEMBER_GETTERS:
            for argument in arguments:
                self.record_dotted(self.text(argument), node)
        elif called & {"vars"} and first is not None:
            self.visit_below(first)
            arguments = arguments[1:]
        elif own in ("format", "format_map", "vformat"):
            for template in (self.text(node.func.value), self.text(first)):
                self.record_template(template, node)
        elif isinstance(node.func, ast.Call) and self.paths(node):
            self.visit_below(first)
            arguments = arguments[1:]
        for argument in arguments:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def key(self, holder, key, node):
        """Records the member of `holder` that the expression `key` names."""
        self.visit_below(holder)
        self.visit(key)
        name = self.text(key)
        if name is not None:
            self.members.append((name, node))
            if "sys.modules" in self.paths(holder):
                self.imports.append(([name], node))
            return
        for path in self.paths(holder):
            self.names.append((path, node, "computed"))
        pieces = [part.value for part in ast.walk(key) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if any("__" in piece for piece in pieces):
            self.members.extend((name, node) for name in ("__globals__", "__subclasses__", "__builtins__"))

    def record_dotted(self, text, node):
        for name in (text or "").split("."):
            self.members.append((name, node))

    def record_template(self, text, node):
        try:
            fields = [field for _, field, _, _ in string.Formatter().parse(text or "") if field]
        except ValueError:
            return
        for field in fields:
            self.record_dotted(field.replace("[", ".").replace("]", ""), node)
