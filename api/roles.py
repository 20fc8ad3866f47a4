"""What the arguments of MPI functions are: the rules at the top of the list, applied to every argument.

An argument has a role ("comm"), a direction ("in", "out", "both") and, if it is an array, a length; and there is
a condition in C under which a call with it is refused, or none. The rules are described in mpi_functions.txt.
"""

import re

ROLES = ("buffer", "count", "datatype", "peer", "tag", "comm", "request", "status", "root", "op", "win", "file",
         "group", "info", "errhandler", "message", "session", "keyval", "displacement", "size", "flag", "index",
         "text", "callback", "pointer", "tool", "value")
# Bytes of types, in MPICH's ABI: handles are ints, but files are pointers.
SIZES = {"int": 4, "char": 1, "double": 8, "MPI_Aint": 8, "MPI_Count": 8, "MPI_Offset": 8, "MPI_Status": 20,
         "MPI_Comm": 4, "MPI_Datatype": 4, "MPI_Group": 4, "MPI_Op": 4, "MPI_Win": 4, "MPI_Request": 4,
         "MPI_Info": 4, "MPI_Errhandler": 4, "MPI_Message": 4, "MPI_Session": 4, "MPI_Fint": 4, "MPI_File": 8}
DIRECTIONS = ("in", "out", "both")
# Kinds of lengths, and how they are written; the empty kind is the value of an argument.
LENGTHS = ("none", "value", "target", "size", "peers", "indegree", "outdegree", "dims", "nodes", "edges", "neighbors",
           "sources", "source_weights", "destinations", "destination_weights", "integers", "addresses", "large_counts",
           "datatypes", "sum", "last", "all")
KEYWORDS = ("role", "length", "room", "unless", "given", "free", "natural", "rooted") + DIRECTIONS


def pattern(words):
    """What follows 'for': a test of names; everything without it."""
    if not words:
        return re.compile("")
    return re.compile("(?:" + "|".join(re.escape(w).replace(r"\*", ".*") for w in words) + r")\Z")


def split_for(words):
    if "for" not in words:
        return words, pattern([])
    at = words.index("for")
    if at + 1 == len(words):
        raise ValueError("no names after 'for'")
    return words[:at], pattern(words[at + 1:])


class Length:
    """How many items an array has: a kind of LENGTHS, and the name of an argument."""

    def __init__(self, text):
        found = re.fullmatch(r"(\*?)(?:(\w+)\()?(\w+)\)?", text)
        if not found or (found.group(2) is None) != (not text.endswith(")")):
            raise ValueError(f"cannot read length '{text}'")
        self.argument = found.group(3)
        self.kind = "target" if found.group(1) else found.group(2) or "value"
        if text == "all":
            self.kind, self.argument = "all", None
        if self.kind not in LENGTHS:
            raise ValueError(f"cannot read length '{text}'")


