"""The error for a value that cannot cross between the host and Python."""


class CannotCross(TypeError):
    # Tracebacks show the class without the name of this module.
    __module__ = "builtins"

    def __init__(self, reason, path=""):
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def within(self, step):
        return CannotCross(self.reason, step + self.path)

    def __str__(self):
        return f"{self.path}: {self.reason}" if self.path else self.reason
