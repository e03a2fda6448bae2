"""What the module of a skill says of the things it exports: `__exports__ = [Function(f), Variable("x", 1), Type(C)]`."""


class Function:
    """A function, put in under its own name."""

    def __init__(self, func, description=None, include_doc=True, name=None):
        if not callable(func):
            raise TypeError(f"Function() takes a function, not {type(func).__name__}")
        self.name = name or getattr(func, "__name__", "")
        self.value = func
        self.about = {"description": description, "doc": include_doc}


class Variable:
    """A value under a name."""

    def __init__(self, name, value=None, description=None):
        self.name = name
        self.value = value
        self.about = {"description": description}


class Type:
    """A class, put in under its own name. What the model sees of it can be limited."""

    def __init__(self, cls, description=None, include_schema=True, include_doc=True, name=None):
        if not isinstance(cls, type):
            raise TypeError(f"Type() takes a class, not {type(cls).__name__}")
        self.name = name or cls.__name__
        self.value = cls
        self.about = {"description": description, "schema": include_schema, "doc": include_doc}
