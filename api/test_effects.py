#!/usr/bin/env python3
"""Test of the effects of functions in mpi_functions.txt (TAP on stdout): functions of every kind against what they
should do, and mistakes in the rules.
"""

import os
import sys
import tempfile

import effects
import generate
from test_generate import LIST, Tap

# Function: what it does, without what is usual, and the arguments that readers ask for.
EFFECTS = {
    "MPI_Send": "send; comm dest send_tag send_buf send_count send_type",
    "MPI_Issend_c": "send nonblocking synchronous; comm dest send_tag send_buf send_count send_type request",
    "MPI_Bsend_init": "send persistent buffered; comm dest send_tag send_buf send_count send_type request",
    "MPI_Psend_init": "send persistent partitioned; comm dest send_tag send_buf send_count send_type partitions "
                      "request",
    "MPI_Recv": "receive; comm source recv_tag recv_buf recv_count recv_type status",
    "MPI_Precv_init": "receive persistent partitioned; comm source recv_tag recv_buf recv_count recv_type partitions "
                      "request",
    "MPI_Imrecv": "receive nonblocking matched; recv_buf recv_count recv_type request message",
    "MPI_Isendrecv_replace": "exchange nonblocking; comm dest source send_tag recv_tag send_buf send_count send_type "
                             "recv_buf recv_count recv_type request",
    "MPI_Waitsome": "complete some; request status index out_count",
    "MPI_Testany": "complete polling any; request status flag index",
    "MPI_Improbe": "probe polling matched; comm source recv_tag status flag message",
    "MPI_Parrived": "partition polling; request flag index",
    "MPI_Grequest_start": "nonblocking; request",
    "MPI_Comm_rank": "; comm",
    "MPI_Ibarrier": "collective nonblocking barrier; comm request",
    "MPI_Bcast_init_c": "collective persistent one_to_all gives=root:block gets=block spreads; comm send_buf "
                        "send_count send_type recv_buf recv_count recv_type request root",
    "MPI_Scatterv": "collective one_to_all gives=root:list gets=block; comm send_buf send_type send_counts "
                    "send_displs recv_buf recv_count recv_type root",
    "MPI_Igatherv": "collective nonblocking all_to_one gives=block gets=root:list; comm send_buf send_count send_type "
                    "recv_buf recv_type recv_counts recv_displs request root",
    "MPI_Reduce_scatter": "collective all_to_all gives=list gets=item; comm send_buf send_type send_counts recv_buf "
                          "recv_type recv_counts op",
    "MPI_Reduce_scatter_block": "collective all_to_all gives=blocks gets=block; comm send_buf send_count send_type "
                                "recv_buf recv_count recv_type op",
    "MPI_Exscan": "collective scan gives=block gets=block exclusive; comm send_buf send_count send_type recv_buf "
                  "recv_count recv_type op",
    "MPI_Ineighbor_alltoallw": "collective nonblocking neighbours gives=list gets=list; comm send_buf send_counts "
                               "send_types send_displs recv_buf recv_counts recv_types recv_displs request",
    "MPI_Comm_idup": "collective nonblocking all_to_all; comm request object",
    "MPI_Intercomm_merge": "collective all_to_all merge; comm object",
    "MPI_Intercomm_create": "collective joint merge; comm object",
    "MPI_Pready_range": "partition; request first_part last_part",
    "MPI_Pready_list": "partition; request index",
    "MPI_Win_lock": "epoch lock; target win lock_type",
    "MPI_Comm_create_group": "collective joint; comm group object",
    "MPI_Put": "rma put gives=block; target send_count send_type win",
    "MPI_Rget_c": "rma nonblocking get gets=block; target recv_count recv_type request win",
    "MPI_Fetch_and_op": "rma fetch gives=block gets=block; target send_type recv_type op win",
    "MPI_Rget_accumulate": "rma nonblocking fetch gives=block gets=block; target send_count send_type recv_count "
                           "recv_type request op win",
    "MPI_Win_fence": "epoch all_to_all fence; win",
    "MPI_Win_start": "epoch access; win group",
    "MPI_Win_test": "epoch polling await; flag win",
    "MPI_Win_lock_all": "epoch all lock; win",
    "MPI_Win_flush_local": "epoch flush; target win",
    "MPI_File_open": "file all_to_all open; comm file object",
    "MPI_File_iwrite_at_all": "file nonblocking all_to_all transfer gives=block; send_buf send_count send_type "
                              "request file",
    "MPI_File_read_ordered_begin": "file begin scan transfer gets=block; recv_buf recv_count recv_type file",
    "MPI_File_write_all_end": "file end all_to_all transfer; status file",
    "MPI_Type_commit": "; object",
    "MPI_Cart_create": "collective all_to_all grid; comm object",
    "MPI_Comm_get_parent": "parent; object",
    "MPI_Comm_spawn_multiple": "collective all_to_all spawn; comm root object",
    "MPI_Open_port": "port open; ",
    "MPI_Lookup_name": "port query; ",
    "MPI_Comm_free": "collective; comm object",
}

