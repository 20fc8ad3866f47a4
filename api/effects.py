"""What MPI functions do to other ranks: the rules `effect` and `slot` at the top of the list, applied to every function.

A function has a kind ("send"), and words that qualify it; an effect of the whole is one struct mpi_effect of the
generated mpi_effects.h. The rules are described in mpi_functions.txt.
"""

import re
import textwrap

# The words of a rule, by what they say. The first of each is what a function has without a word.
KINDS = ("local", "init", "finalize", "abort", "send", "receive", "exchange", "start", "partition", "complete",
         "inquire", "release", "cancel", "probe", "drain", "collective", "rma", "epoch", "file", "port")
FORMS = ("blocking", "nonblocking", "persistent", "polling", "begin", "end")
MODES = ("standard", "synchronous", "ready", "buffered")
AMOUNTS = ("one", "all", "any", "some")
CLASSES = ("apart", "barrier", "one_to_all", "all_to_one", "all_to_all", "scan", "neighbours", "group", "joint")
STEPS = ("none", "put", "get", "accumulate", "fetch", "swap", "fence", "post", "access", "finish", "await", "lock",
         "unlock", "flush", "sync", "free", "open", "close", "transfer", "query", "manage", "split", "grid", "subgrid",
         "merge", "meet", "spawn", "parent")
MARKS = ("matched", "partitioned", "exclusive", "spreads")
# What a rank passes to a call or gets from it.
VOLUMES = ("nothing", "block", "blocks", "list", "item")
CATEGORIES = {"kind": KINDS, "form": FORMS, "mode": MODES, "amount": AMOUNTS, "class": CLASSES, "step": STEPS}
# Arguments that readers of calls ask for; -1 if a function has none.
SLOTS = ("comm", "dest", "source", "target", "send_tag", "recv_tag", "send_buf", "send_count", "send_type", "send_counts",
         "send_types", "send_displs", "recv_buf", "recv_count", "recv_type", "recv_counts", "recv_types", "recv_displs", "partitions", "request",
         "status", "flag", "index", "out_count", "root", "message", "op", "win", "file", "group", "object", "lock_type", "first_part",
         "last_part")
# Roles of objects that a call can make and free, beside requests and messages.
HANDLES = ("comm", "group", "datatype", "op", "info", "errhandler", "win", "file", "keyval", "session")
# Those of handles that traces have.
RECORDED = ("comm", "group", "datatype", "op", "win", "file", "session", "message")
SEND_SLOTS = tuple(slot for slot in SLOTS if slot.startswith("send_"))
RECV_SLOTS = tuple(slot for slot in SLOTS if slot.startswith("recv_"))


class Effect:
    """What one function does."""

    def __init__(self, words, form):
        for category, known in CATEGORIES.items():
            setattr(self, category, known[0])
        self.form = form
        self.marks = set()
        self.gives = self.gets = "nothing"
        self.gives_root = self.gets_root = False
        self.slots = {}
        for word in words:
            self.take(word)

    def take(self, word):
        key, equals, value = word.partition("=")
        if equals and key in ("gives", "gets"):
            root, colon, what = value.rpartition(":")
            if what not in VOLUMES or (colon and root != "root"):
                raise ValueError(f"cannot read '{word}'")
            setattr(self, key, what)
            setattr(self, key + "_root", bool(colon))
            return
        plain = word.replace("-", "_")
        if plain in MARKS:
            self.marks.add(plain)
            return
        # A word of two categories, such as "all", belongs to the one that is named first by its kind.
        for category, known in CATEGORIES.items():
            if plain in known and not equals:
                setattr(self, category, plain)
                return
        raise ValueError(f"unknown word '{word}' of an effect")


    def find_object(self, call):
        """Which object the call makes, frees or changes, and whether handles must be looked at before it is made."""
        self.makes = self.frees = None
        handles = [(i, arg) for i, arg in enumerate(call.args) if arg.role in HANDLES and arg.indirect and not arg.array]
        given = [(i, arg) for i, arg in handles if arg.direction != "out"]
        made = [(i, arg) for i, arg in handles if arg.direction == "out"]
        if "frees" in call.flags and "lends" not in call.flags:
            self.frees = next((arg.role for _, arg in given), None)
        elif "lends" not in call.flags:
            self.makes = next((arg.role for _, arg in made), None)
        self.slots["object"] = next((i for i, _ in given or made), -1)
        self.is_given = any(arg.direction != "out" for arg in call.args if arg.role == "request"
                            or (arg.indirect and not arg.array and arg.role in RECORDED))


