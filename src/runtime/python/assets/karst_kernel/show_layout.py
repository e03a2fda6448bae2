"""Lays out a tree of shown values as text within a budget of characters. Every member of an object gets an equal share
of the budget first, so that one large member does not hide the others. The same algorithm as lay-out.ts."""

import math

MAX_COLUMNS = 100
# A list that does not fit shows at most so many items.
MAX_ITEMS_OF_LONG_LIST = 100
# A list of at most so many items shows all of them, each shortened.
MAX_ITEMS_SHOWN_ALL = 8
MIN_ITEMS = 2
MIN_MEMBER_LENGTH = 8
MAX_KEY_LENGTH = 40
# An object with more keys and no nested objects shows several keys on a line.
MAX_KEY_LINES = 16
# The length of the note about members that are not shown.
NOTE_LENGTH = 20


class Text:
    """A text that is shown as it is. `cut` is True if the text itself leaves something out."""

    def __init__(self, text, cut=False):
        self.text = text
        self.cut = cut


class String:
    """A string, which is quoted when it is shown."""

    def __init__(self, value):
        self.value = value


class Group:
    """A list, dict, instance … with the members that were read: tuples of key, joint and node."""

    def __init__(self, prefix, brackets, noun, total):
        self.prefix = prefix
        self.brackets = brackets
        self.noun = noun
        self.total = total
        self.members = []