# What is wrong with a rule or a function, and what the generator says.
MISTAKES = {
    "effect sent: MPI_Barrier": "unknown word 'sent'",
    "effect collective gives=all: MPI_Barrier": "cannot read 'gives=all'",
    "effect collective": "expected 'effect WORD...: NAME...'",
    "effect collective nonblocking: MPI_Barrier": "MPI_Barrier is nonblocking, but returns no request",
    "effect collective one-to-all: MPI_Barrier": "no argument for 'root'",
    "effect collective polling: MPI_Barrier": "MPI_Barrier is polling, but returns no flag",
    "effect send: MPI_Barrier": "no argument for 'dest'",
    "effect collective: MPI_Barrier Lost": "'effect' names 'Lost'",
    "slot nothing: comm": "unknown slot 'nothing'",
    "": "MPI_Barrier has no effect",
}


def show(effect):
    """As in EFFECTS."""
    words = [getattr(effect, category) for category, known in effects.CATEGORIES.items()
             if getattr(effect, category) != known[0]]
    words += [f"{side}={'root:' if getattr(effect, side + '_root') else ''}{getattr(effect, side)}"
              for side in ("gives", "gets") if getattr(effect, side) != "nothing"]
    words += [mark for mark in effects.MARKS if mark in effect.marks]
    return " ".join(words) + "; " + " ".join(slot for slot, at in effect.slots.items() if at >= 0)


def mistake(rule):
    """What the generator says about a list with this rule."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "list")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"role comm type MPI_Comm\n{rule}\nslot comm: comm\n[coll] Collectives\n"
                       "impl int MPI_Barrier(MPI_Comm comm); comm=comm acts\n")
        try:
            generate.read_list(path)
        except generate.ListError as error:
            return str(error)
    return "nothing"


def main():
    tap = Tap()
    calls = {call.name: call for group in generate.read_list(LIST) for call in group.calls if call.is_function}
    for name, wanted in EFFECTS.items():
        found = show(calls[name].effect)
        tap.ok(found == wanted, f"effect of {name}", f"{found}\ninstead of\n{wanted}")
    for rule, wanted in MISTAKES.items():
        found = mistake(rule)
        tap.ok(wanted in found, f"refused: '{rule}'", f"{found}\ninstead of\n{wanted}")
    # Whoever is passed another rank, or takes part in something with others, is not local.
    silent = [name for name, call in calls.items() if call.effect.kind == "local" and call.group.key in
              ("pt2pt", "part", "coll", "icoll", "pcoll", "ncoll") and "acts" in call.flags
              and not name.startswith("MPI_Buffer_attach")]
    tap.ok(not silent, "all communication has effects", silent)
    files = [name for name, call in calls.items() if call.group.key == "io" and call.effect.kind == "local"
             and any(arg.role == "count" for arg in call.args)]
    tap.ok(not files, "all accesses to files have effects", files)
    differ = [name for name, call in calls.items() if name + "_c" in calls
              and show(call.effect) != show(calls[name + "_c"].effect)]
    tap.ok(not differ, "large-count forms have the same effects", differ)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