def family(name):
    """The functions that a name in a rule stands for, with their forms, and the blocking one. 'Bcast' is MPI_Bcast,
    MPI_Ibcast and MPI_Bcast_init; a name with a prefix is one function. Each includes its large-count form."""
    if name.startswith("MPI"):
        plain = [(name, None)]
    else:
        plain = [("MPI_" + name, "blocking"), ("MPI_I" + name[0].lower() + name[1:], "nonblocking"),
                 (f"MPI_{name}_init", "persistent")]
    for base, form in plain:
        text = re.escape(base).replace(r"\*", ".*")
        yield re.compile(f"{text}(_c)?\\Z"), form, plain[0][0] if form else None


class Rules:
    """All rules, in the order of the list; the last one that fits counts."""

    def __init__(self):
        self.effects = []  # (pattern, form, name of the blocking form, words, name)
        self.slots = []    # (slot, names of arguments, pattern)
        self.used = set()

    def add(self, text):
        """One rule; returns whether the text is one."""
        keyword, _, rest = text.partition(" ")
        if keyword not in ("effect", "slot"):
            return False
        head, colon, names = rest.partition(":" if keyword == "slot" else ": ")
        if not colon or not names.split():
            raise ValueError(f"expected '{keyword} WORD...: NAME...'")
        (self.add_slot if keyword == "slot" else self.add_effect)(head.split(), names.split())
        return True

    def add_effect(self, words, names):
        Effect(words, "blocking")  # finds mistakes
        for name in names:
            for pattern, form, base in family(name):
                self.effects.append((pattern, form, base, words, name))

    def add_slot(self, words, names):
        if len(words) != 1 or words[0] not in SLOTS:
            raise ValueError(f"unknown slot '{' '.join(words)}'")
        functions = [re.compile("")]
        if "for" in names:
            at = names.index("for")
            functions = [pattern for name in names[at + 1:] for pattern, _, _ in family(name)]
            names = names[:at]
        self.slots.append((words[0], names, functions))

    def apply(self, call):
        """Sets what a call does."""
        found = [rule for rule in self.effects if rule[0].match(call.name)]
        _, form, base, words, name = found[-1] if found else (None, None, None, (), None)
        self.used.add(name)
        call.effect = Effect(words, form or "blocking")
        call.effect.base = base or re.sub(r"_c\Z", "", call.name)
        if not found and call.is_function:
            raise ValueError(f"{call.name} has no effect: see 'effect' at the top")
        self.find_slots(call)
        call.effect.find_object(call)
        check(call)

    def find_slots(self, call):
        names = [arg.name for arg in call.args]
        slots = dict.fromkeys(SLOTS, -1)
        for slot, wanted, functions in self.slots:
            if any(pattern.match(call.name) for pattern in functions):
                slots[slot] = next((names.index(name) for name in wanted if name in names), -1)
        effect = call.effect
        sends = effect.kind in ("send", "exchange") or effect.gives != "nothing"
        receives = effect.kind in ("receive", "exchange", "probe") or effect.gets != "nothing"
        for slot in (() if sends else SEND_SLOTS) + (() if receives else RECV_SLOTS):
            slots[slot] = -1
        effect.slots = slots

    def unused(self):
        return sorted({rule[4] for rule in self.effects} - self.used)


def check(call):
    """Refuses effects that the prototype contradicts."""
    effect, slots = call.effect, call.effect.slots
    made = [arg for arg in call.args if arg.role == "request" and arg.direction == "out"]
    if (effect.form in ("nonblocking", "persistent")) != bool(made):
        raise ValueError(f"{call.name} is {effect.form}, but returns {'a' if made else 'no'} request")
    if effect.form == "polling" and slots["flag"] < 0 and slots["out_count"] < 0:
        raise ValueError(f"{call.name} is polling, but returns no flag")
    wanted = {"send": ["dest"], "receive": ["message"] if "matched" in effect.marks else ["source"],
              "exchange": ["dest", "source"], "complete": ["request", "status"], "start": ["request"],
              "release": ["request"], "cancel": ["request"], "probe": ["source", "status"], "rma": ["win", "target"],
              "epoch": ["win"]}.get(effect.kind, [])
    for side, sent in (("send", effect.gives), ("recv", effect.gets)):
        if sent in ("block", "blocks") and effect.step not in ("fetch", "swap"):
            wanted = wanted + [side + "_count"]
        if sent in ("list", "item"):
            wanted = wanted + [side + "_counts"]
        if sent != "nothing" and slots[side + "_types"] < 0:
            wanted = wanted + [side + "_type"]
    if effect.gives_root or effect.gets_root or effect.class_is_rooted:
        wanted = wanted + ["root"]
    lacks = [slot for slot in wanted if slots[slot] < 0]
    if lacks:
        raise ValueError(f"{call.name} has no argument for '{lacks[0]}': see 'slot' at the top")


