"""Data of the namespace as bytes, and back. Only a kernel ever reads them: they may run code when they are read."""

import io
import pickle
import types


def snapshot(namespace, names, most):
    """Every name whose value is data, in one piece, so that what they share stays shared. The largest are left out of what
    would have more than so many bytes; `None`: any number."""
    lost = []
    kept = {}
    sizes = {}
    imports = {name: namespace[name].__name__ for name in names if isinstance(namespace[name], types.ModuleType)}
    for name in names:
        if name in imports:
            continue
        try:
            sizes[name] = size_of(namespace[name])
            kept[name] = namespace[name]
        except NotData as error:
            lost.append({"name": name, "reason": str(error)})
    while True:
        data = pickle.dumps({"imports": imports, "values": kept}, protocol=pickle.HIGHEST_PROTOCOL)
        excess = 0 if most is None else len(data) - most
        if excess <= 0 or not kept:
            return {"data": data, "lost": lost}
        for name in sorted(kept, key=sizes.get, reverse=True):
            if excess <= 0:
                break
            del kept[name]
            excess -= sizes[name]
            lost.append({"name": name, "reason": f"too large: of {sizes[name]} bytes, and a snapshot may have {most}"})


def restore(namespace, data):
    found = pickle.loads(data)
    lost = []
    for name, module in found["imports"].items():
        try:
            namespace[name] = __import__(module, fromlist=["*"])
        except Exception as error:
            lost.append({"name": name, "reason": f"the module {module} cannot be imported: {error}"})
    namespace.update(found["values"])
    return lost


def size_of(value):
    """In bytes. Raises `NotData` with the reason why a value is not kept."""
    file = io.BytesIO()
    try:
        _Data(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    except NotData:
        raise
    except Exception as error:
        raise NotData(f"it cannot be kept: {error}") from error
    return file.tell()


class NotData(Exception):
    pass


class _Data(pickle.Pickler):
    """Keeps data and nothing else: classes and functions of cells would not be there to read it back."""

    def reducer_override(self, value):
        if isinstance(value, type) and value.__module__ in known:
            return NotImplemented
        if isinstance(value, (type, types.FunctionType, types.ModuleType)):
            module = getattr(value, "__module__", "")
            if module in ("__main__", None) or isinstance(value, types.ModuleType):
                name = getattr(value, "__name__", "")
                raise NotData(f"it holds the {type(value).__name__} {name}, which is not data")
            return NotImplemented
        if type(value).__module__.partition(".")[0] not in known:
            raise NotData(f"it holds an instance of {type(value).__qualname__}, which is not data")
        return NotImplemented


known = set(
    "builtins collections copyreg datetime decimal enum fractions numpy pandas pathlib pytz uuid zoneinfo".split()
)
