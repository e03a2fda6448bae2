"""Tables on their way to another kernel: a file that holds their columns, of which nothing can run when it is read."""

import os

from . import columns
from .values import CannotCross


class Whole:
    """A table that is not to be taken apart on its way to the host."""

    def __init__(self, value):
        self.value = value


def save(frame, path):
    try:
        data = columns.dump(frame)
    except CannotCross as error:
        raise CannotCross(f"the table cannot go to another kernel: {error}") from None
    with open(path, "xb") as file:
        file.write(data)


def load(path):
    try:
        with open(path, "rb") as file:
            return columns.load(file.read())
    finally:
        os.unlink(path)