def class_is_rooted(self):
    return self.kind == "collective" and getattr(self, "class") in ("one_to_all", "all_to_one")


Effect.class_is_rooted = property(class_is_rooted)


# ---- C text ----

FIELDS = ("kind", "form", "mode", "amount", "class", "step", "gives", "gets")


def header_body():
    def enum(name, prefix, words, comment):
        lines = "\n".join(f"    {prefix}_{word.upper()}," for word in words)
        return f"/* {comment} */\nenum {name} {{\n{lines}\n}};\n"

    slots = textwrap.fill(", ".join(SLOTS) + ";", 96, initial_indent="    signed char ", subsequent_indent=" " * 8)
    each = " \\\n".join(f"    X({slot})" for slot in SLOTS)
    unknown = textwrap.fill(", ".join(f".{slot} = -1" for slot in SLOTS), 96, initial_indent="    {.base = MPI_FN_COUNT, ",
                            subsequent_indent=" " * 5).replace("\n", " \\\n") + "}"
    return "\n".join([
        '#include "mpi_roles.h"\n',
        enum("mpi_kind", "MPI_DOES", KINDS, "What a function does; see EFFECTS in api/mpi_functions.txt."),
        enum("mpi_form", "MPI_FORM", FORMS, "When its operation is complete."),
        enum("mpi_mode", "MPI_MODE", MODES, "Of sends."),
        enum("mpi_amount", "MPI_AMOUNT", AMOUNTS, "Of requests that it completes or starts; of targets."),
        enum("mpi_class", "MPI_CLASS", CLASSES, "Who waits for whom."),
        enum("mpi_step", "MPI_STEP", STEPS, "Of one-sided communication, files and ranks that are spawned."),
        enum("mpi_volume", "MPI_VOLUME", VOLUMES, "Which arguments say how much data."),
        f"""struct mpi_effect {{
    /* The blocking function with int counts of which it is a form, or itself: enum mpi_fn. */
    unsigned short base;
    /* Of the enums above, in this order; gives and gets: enum mpi_volume. */
    unsigned char {', '.join(FIELDS)};
    unsigned char gives_root, gets_root; /* only the root does */
    unsigned char {', '.join(field(mark) for mark in MARKS)}, reduces;
    unsigned char is_wide; /* counts are MPI_Count: MPI_Send_c */
    unsigned char makes, frees; /* enum mpi_role + 1 of an object, or 0 */
    unsigned char is_given; /* it is passed requests, or handles that it may change */
    /* Numbers of arguments; -1: it has none. */
{slots}
}};

#define MPI_EFFECT_SLOTS(X) \\
{each}

/* Of a function that is not known: it is local. */
#define MPI_EFFECT_UNKNOWN \\
{unknown}

/* By enum mpi_fn. */
extern const struct mpi_effect mpi_fn_effect[MPI_FN_COUNT];
"""])


def field(mark):
    return mark if mark == "spreads" else "is_" + mark


def row(call, constant):
    effect = call.effect
    prefixes = dict(kind="MPI_DOES", form="MPI_FORM", mode="MPI_MODE", amount="MPI_AMOUNT", step="MPI_STEP",
                    gives="MPI_VOLUME", gets="MPI_VOLUME")
    prefixes["class"] = "MPI_CLASS"
    parts = [f".base = {constant(effect.base)}"]
    parts += [f".{field} = {prefixes[field]}_{getattr(effect, field).upper()}" for field in FIELDS]
    parts += [f".{side}_root = 1" for side in ("gives", "gets") if getattr(effect, side + "_root")]
    parts += [f".{field(mark)} = 1" for mark in MARKS if mark in effect.marks]
    if effect.kind == "collective" and effect.slots["op"] >= 0:
        parts.append(".reduces = 1")
    if call.name.endswith("_c"):
        parts.append(".is_wide = 1")
    parts += [f".{what} = MPI_ROLE_{getattr(effect, what).upper()} + 1" for what in ("makes", "frees")
              if getattr(effect, what)]
    if effect.is_given:
        parts.append(".is_given = 1")
    parts += [f".{slot} = {at}" for slot, at in effect.slots.items()]
    return f"    [{call.constant}] = {{{', '.join(parts)}}},\n"


def table(functions):
    constants = {call.name: call.constant for call in functions}
    rows = "".join(row(call, lambda name, call=call: constants.get(name, call.constant)) for call in functions)
    return f"const struct mpi_effect mpi_fn_effect[MPI_FN_COUNT] = {{\n{rows}}};\n"