class Rules:
    """All rules, in the order of the list."""

    def __init__(self):
        self.by_type = {}
        self.by_name = []    # (names, pattern, role)
        self.directions = [] # (names, pattern, direction)
        self.lengths = []    # (names, pattern, [Length])
        self.rooms = []      # (names, pattern, name of the argument that counts the items)
        self.unless = []     # (names, pattern, [(name of another argument, its value)])
        self.given = []      # (names, pattern, True): functions that are needed
        self.free = []       # (names, pattern, True)
        self.natural = []    # (names, pattern, True): what may not be negative, beside counts and lengths
        self.rooted = []     # (names, pattern, True): what only the root looks at

    def add(self, text):
        """One rule; returns whether the text is one."""
        keyword = text.split(" ", 1)[0]
        if keyword not in KEYWORDS:
            return False
        words, names = split_for(text.split()[1:])
        if keyword == "role":
            self.add_role(words, names)
        elif keyword in ("length", "room", "unless"):
            expression, colon, rest = " ".join(words).partition(":")
            if not colon or not rest.split():
                raise ValueError(f"expected '{keyword} EXPR: NAME...'")
            self.add_expression(keyword, expression, rest.split(), names)
        elif not words:
            raise ValueError(f"no names after '{keyword}'")
        elif keyword in ("free", "given", "natural", "rooted"):
            getattr(self, keyword).append((words, names, True))
        else:
            self.directions.append((words, names, keyword))
        return True

    def add_expression(self, keyword, expression, words, names):
        if keyword == "length":
            self.lengths.append((words, names, [Length(part.strip()) for part in expression.split("|")]))
        elif keyword == "room":
            self.rooms.append((words, names, expression.strip()))
        else:
            pairs = [tuple(part.split("=")) for part in expression.split()]
            if any(len(pair) != 2 for pair in pairs):
                raise ValueError("expected 'unless ARG=VALUE...: NAME...'")
            self.unless.append((words, names, pairs))

    def add_role(self, words, names):
        if len(words) < 3 or words[1] not in ("type", "name"):
            raise ValueError("expected 'role ROLE type TYPE...' or 'role ROLE name NAME...'")
        if words[0] not in ROLES:
            raise ValueError(f"unknown role '{words[0]}'")
        if words[1] == "name":
            self.by_name.append((words[2:], names, words[0]))
            return
        for word in words[2:]:
            if word in self.by_type:
                raise ValueError(f"type '{word}' has a role already")
            self.by_type[word] = words[0]

    def apply(self, call):
        """Gives every argument of a call its role, direction and length."""
        by_name = {arg.name: arg for arg in call.args}
        for arg in call.args:
            arg.role = self.by_type.get(arg.base) or last(self.by_name, call, arg)
            if arg.role is None:
                raise ValueError(f"argument '{arg.name}' of {call.name} has no role: see 'role' at the top")
            given_away = arg.indirect and not arg.constant and arg.role != "callback"
            arg.direction = (last(self.directions, call, arg) or "out") if given_away else "in"
            arg.length = self.length(call, arg, by_name)
            arg.room = last(self.rooms, call, arg)
            if arg.room and arg.room not in by_name:
                raise ValueError(f"'room {arg.room}': {call.name} has no such argument")
        for arg in call.args:
            arg.wrong = arg.wrong_later = None
            if not last(self.free, call, arg):
                self.check(call, arg, by_name)

    def check(self, call, arg, by_name):
        """Sets the conditions in C under which the argument cannot be right: one that looks at arguments only, and one
        that also asks for the communicator or reads an array."""
        guards = []
        for name, value in last(self.unless, call, arg) or []:
            if name not in by_name:
                raise ValueError(f"'unless {name}={value}': {call.name} has no such argument")
            guards.append(f"{name} != {value}")
        if (last(self.rooted, call, arg) or arg.role == "root") and not call.comm:
            raise ValueError(f"'{arg.name}' of {call.name}: a root needs the flag 'comm='")
        if last(self.rooted, call, arg):
            guards.append(f"mpi_arg_is_root(self, {call.comm}, root)")
        now, later = [], []
        for cheap, costly in self.mistakes(call, arg):
            text = " && ".join(cheap + guards + costly)
            (later if "mpi_arg_" in text.lower() else now).append(text)
        arg.wrong = either(now)
        arg.wrong_later = either(later)

    def mistakes(self, call, arg):
        """What may be wrong with an argument, whatever others are: pairs of lists of conditions that hold together,
        those that are quickly checked first."""
        is_length = any(other.room == arg.name or (other.length and other.length.kind == "value"
                                                   and other.length.argument == arg.name) for other in call.args)
        is_natural = arg.role == "count" or last(self.natural, call, arg)
        if arg.role == "root":
            return [([], [f"mpi_arg_is_no_root({call.comm}, {arg.name})"])]
        if not arg.indirect:
            return [([f"{arg.name} < 0"], [])] if is_natural or is_length else []
        if not must_be_there(arg, last(self.given, call, arg)):
            return []
        items = arg.room or (arg.length and items_of(arg.length))
        if arg.length and not items:
            return []  # how many items there are is known later
        found = [([f"!{arg.name}"], [f"{items} > 0"] if items else [])]
        if arg.length and is_natural and arg.direction == "in":
            found.append(([], [f"MPI_ARG_HAS_NEGATIVE({arg.name}, {items})"]))
        return found

    def length(self, call, arg, by_name):
        if not arg.array:
            return None
        for length in last(self.lengths, call, arg) or []:
            if length.argument is None or length.argument in by_name:
                return length
        if arg.role == "text" and arg.type.count("*") == 0:
            return None # char name[]: ends with a NUL
        raise ValueError(f"array '{arg.name}' of {call.name} has no length: see 'length' at the top")


def items_of(length):
    """An expression in C for the items of an array; None: they are not known before the call."""
    if length.kind == "value":
        return length.argument
    if length.kind in ("size", "peers", "indegree", "outdegree"):
        return f"mpi_arg_{length.kind}(self, {length.argument})"
    return None


def either(conditions):
    """'a && b || c' with the parentheses that compilers want; None: there is no condition."""
    if len(conditions) > 1:
        conditions = [f"({text})" if "&&" in text else text for text in conditions]
    return " || ".join(conditions) or None


def must_be_there(arg, is_given):
    """Is the argument a pointer that may not be null, if it has items?"""
    if arg.role == "callback":
        return bool(is_given)
    if arg.role == "buffer":
        return False
    if arg.array and arg.role != "text":
        return arg.length is not None
    return arg.direction != "in" or arg.role in ("request", "status", "text")


def last(rules, call, arg):
    found = None
    for names, test, what in rules:
        if arg.name in names and test.match(call.name):
            found = what
    return found
