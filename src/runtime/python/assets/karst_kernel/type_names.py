"""Names the types of values as Python source, and decides which classes and modules the model knows by name."""

import inspect
import itertools
import re
import sys

from .declared_text import cut, one_line

# Models know these packages. Their classes are named and not declared.
LIBRARIES = frozenset(
    "IPython PIL altair anndata boto3 bs4 geopandas httpx ipykernel jax lightgbm matplotlib networkx numpy openpyxl"
    " pandas plotly polars psycopg2 pyarrow pydantic redis requests scipy seaborn shapely sklearn spacy sqlalchemy"
    " statsmodels sympy tensorflow torch torchvision transformers xarray xgboost yaml".split()
)
STANDARD = frozenset([*getattr(sys, "stdlib_module_names", sys.builtin_module_names), "karst", "karst_kernel"])
# How many members of a collection decide its type.
SAMPLE = 20
MAX_NAME = 200


def is_familiar(module_name):
    return str(module_name).partition(".")[0] in STANDARD or is_library(module_name)


def is_library(module_name):
    return str(module_name).partition(".")[0] in LIBRARIES


def is_own_module(module):
    """Returns True for a module that neither Python nor an installed package provides."""
    file = getattr(module, "__file__", None) or ""
    return not is_familiar(module.__name__) and not re.search(r"[\\/](site|dist)-packages[\\/]", file)


def type_text(value, classes=None, depth=0):
    """Returns the type of a value as Python source, judged by its first members. `classes` declares the classes found."""
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
        parts = [type_text(member, classes, depth + 1) for member in itertools.islice(value, SAMPLE)]
        # The order of a set differs between processes.
        found = union_text(sorted(parts) if kind in (set, frozenset) else parts)
        return f"tuple[{found}, ...]" if kind is tuple else f"{kind.__name__}[{found}]"
    if depth < 2 and kind is dict and value:
        some = list(itertools.islice(value.items(), SAMPLE))
        keys = union_text([type_text(key, classes, depth + 1) for key, _ in some])
        return f"dict[{keys}, {union_text([type_text(member, classes, depth + 1) for _, member in some])}]"
    return (classes and classes.name_of(kind, value)) or class_path(kind)


def union_text(parts):
    distinct = list(dict.fromkeys(parts))
    return " | ".join([part for part in distinct if part != "None"] + [part for part in distinct if part == "None"])


def class_path(kind):
    """Returns the shortest path by which a class can be imported, or its name for classes of cells and of Python."""
    module, name = str(kind.__module__), cut(one_line(kind.__qualname__), MAX_NAME)
    if module == "builtins" or not without_internal_modules(f"{module}."):
        return name
    parts = module.split(".")
    for count in range(1, len(parts)):
        path = ".".join(parts[:count])
        if vars(sys.modules.get(path, object)).get(name) is kind:
            return f"{path}.{name}"
    return cut(one_line(f"{module}.{name}"), MAX_NAME)


def without_internal_modules(text):
    """Removes module names that cells cannot use: `__main__` and the modules of skills."""
    return re.sub(r"\b(__main__|karst_skill_\d+)\.", "", text)
