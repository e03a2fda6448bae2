"""The values of earlier cells, as in a notebook: `_`, `__` and `___` are the last three, `Out[n]` and `_n` are the
value of cell n. The number of a cell is the one in its tracebacks (`cell-3.py`). Only the last values stay."""

MAX_VALUES = 8
LAST_NAMES = ("_", "__", "___")


class LastValues:
    def __init__(self, namespace):
        self._namespace = namespace
        self._out = Out()
        # The values of LAST_NAMES as this class set them. A cell that assigns one of them has its own from then on.
        self._last = [None] * len(LAST_NAMES)
        namespace.update(dict.fromkeys(LAST_NAMES), Out=self._out)

    def record(self, number, value):
        """Makes the value of a cell the last one. `Out` itself is no such value: it would contain itself."""
        if value is self._out:
            return
        before, self._last = self._last, [value, *self._last[:-1]]
        for name, own, new in zip(LAST_NAMES, before, self._last):
            if self._namespace.get(name, own) is own:
                self._namespace[name] = new
        self._namespace.setdefault("Out", self._out)
        self._out[number] = self._namespace[f"_{number}"] = value
        while len(self._out) > MAX_VALUES:
            self._drop(next(iter(self._out)))

    def _drop(self, number):
        value, name = self._out.pop(number), f"_{number}"
        if self._namespace.get(name) is value:
            del self._namespace[name]


class Out(dict):
    """The last values of cells, by the number of the cell."""

    def __missing__(self, number):
        raise MissingOutput(self._explain(number))

    def _explain(self, number):
        if not self:
            return "Out is empty: no cell has had a value since the kernel started."
        numbers = ", ".join(map(str, self))
        return (
            f"Out has no {number!r}. It has the values of cells {numbers}: only the last {MAX_VALUES} values stay. "
            "`_` is the last one."
        )


# A KeyError shows its text as a string literal; this one shows it as text.
MissingOutput = type("KeyError", (KeyError,), {"__module__": "builtins", "__str__": lambda error: error.args[0]})
