"""Encodes tables and arrays as plain data: a JSON description and raw bytes. Decoding runs no code, so a kernel can
safely read what another kernel has written."""

import json

from .cannot_cross import CannotCross
from .table_reader import TableReader
from .table_writer import TableWriter

MAGIC = b"karst-table-1\n"


def dump(value):
    """Encodes a DataFrame, Series, Index or array as bytes. Raises `CannotCross` for a value that is not data."""
    writer = TableWriter()
    head = {"value": writer.table(value), "sizes": [len(data) for data in writer.buffers]}
    text = json.dumps(head, allow_nan=False).encode()
    return b"".join([MAGIC, len(text).to_bytes(8, "little"), text, *writer.buffers])


def load(data):
    """Decodes the bytes that `dump` made. Raises `CannotCross` for any others."""
    try:
        return _read(memoryview(data))
    except CannotCross:
        raise
    except Exception as error:
        raise CannotCross(f"what the other kernel wrote is not a table: {error}") from None


def _read(data):
    start = len(MAGIC) + 8
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise CannotCross("what the other kernel wrote is not a table")
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    head = json.loads(bytes(data[start:end]))
    buffers = []
    for size in head["sizes"]:
        buffers.append(data[end : end + size])
        end += size
    return TableReader(buffers).table(head["value"])