def share_fairly(wants, budget):
    """Divides a budget: everyone gets an equal share, and what small ones do not need goes to the large ones."""
    shares = [0] * len(wants)
    left = max(0, budget)
    order = sorted(range(len(wants)), key=wants.__getitem__)
    for position, index in enumerate(order):
        shares[index] = min(wants[index], left // (len(order) - position))
        left -= shares[index]
    return shares


def count_text(count, noun, more=""):
    return f"{count:,}{more} {noun}{'' if count == 1 else 's'}"


class Layout:
    def __init__(self, budget):
        self._line_lengths = {}
        # How many characters may still be quoted to measure strings.
        self._quotable = 20 * budget

    def node(self, node, budget, indent=0, column=0):
        """Returns the text of a node and whether something is left out."""
        if isinstance(node, Group):
            return self._group(node, budget, indent, column)
        return shorten_string(node.value, budget) if isinstance(node, String) else shorten_text(node, budget, indent)

    def _group(self, group, budget, indent, column):
        members, total = group.members, group.total
        if total == 0:
            return shorten_text(Text(group.prefix + "".join(group.brackets)), budget, indent)
        fits = len(members) == total and self._length(group, indent, column) <= budget
        is_list = group.noun == "item"
        keys = [key if fits else short_key(key) for key, _joint, _node in members]
        shares = None if fits else self._shares(group, keys, budget, indent, column)
        if not fits and shares is None:
            return collapsed(group, budget)
        parts, cut = [], False
        for at, (key, joint, node) in enumerate(members if fits else members[: len(shares)]):
            label = keys[at] + joint
            text, was_cut = self.node(node, float("inf") if fits else shares[at], indent + 2, indent + 2 + len(label))
            parts.append(label + text)
            cut = cut or was_cut or keys[at] != key
        rest = total - len(parts)
        if rest > 0:
            parts.append("… " + (count_text(total, "item") if is_list else count_text(rest, group.noun, " more")))
        return self._join(group, parts, indent, column), cut or rest > 0

    def _shares(self, group, keys, budget, indent, column):
        """Returns how many characters the value of each shown member gets; None if no member can be shown."""
        members, total = group.members, group.total
        inline = column + budget <= MAX_COLUMNS
        is_list = group.noun == "item"
        frame = len(group.prefix) + len("".join(group.brackets)) + (2 if inline else 2 * indent + 4)
        note = NOTE_LENGTH + (0 if inline else indent + 2)
        lengths = [
            self._length(node, indent + 2, indent + 4 + len(keys[at])) for at, (_k, _j, node) in enumerate(members)
        ]
        fixed = []
        for at, (_key, joint, node) in enumerate(members):
            is_filled = is_list and not isinstance(node, Group)
            around = 2 if inline else item_overhead(lengths[at], indent) if is_filled else indent + 4
            fixed.append(len(keys[at]) + len(joint) + around)
        whole = [length + fixed[at] for at, length in enumerate(lengths)]
        if not is_list or total <= MAX_ITEMS_SHOWN_ALL:
            least = [min(length, fixed[at] + MIN_MEMBER_LENGTH) for at, length in enumerate(whole)]
            count = count_fitting(least, budget - frame)
            if count != total:
                count = count_fitting(least, budget - frame - note)
            if count == 0:
                return None
            used = frame + (0 if count == total else note) + sum(fixed[:count])
            return share_fairly(lengths[:count], budget - used)
        count = min(count_fitting(whole, budget - frame - note), MAX_ITEMS_OF_LONG_LIST)
        if count >= MIN_ITEMS:
            return lengths[:count]
        for few in range(min(MIN_ITEMS, len(members)), 0, -1):
            left = budget - frame - note - sum(fixed[:few])
            if left >= few * MIN_MEMBER_LENGTH:
                return share_fairly(lengths[:few], left)
        return None

    def _join(self, group, parts, indent, column):
        opening, closing = group.brackets
        # A tuple of one item has a comma.
        end = "," if opening == "(" and group.noun == "item" and group.total == 1 and not group.prefix else ""
        line = f"{group.prefix}{opening}{', '.join(parts)}{end}{closing}"
        if "\n" not in line and column + len(line) <= MAX_COLUMNS:
            return line
        start = " " * (indent + 2)
        fills = group.noun == "item" or len(group.members) > MAX_KEY_LINES
        if fills and not any(isinstance(node, Group) for _key, _joint, node in group.members):
            parts = filled_lines(parts, MAX_COLUMNS - indent - 2)
        lines = f",\n{start}".join(parts)
        return f"{group.prefix}{opening}\n{start}{lines}{end}\n{' ' * indent}{closing}"

    def _length(self, node, indent, column):
        """Returns the length of everything that was read of a value."""
        line = self._line_length(node)
        if not isinstance(node, Group) or line + column <= MAX_COLUMNS:
            return line
        is_list = node.noun == "item"
        total = len(node.prefix) + 2 * (indent + 3)
        for key, joint, member in node.members:
            own = self._length(member, indent + 2, indent + 4 + len(key)) + len(key) + len(joint)
            is_filled = is_list and not isinstance(member, Group)
            total += own + (item_overhead(own, indent) if is_filled else indent + 4)
        return total

    def _line_length(self, node):
        known = self._line_lengths.get(id(node))
        if known is None:
            known = self._line_lengths[id(node)] = self._compute_line_length(node)
        return known

    def _compute_line_length(self, node):
        if isinstance(node, Text):
            return len(node.text) + (lines_of(node.text) if "\n" in node.text else 0)
        if isinstance(node, String):
            length = len(node.value)
            self._quotable -= length
            # An escape has at most four characters, apart from rare ones.
            return len(quote(node.value)) if self._quotable >= 0 else 4 * length + 2
        lengths = (len(key) + len(joint) + self._line_length(member) + 2 for key, joint, member in node.members)
        frame = len(node.prefix) + len("".join(node.brackets)) + (NOTE_LENGTH if len(node.members) < node.total else 0)
        return frame + sum(lengths)


def collapsed(group, budget):
    opening, closing = group.brackets
    short = f"{opening}…{count_text(group.total, group.noun)}{closing}"
    for text in (group.prefix + short, short):
        if len(text) <= budget:
            return text, True
    return "…", True


def shorten_string(value, budget):
    if len(value) + 2 <= budget:
        whole = quote(value)
        if len(whole) <= budget:
            return whole, False
    length = f" ({len(value):,} characters)"
    room = budget - len(length) - 5
    if room < 1:
        return "…", True
    while True:
        tail_length = 0 if room < 24 else room // 4
        head = value[: room - tail_length]
        tail = value[len(value) - tail_length :]
        text = quote(f"{head.rstrip()} … {tail.lstrip()}" if tail_length else f"{head}…") + length
        # Escapes make the text longer than the slices.
        if len(text) <= budget or room == 1:
            return text, True
        room = max(1, room - max(1, -(-(len(text) - budget) // 2)))


def shorten_text(node, budget, indent):
    text = node.text.replace("\n", "\n" + " " * indent) if indent else node.text
    if len(text) <= budget:
        return text, node.cut
    return text[: max(0, int(budget) - 1)] + "…", True


def quote(value):
    return str.__repr__(value)


def short_key(key):
    if len(key) <= MAX_KEY_LENGTH:
        return key
    end = key[-1] if key[-1] in "\"'" else ""
    return key[: MAX_KEY_LENGTH - 1 - len(end)] + "…" + end


def count_fitting(lengths, budget):
    left = budget
    for count, length in enumerate(lengths):
        left -= length
        if left < 0:
            return count
    return len(lengths)


def lines_of(text):
    """What a text of several lines may need beside its characters: indentation, and a line end before the next one."""
    return MAX_COLUMNS + 20 * (text.count("\n") + 1)


def item_overhead(length, indent):
    """What one item of a filled list needs beside its own characters: the comma, and its part of the indentation. Two
    adjacent lines have more than one line's characters."""
    line_overhead = min(indent + 3, 2 * (length + 2) * (indent + 3) / (MAX_COLUMNS - indent - 2))
    return 2 + max(1, math.ceil(line_overhead))


def filled_lines(parts, columns):
    """Puts as many parts on a line as fit."""
    lines, line = [], ""
    for part in parts:
        if line == "":
            line = part
        elif len(line) + len(part) + 3 <= columns and "\n" not in part:
            line += f", {part}"
        else:
            lines.append(line)
            line = part
    return [*lines, line]
