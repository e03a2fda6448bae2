"""Declares the exports of a skill's Python module: `__exports__ = [Function(f), Variable("x", 1), Type(C)]`."""


class Function:
    """A function, exported under its own name."""

    def __init__(self, func, description=None, include_doc=True, name=None):
        if not callable(func):
            raise TypeError(f"Function() takes a function, not {type(func).__name__}")
        self.name = name or getattr(func, "__name__", "")
        self.value = func
        self.about = {"description": description, "doc": include_doc}


class Variable:
    """A value, exported under a name."""

    def __init__(self, name, value=None, description=None):
        self.name = name
        self.value = value
        self.about = {"description": description}


class Type:
    """A class, exported under its own name. The options limit what the model sees of it."""

    def __init__(self, cls, description=None, include_schema=True, include_doc=True, name=None):
        if not isinstance(cls, type):
            raise TypeError(f"Type() takes a class, not {type(cls).__name__}")
        self.name = name or cls.__name__
        self.value = cls
        self.about = {"description": description, "schema": include_schema, "doc": include_doc}
