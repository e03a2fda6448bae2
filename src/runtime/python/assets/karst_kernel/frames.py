"""Tables on their way to another kernel: a file that holds data, read so that nothing in it can run."""

import os
import pickle

from .keep import NotData, _Data
from .values import CannotCross


class Whole:
    """A table that is not to be taken apart on its way to the host."""

    def __init__(self, value):
        self.value = value


def save(frame, path):
    try:
        with open(path, "xb") as file:
            _Data(file, protocol=pickle.HIGHEST_PROTOCOL).dump(frame)
    except BaseException as error:
        if os.path.exists(path):
            os.unlink(path)
        if isinstance(error, NotData):
            raise CannotCross(f"the table cannot go to another kernel: {error}") from None
        raise


def load(path):
    try:
        with open(path, "rb") as file:
            return Reader(file).load()
    finally:
        os.unlink(path)


class Reader(pickle.Unpickler):
    """Makes tables and what is in them, and calls nothing else: the kernel that wrote the file may be one to distrust."""

    def find_class(self, module, name):
        if f"{module}.{name}" in KNOWN:
            return super().find_class(module, name)
        if module.startswith(DATA) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) or name.startswith("_new_"):
                return found
        raise CannotCross(f"the table holds {module}.{name}, which cannot go to another kernel")


# Modules of which every class is data.
DATA = (
    "pandas.core.arrays",
    "pandas.core.dtypes",
    "pandas.core.frame",
    "pandas.core.indexes",
    "pandas.core.internals",
    "pandas.core.series",
    "pandas._libs.interval",
    "pandas._libs.sparse",
    "pandas._libs.tslibs",
)

KNOWN = set(
    """
    builtins.bytearray builtins.complex builtins.frozenset builtins.set builtins.slice
    datetime.date datetime.datetime datetime.time datetime.timedelta datetime.timezone decimal.Decimal
    fractions.Fraction pytz._UTC pytz._p uuid.UUID zoneinfo.ZoneInfo._unpickle
    numpy.dtype numpy.ndarray
    numpy.core.multiarray._reconstruct numpy.core.multiarray.scalar numpy.core.numeric._frombuffer
    numpy._core.multiarray._reconstruct numpy._core.multiarray.scalar numpy._core.numeric._frombuffer
    pandas.DataFrame pandas.Series
    pandas._libs.arrays.__pyx_unpickle_NDArrayBacked pandas._libs.internals._unpickle_block
    pandas._libs.interval.__pyx_unpickle_IntervalMixin pandas._libs.missing.NA
    pandas._libs.tslibs.nattype.__nat_unpickle pandas._libs.tslibs.timedeltas._timedelta_unpickle
    pandas._libs.tslibs.timestamps._unpickle_timestamp
    """.split()
)
