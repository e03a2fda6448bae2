"""Takes and restores snapshots of the namespace's data. Only kernels read them, and reading runs no code: tables and
arrays are stored as columns, and the pickle of the rest may use only classes that are known to be data."""

import builtins
import hashlib
import io
import pickle
import sys
import types

from . import table_codec
from .cannot_cross import CannotCross
from .table_writer import is_extension_array, is_plain_array


def snapshot(namespace, names, max_bytes, digests):
    """Stores every name whose value is data in one pickle, so that shared objects stay shared. If the result has more
    than `max_bytes` bytes (None: no limit), the largest values are left out and reported as lost. `digests` has those
    of the injected values from before cells could change them."""
    lost = []
    stored = {}
    sizes = {}
    # By the type: a value's own `__class__` may fail.
    modules = [name for name in names if issubclass(type(namespace[name]), types.ModuleType)]
    imports = {name: namespace[name].__name__ for name in modules}
    for name in names:
        if name in imports:
            continue
        try:
            sizes[name] = size_of(namespace[name])
            stored[name] = namespace[name]
        except NotData as error:
            lost.append({"name": name, "reason": str(error)})
    injected = {name: (digests[name], digest(namespace[name])) for name in stored if digests.get(name)}
    while True:
        data = _dump({"imports": imports, "values": stored, **({"injected": injected} if injected else {})})
        excess = 0 if max_bytes is None else len(data) - max_bytes
        if excess <= 0 or not stored:
            return {"data": data, "lost": lost}
        for name in sorted(stored, key=sizes.get, reverse=True):
            if excess <= 0:
                break
            del stored[name]
            excess -= sizes[name]
            lost.append({"name": name, "reason": f"too large: of {sizes[name]} bytes, and a snapshot may have {max_bytes}"})


def restore(namespace, data, digests, exact):
    """Returns the names that got stored values, and what is lost. An injected value that no cell had changed stays as
    the program has injected it now, unless `exact` is True. Sets `digests` to those of the values injected now."""
    found = _load(data)
    lost = []
    values = found["values"]
    for name, (injected, stored) in found.get("injected", {}).items():
        if name not in namespace or name not in values:
            continue
        now = injected if exact else digest(namespace[name])
        digests[name] = now
        if now in (injected, stored):
            continue
        if stored == injected:
            del values[name]
            lost.append({"name": name, "reason": "the program has new data for it", "otherData": "new"})
        else:
            reason = "cells changed it, and the program has new data for it"
            lost.append({"name": name, "reason": reason, "otherData": "kept"})
    for name, module in found["imports"].items():
        try:
            namespace[name] = __import__(module, fromlist=["*"])
        except Exception as error:
            lost.append({"name": name, "reason": f"the module {module} cannot be imported: {error}"})
    namespace.update(values)
    return list(values), lost


def digest(value):
    """Returns a digest that is equal for equal data in every kernel. None if the value is not data, or too large."""
    file = _DigestFile()
    pickler = _DigestPickler(file)
    # Without a memo, equal texts count as equal, whether or not they are the same object.
    pickler.fast = True
    try:
        pickler.dump(value)
    except Exception:
        return None
    for table in pickler.tables:
        file.hash.update(table)
    return file.hash.hexdigest()


class _DigestFile:
    """Computes the digest of what is written. Lists that contain each other many times, which are written each time,
    could otherwise be written for ever."""

    MAX_BYTES = 1 << 30

    def __init__(self):
        self.hash = hashlib.sha256()
        self.size = 0

    def write(self, data):
        self.size += len(data)
        if self.size > self.MAX_BYTES:
            raise NotData("it is too large")
        self.hash.update(data)


def size_of(value):
    """Returns the stored size in bytes. Raises `NotData` with the reason if the value cannot be stored."""
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
    """Encodes: the number of tables, the size of each, the tables, and a pickle of the rest."""
    file = io.BytesIO()
    pickler = _DataPickler(file)
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
    return _DataUnpickler(io.BytesIO(data[start:]), tables).load()


class _DataPickler(pickle.Pickler):
    """Refuses everything but data: classes and functions of cells would not exist when the snapshot is restored."""

    def __init__(self, file):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.tables = []
        self.numbers = {}
        # References that keep the ids in `numbers` valid.
        self.held = []

    def persistent_id(self, value):
        if not _is_table(value):
            return None
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.tables)
            self.held.append(value)
            self.tables.append(table_codec.dump(value))
        return self.numbers[id(value)]

    def reducer_override(self, value):
        if isinstance(value, types.ModuleType):
            raise NotData(f"it holds the module {value.__name__}, which is not data")
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            name = getattr(value, "__qualname__", "")
            owner = getattr(value, "__self__", None)
            if is_data_class(owner.__module__ if isinstance(owner, type) else value.__module__, name):
                return NotImplemented
            raise NotData(f"it holds the {type(value).__name__} {name}, which is not data")
        zoneinfo = sys.modules.get("zoneinfo")
        if zoneinfo is not None and type(value) is zoneinfo.ZoneInfo and value.key:
            # Its own reducer looks up a method by name, which the reader refuses.
            return zoneinfo.ZoneInfo, (value.key,)
        # The class or function that recreates the value passes through this method as well.
        if type(value).__module__.partition(".")[0] not in data_packages:
            raise NotData(f"it holds an instance of {type(value).__qualname__}, which is not data")
        return NotImplemented


class _DigestPickler(_DataPickler):
    """Writes the members of sets in an order that does not depend on the kernel."""

    def persistent_id(self, value):
        if type(value) not in (set, frozenset):
            return super().persistent_id(value)
        members = [digest(each) for each in value]
        if None in members:
            raise NotData("a member of a set is not data")
        return type(value).__name__, sorted(members)


class _DataUnpickler(pickle.Unpickler):
    """Creates data only, also from untrusted bytes."""

    def __init__(self, file, tables):
        super().__init__(file)
        self.tables = tables
        self.made = {}

    def persistent_load(self, number):
        if number not in self.made:
            self.made[number] = table_codec.load(self.tables[number])
        return self.made[number]

    def find_class(self, module, name):
        if is_data_class(module, name):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"the snapshot holds {module}.{name}, which is not data")


def _is_table(value):
    pandas = sys.modules.get("pandas")
    if is_plain_array(value):
        return True
    # A subclass that a cell defined would not exist when the snapshot is restored.
    if pandas is None or type(value).__module__.partition(".")[0] != "pandas":
        return False
    return isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index)) or is_extension_array(value)


def is_data_class(module, name):
    """Returns True if the class or function of this name only creates data."""
    if module == "builtins":
        found = getattr(builtins, name, None)
        return name in builtin_names or (isinstance(found, type) and issubclass(found, BaseException))
    if module == "pandas._libs.tslibs.offsets":
        return isinstance(getattr(sys.modules.get(module), name, None), type)
    return f"{module}.{name}" in qualified_names


# Packages whose instances may be data.
data_packages = set(
    "builtins collections copyreg datetime decimal fractions numpy pandas pathlib pytz uuid zoneinfo".split()
)

builtin_names = set(
    """
    Ellipsis NotImplemented bool bytearray bytes complex dict float frozenset int list object range set slice str tuple
    """.split()
)

qualified_names = set(
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
