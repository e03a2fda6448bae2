"""The frames of the socket between the kernel and its host: JSON and buffers."""

import json
import struct

# Head of a frame: bytes after this field, 1 if the JSON holds tagged values, bytes of JSON, number of buffers.
# After the head come the length of each buffer, the JSON, and the buffers.
HEAD = struct.Struct("<IBII")
# The host ends a kernel that exceeds these limits.
MAX_FRAME_BYTES = 2**29
MAX_JSON_BYTES = 2**26
MAX_BUFFERS = 2**20
# One shared encoder: creating one takes longer than encoding a small message.
encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def pack(message, buffers, special):
    """Returns the parts of a frame, in order."""
    text = encode(message).encode()
    lengths = [len(buffer) for buffer in buffers]
    size = HEAD.size - 4 + 4 * len(lengths) + len(text) + sum(lengths)
    if size > MAX_FRAME_BYTES - 4 or len(text) > MAX_JSON_BYTES or len(lengths) > MAX_BUFFERS:
        raise TooLarge(
            f"{size / 2**20:.0f} MB are too large to cross at once; 512 MB cross as bytes, numpy array or DataFrame, "
            "64 MB as anything else"
        )
    head = HEAD.pack(size, special, len(text), len(lengths))
    if lengths:
        head += struct.pack(f"<{len(lengths)}I", *lengths)
    return [head + text, *buffers]


def take(received):
    """Takes the whole frames off the start of the received bytes: the JSON, the buffers, and 1 for tagged values."""
    while len(received) >= HEAD.size:
        size, special, length, count = HEAD.unpack_from(received)
        end = 4 + size
        if len(received) < end:
            return
        frame = bytes(memoryview(received)[HEAD.size : end])
        del received[:end]
        start = 4 * count + length
        text = frame[4 * count : start]
        buffers = []
        for taken in struct.unpack_from(f"<{count}I", frame) if count else ():
            buffers.append(memoryview(frame)[start : start + taken])
            start += taken
        yield text, buffers, special


class TooLarge(ValueError):
    pass
