"""Writes tables to files and reads them, to pass them to another kernel. Reading such a file runs no code."""

import os

from . import table_codec
from .cannot_cross import CannotCross


class AsHandle:
    """Marks a table that is sent to the host as a handle instead of a copy."""

    def __init__(self, value):
        self.value = value


def save(frame, path):
    try:
        data = table_codec.dump(frame)
    except CannotCross as error:
        raise CannotCross(f"the table cannot go to another kernel: {error}") from None
    with open(path, "xb") as file:
        file.write(data)


def load(path):
    try:
        with open(path, "rb") as file:
            return table_codec.load(file.read())
    finally:
        os.unlink(path)
