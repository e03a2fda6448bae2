"""Data of the namespace as bytes, and back. Only a kernel ever reads them: they may run code when they are read."""

import io
import pickle
import types


def snapshot(namespace, names):
    """Every name whose value is data, in one piece, so that what they share stays shared."""
    lost = []
    kept = {}
    for name in names:
        reason = unkept(namespace[name])
        if reason is None:
            kept[name] = namespace[name]
        else:
            lost.append({"name": name, "reason": reason})
    modules = {name: value.__name__ for name, value in namespace.items() if isinstance(value, types.ModuleType)}
    imports = {name: modules[name] for name in names if name in modules}
    lost = [entry for entry in lost if entry["name"] not in imports]
    file = io.BytesIO()
    pickle.dump({"imports": imports, "values": kept}, file, protocol=pickle.HIGHEST_PROTOCOL)
    return {"data": file.getvalue(), "lost": lost}


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


def unkept(value):
    """Why a value is not kept; None when it is."""
    try:
        _Data(io.BytesIO(), protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    except NotData as error:
        return str(error)
    except Exception as error:
        return f"it cannot be kept: {error}"
    return None


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
