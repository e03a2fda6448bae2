"""Data of the namespace as bytes, and back. Only a kernel ever reads them, and nothing in them can run: tables and arrays are
columns, and of the rest only classes that are known to be data are looked up."""

import builtins
import io
import pickle
import sys
import types

from . import columns
from .values import CannotCross


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
        data = _dump({"imports": imports, "values": kept})
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
    found = _load(data)
    lost = []
    for name, module in found["imports"].items():
        try:
            namespace[name] = __import__(module, fromlist=["*"])
        except Exception as error:
            lost.append({"name": name, "reason": f"the module {module} cannot be imported: {error}"})
    namespace.update(found["values"])
    return list(found["values"]), lost


def size_of(value):
    """In bytes. Raises `NotData` with the reason why a value is not kept."""
    try:
        return len(_dump(value))
    except NotData:
        raise
    except CannotCross as error:
        raise NotData(str(error)) from None
    except Exception as error:
        raise NotData(f"it cannot be kept: {error}") from error


class NotData(Exception):
    pass


def _dump(value):
    """The number of tables, the size of each, the tables, and a pickle of the rest."""
    file = io.BytesIO()
    pickler = _Data(file)
    pickler.dump(value)
    sizes = [len(table).to_bytes(8, "little") for table in pickler.tables]
    return b"".join([len(sizes).to_bytes(4, "little"), *sizes, *pickler.tables, file.getvalue()])


def _load(data):
    count = int.from_bytes(data[:4], "little")
    start = 4 + count * 8
    if start > len(data):
        raise pickle.UnpicklingError("it is not a snapshot")
    tables = []
    for at in range(4, start, 8):
        size = int.from_bytes(data[at : at + 8], "little")
        tables.append(data[start : start + size])
        start += size
    return _Reader(io.BytesIO(data[start:]), tables).load()


class _Data(pickle.Pickler):
    """Keeps data and nothing else: classes and functions of cells would not be there to read it back."""

    def __init__(self, file):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.tables = []
        self.numbers = {}
        # An id is taken again once its object is gone.
        self.held = []

    def persistent_id(self, value):
        if not _is_table(value):
            return None
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.tables)
            self.held.append(value)
            self.tables.append(columns.dump(value))
        return self.numbers[id(value)]

    def reducer_override(self, value):
        if isinstance(value, types.ModuleType):
            raise NotData(f"it holds the module {value.__name__}, which is not data")
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            name = getattr(value, "__qualname__", "")
            owner = getattr(value, "__self__", None)
            if is_known(owner.__module__ if isinstance(owner, type) else value.__module__, name):
                return NotImplemented
            raise NotData(f"it holds the {type(value).__name__} {name}, which is not data")
        zoneinfo = sys.modules.get("zoneinfo")
        if zoneinfo is not None and type(value) is zoneinfo.ZoneInfo and value.key:
            # By itself it would ask for a method by name.
            return zoneinfo.ZoneInfo, (value.key,)
        # What makes it again is a class or function, which is asked for here as well.
        if type(value).__module__.partition(".")[0] not in packages:
            raise NotData(f"it holds an instance of {type(value).__qualname__}, which is not data")
        return NotImplemented


class _Reader(pickle.Unpickler):
    """Makes data and calls nothing else, whoever wrote it."""

    def __init__(self, file, tables):
        super().__init__(file)
        self.tables = tables
        self.made = {}

    def persistent_load(self, number):
        if number not in self.made:
            self.made[number] = columns.load(self.tables[number])
        return self.made[number]

    def find_class(self, module, name):
        if is_known(module, name):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"the snapshot holds {module}.{name}, which is not data")


def _is_table(value):
    pandas = sys.modules.get("pandas")
    if columns.is_plain_array(value):
        return True
    # A class of a cell that extends one of these would not be there to read it back.
    if pandas is None or type(value).__module__.partition(".")[0] != "pandas":
        return False
    return isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index)) or columns.is_extension_array(value)


def is_known(module, name):
    """Whether a class or function of this name only makes data."""
    if module == "builtins":
        found = getattr(builtins, name, None)
        return name in of_builtins or (isinstance(found, type) and issubclass(found, BaseException))
    if module == "pandas._libs.tslibs.offsets":
        return isinstance(getattr(sys.modules.get(module), name, None), type)
    return f"{module}.{name}" in others


# Those that have instances which are data.
packages = set(
    "builtins collections copyreg datetime decimal fractions numpy pandas pathlib pytz uuid zoneinfo".split()
)

of_builtins = set(
    "Ellipsis NotImplemented bool bytearray bytes complex dict float frozenset int list object range set slice str tuple".split()
)

others = set(
    """
    collections.Counter collections.OrderedDict collections.defaultdict collections.deque
    copyreg.__newobj__ copyreg._reconstructor
    datetime.date datetime.datetime datetime.time datetime.timedelta datetime.timezone
    decimal.Decimal fractions.Fraction uuid.UUID uuid.SafeUUID
    pathlib.Path pathlib.PosixPath pathlib.PurePath pathlib.PurePosixPath pathlib.PureWindowsPath pathlib.WindowsPath
    pathlib._local.PosixPath pathlib._local.PurePosixPath pathlib._local.PureWindowsPath
    pytz._UTC pytz._p zoneinfo.ZoneInfo
    numpy.dtype numpy.ndarray numpy.bool_ numpy.bool numpy.str_ numpy.bytes_ numpy.datetime64 numpy.timedelta64
    numpy.float16 numpy.float32 numpy.float64 numpy.complex64 numpy.complex128
    numpy.int8 numpy.int16 numpy.int32 numpy.int64 numpy.uint8 numpy.uint16 numpy.uint32 numpy.uint64
    numpy.core.multiarray._reconstruct numpy.core.multiarray.scalar numpy.core.numeric._frombuffer
    numpy._core.multiarray._reconstruct numpy._core.multiarray.scalar numpy._core.numeric._frombuffer
    pandas._libs.missing.NAType pandas._libs.missing.NA pandas._libs.tslibs.nattype.NaTType
    pandas._libs.tslibs.nattype.__nat_unpickle pandas._libs.tslibs.nattype._nat_unpickle
    pandas._libs.tslibs.period.Period pandas._libs.tslibs.timedeltas.Timedelta pandas._libs.tslibs.timedeltas._timedelta_unpickle
    pandas._libs.tslibs.timestamps.Timestamp pandas._libs.tslibs.timestamps._unpickle_timestamp
    """.split()
)
