"""For gdb (src/README, DEBUGGING): slices, buffers, IDs, faults, arenas and JSON are printed as text, and the
command `request` prints the request that is being processed.

    gdb -x tests/gdb/printers.py PROGRAM

They only read memory, so they work in a core file too. JSON is read as jansson 2.14 and later store it.

SPDX-License-Identifier: GPL-3.0-or-later
"""

import gdb

TEXT_MOST = 200  # bytes of a text that are shown
ITEMS_MOST = 20  # items of a list or object
DEPTH_MOST = 6  # levels of JSON


def can_be_shown(character):
    try:
        # gdb before 12 does not say what its terminal can show.
        character.encode(gdb.host_charset() if hasattr(gdb, "host_charset") else "ascii")
    except UnicodeEncodeError:
        return False
    return character.isprintable()


def quoted_character(character):
    if character in '"\\':
        return "\\" + character
    if 0xDC80 <= ord(character) <= 0xDCFF:  # a byte that is not UTF-8
        return "\\x%02x" % (ord(character) - 0xDC00)
    if can_be_shown(character):
        return character
    return "\\x%02x" % ord(character) if ord(character) < 0x80 else "\\u{%x}" % ord(character)


def text_at(address, size):
    """The bytes as a quoted text; the number of all bytes if there are more."""
    if size > 1 << 40:
        return "<invalid size %d>" % size
    try:
        memory = gdb.selected_inferior().read_memory(address, min(size, TEXT_MOST))
    except gdb.MemoryError:
        return "<%d bytes that cannot be read>" % size
    text = memory.tobytes().decode("utf-8", "surrogateescape")
    quoted = "".join(map(quoted_character, text))
    return '"%s"%s' % (quoted, "... (%d bytes)" % size if size > TEXT_MOST else "")


class SlicePrinter:
    """struct slice and struct buffer."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        data, size = int(self.value["data"]), int(self.value["size"])
        return "absent" if data == 0 else text_at(data, size)


class IdPrinter:
    """struct id: its 24 digits."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        bytes_ = self.value["bytes"]
        return "".join("%02x" % int(bytes_[i]) for i in range(12))


class FaultPrinter:
    """struct fault: its kind, then each text that is set."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        text = str(self.value["kind"])
        for name in "message", "detail", "cause":
            one = self.value[name].string("utf-8", "replace")
            if one:
                text += ', %s "%s"' % (name, one)
        for name in "details", "faults":
            if int(self.value[name]) != 0:
                text += ", %s %s" % (name, json_text(int(self.value[name])))
        if int(self.value["retry_after"]) != 0:
            text += ", retry_after %d" % int(self.value["retry_after"])
        return text


class ArenaPrinter:
    """struct arena: how much it holds."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        def length(item):
            count = 0
            while int(item) != 0 and count < 1000000:
                count += 1
                item = item["previous"]
            return count

        used = int(self.value["taken"]) + int(self.value["taken_before"])
        return "%d of %d bytes in %d blocks, %d adopted" % (
            used,
            int(self.value["limit"]),
            length(self.value["block"]),
            length(self.value["adopted"]),
        )


class JsonPrinter:
    """json_t, and a pointer to it: the JSON."""

    def __init__(self, value):
        is_pointer = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
        self.address = int(value) if is_pointer else int(value.address)

    def to_string(self):
        return json_text(self.address) if self.address != 0 else "NULL"


# ---- JSON ----

# The structs are private to jansson, and Debian's library has no debugging information; these are the sizes
# of its members. The type and the reference count come first.
WORD = gdb.lookup_type("long").sizeof
BODY = 4 + (4 if WORD == 8 else 0) + WORD


def number_at(address, size, is_signed=False):
    memory = gdb.selected_inferior().read_memory(address, size).tobytes()
    return int.from_bytes(memory, "little", signed=is_signed)


def object_text(address, depth):
    """An object keeps its pairs in a ring, in the order in which they were added: for each the links of two
    rings (the second is this one), the hash of the key, the value, the size of the key, the key."""
    ring = address + BODY + 3 * WORD + 2 * WORD
    link, members = number_at(ring + WORD, WORD), []
    while link != ring and len(members) < ITEMS_MOST:
        value = number_at(link + 3 * WORD, WORD)
        size = number_at(link + 4 * WORD, WORD)
        members.append("%s: %s" % (text_at(link + 5 * WORD, size), json_text(value, depth + 1)))
        link = number_at(link + WORD, WORD)
    return "{%s%s}" % (", ".join(members), ", ..." if link != ring else "")


def array_text(address, depth):
    count = number_at(address + BODY + WORD, WORD)
    table = number_at(address + BODY + 2 * WORD, WORD)
    items = [
        json_text(number_at(table + i * WORD, WORD), depth + 1) for i in range(min(count, ITEMS_MOST))
    ]
    return "[%s%s]" % (", ".join(items), ", ... (%d items)" % count if count > ITEMS_MOST else "")


def json_text(address, depth=0):
    try:
        kind = number_at(address, 4)
        if kind in (0, 1) and depth >= DEPTH_MOST:
            return "..."
        if kind == 0:
            return object_text(address, depth)
        if kind == 1:
            return array_text(address, depth)
        if kind == 2:
            return text_at(number_at(address + BODY, WORD), number_at(address + BODY + WORD, WORD))
        if kind == 3:
            return str(number_at(address + BODY, 8, True))
        if kind == 4:
            pointer = gdb.Value(address + BODY).cast(gdb.lookup_type("double").pointer())
            return "%.15g" % float(pointer.dereference())
        if kind in (5, 6, 7):
            return ("true", "false", "null")[kind - 5]
    except gdb.MemoryError:
        pass
    return "<no JSON at %#x>" % address


# ---- which value has which printer ----

PRINTERS = {
    "slice": SlicePrinter,
    "buffer": SlicePrinter,
    "id": IdPrinter,
    "fault": FaultPrinter,
    "arena": ArenaPrinter,
    "json_t": JsonPrinter,
}


def printer_of(value):
    plain = value.type.strip_typedefs()
    if plain.code == gdb.TYPE_CODE_PTR:
        target = plain.target().strip_typedefs()
        return JsonPrinter(value) if target.tag == "json_t" else None
    printer = PRINTERS.get(plain.tag) if plain.code == gdb.TYPE_CODE_STRUCT else None
    return printer(value) if printer is not None else None


gdb.pretty_printers.append(printer_of)


# ---- the request ----


class RequestCommand(gdb.Command):
    """Prints the request that the thread is processing, and sets $call to its struct call: it is in the nearest
    frame that has one, because optimisation takes it away from others."""

    def __init__(self):
        super().__init__("request", gdb.COMMAND_DATA)

    @staticmethod
    def call_of(frame):
        try:
            call = frame.read_var("call")
            target = call.type.target() if call.type.code == gdb.TYPE_CODE_PTR else call.type
            if target.strip_typedefs().tag != "call" or call.is_optimized_out or int(call) == 0:
                return None
            call.dereference().fetch_lazy()
            return call
        except (ValueError, gdb.error):
            return None

    def invoke(self, argument, from_tty):
        frame = gdb.newest_frame()
        while frame is not None:
            call = self.call_of(frame)
            if call is not None:
                gdb.set_convenience_variable("call", call)
                print("%s %s" % (call["request"]["method"], SlicePrinter(call["request"]["uri"]).to_string()))
                print("account %s" % IdPrinter(call["account"]).to_string())
                print("body %s" % JsonPrinter(call["body"]).to_string())
                return
            frame = frame.older()
        raise gdb.GdbError("no frame has a call")


RequestCommand()
