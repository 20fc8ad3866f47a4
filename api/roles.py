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
LENGTHS = ("none", "value", "target", "size", "indegree", "outdegree", "dims", "sum", "last", "all")
KEYWORDS = ("role", "length", "room", "unless", "given", "free") + DIRECTIONS


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
        elif keyword in ("free", "given"):
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
        for arg in call.args:
            arg.wrong = None if last(self.free, call, arg) else self.wrong(call, arg, by_name)

    def wrong(self, call, arg, by_name):
        """The condition in C under which the argument cannot be right, or None."""
        conditions = []
        room = last(self.rooms, call, arg)
        if not arg.indirect:
            is_length = any(other.length and other.length.kind == "value" and other.length.argument == arg.name
                            for other in call.args)
            if arg.role != "count" and not is_length:
                return None
            conditions = [f"{arg.name} < 0"]
        elif must_be_there(arg, last(self.given, call, arg)):
            if not room and arg.length and arg.length.kind not in ("value", "size"):
                return None # how many items there are is known later
            if not room and arg.length and arg.length.kind == "value":
                room = arg.length.argument
            conditions = ([f"{room} > 0"] if room else []) + [f"!{arg.name}"]
        else:
            return None
        for name, value in last(self.unless, call, arg) or []:
            if name not in by_name:
                raise ValueError(f"'unless {name}={value}': {call.name} has no such argument")
            conditions.append(f"{name} != {value}")
        return " && ".join(conditions)

    def length(self, call, arg, by_name):
        if not arg.array:
            return None
        for length in last(self.lengths, call, arg) or []:
            if length.argument is None or length.argument in by_name:
                return length
        if arg.role == "text" and arg.type.count("*") == 0:
            return None # char name[]: ends with a NUL
        raise ValueError(f"array '{arg.name}' of {call.name} has no length: see 'length' at the top")


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
