#!/usr/bin/env python3
"""Test of the roles of arguments in mpi_functions.txt, and of the checks that follow from them (TAP on
stdout): functions of every kind against what they should be.
"""

import sys

import generate
from test_generate import LIST, Tap

# Function: its arguments as ROLE, with > for out, <> for both, and [length].
SIGNATURES = {
    "MPI_Send": "buffer count datatype peer tag comm",
    "MPI_Irecv": "buffer> count datatype peer tag comm request>",
    "MPI_Sendrecv_replace": "buffer<> count datatype peer tag peer tag comm status>",
    "MPI_Waitsome": "count request<>[value incount] count> index>[target outcount] "
                    "status>[target outcount]",
    "MPI_Waitall": "count request<>[value count] status>[value count]",
    "MPI_Cancel": "request",
    "MPI_Mrecv": "buffer> count datatype message<> status>",
    "MPI_Bcast": "buffer<> count datatype root comm",
    "MPI_Alltoallw": "buffer count[peers comm] displacement[peers comm] datatype[peers comm] "
                     "buffer> count[peers comm] displacement[peers comm] datatype[peers comm] comm",
    "MPI_Ineighbor_alltoallv_c": "buffer count[outdegree comm] displacement[outdegree comm] datatype "
                                 "buffer> count[indegree comm] displacement[indegree comm] datatype "
                                 "comm request>",
    "MPI_Reduce_scatter_init": "buffer buffer> count[size comm] datatype op comm info request>",
    "MPI_Comm_split": "comm value value comm>",
    "MPI_Comm_free": "comm<>",
    "MPI_Type_commit": "datatype<>",
    "MPI_Type_create_struct": "count size[value count] displacement[value count] "
                              "datatype[value count] datatype>",
    "MPI_Rget_accumulate": "buffer count datatype buffer> count datatype peer displacement count "
                           "datatype op win request>",
    "MPI_Win_create": "pointer size size info comm win>",
    "MPI_File_write_at_all": "file displacement buffer count datatype status>",
    "MPI_Graph_create": "comm value value[value nnodes] value[last indx] value comm>",
    "MPI_Comm_spawn": "text text[all] value info root comm comm> value>[value maxprocs]",
    "MPI_Info_set": "info text text",
    "MPI_Op_create": "callback value op>",
}

# Function: when its entry refuses a call.
WRONG = {
    "MPI_Bcast": "(count < 0 && root != MPI_PROC_NULL)",
    "MPI_Gather_c": "(sendcount < 0 && sendbuf != MPI_IN_PLACE && root != MPI_ROOT && root != MPI_PROC_NULL)",
    "MPI_Allgatherv": "(sendcount < 0 && sendbuf != MPI_IN_PLACE)",
    "MPI_Neighbor_allgatherv": "(sendcount < 0 && sendbuf != MPI_IN_PLACE)",
    "MPI_Reduce_scatter": "",
    "MPI_Allreduce": "count < 0",
    "MPI_Waitsome": "incount < 0 || (!array_of_requests && incount > 0) || !outcount"
                    " || (!array_of_indices && incount > 0) || (!array_of_statuses && incount > 0)",
    "MPI_Get_accumulate": "(origin_count < 0 && op != MPI_NO_OP) || result_count < 0 || target_count < 0",
    "MPI_Op_create": "!user_fn || !op",
    "MPI_Comm_create_keyval": "!comm_keyval",
    "MPI_Type_indexed": "count < 0 || (!array_of_blocklengths && count > 0)"
                        " || (!array_of_displacements && count > 0) || !newtype",
    "MPI_Type_vector": "count < 0 || blocklength < 0 || !newtype",
}
# The same for what is checked once the rank is known.
WRONG_LATER = {
    "MPI_Send": "",
    "MPI_Bcast": "mpi_arg_is_no_root(comm, root)",
    "MPI_Gather": "(recvcount < 0 && mpi_arg_is_root(self, comm, root)) || mpi_arg_is_no_root(comm, root)",
    "MPI_Iscatterv": "((!sendcounts && mpi_arg_is_root(self, comm, root) && mpi_arg_peers(self, comm) > 0)"
                     " || (mpi_arg_is_root(self, comm, root)"
                     " && MPI_ARG_HAS_NEGATIVE(sendcounts, mpi_arg_peers(self, comm))))"
                     " || (!displs && mpi_arg_is_root(self, comm, root) && mpi_arg_peers(self, comm) > 0)"
                     " || mpi_arg_is_no_root(comm, root)",
    "MPI_Reduce_scatter": "((!recvcounts && mpi_arg_size(self, comm) > 0)"
                          " || MPI_ARG_HAS_NEGATIVE(recvcounts, mpi_arg_size(self, comm)))",
    "MPI_Neighbor_allgatherv": "((!recvcounts && mpi_arg_indegree(self, comm) > 0)"
                               " || MPI_ARG_HAS_NEGATIVE(recvcounts, mpi_arg_indegree(self, comm)))"
                               " || (!displs && mpi_arg_indegree(self, comm) > 0)",
    "MPI_Type_indexed_c": "MPI_ARG_HAS_NEGATIVE(array_of_blocklengths, count)",
    "MPI_Dist_graph_create": "MPI_ARG_HAS_NEGATIVE(degrees, n)",
}


def main():
    tap = Tap()
    calls = {call.name: call for group in generate.read_list(LIST) for call in group.calls}

    def show(arg):
        length = arg.length and f"[{arg.length.kind}" + (
            f" {arg.length.argument}]" if arg.length.argument else "]")
        return arg.role + {"in": "", "out": ">", "both": "<>"}[arg.direction] + (length or "")

    for name, wanted in SIGNATURES.items():
        found = " ".join(show(arg) for arg in calls[name].args)
        tap.ok(found == wanted, f"roles of {name}", f"{found}\ninstead of\n{wanted}")
    for name, wanted in WRONG.items():
        found = generate.wrong(calls[name])
        tap.ok(found == wanted, f"checks of {name}", f"{found}\ninstead of\n{wanted}")
    for name, wanted in WRONG_LATER.items():
        found = generate.wrong_later(calls[name])
        tap.ok(found == wanted, f"later checks of {name}", f"{found}\ninstead of\n{wanted}")
    pairs = [(call, calls[name + "_c"]) for name, call in calls.items() if name + "_c" in calls]
    differ = [call.name for call, form in pairs if [a.name for a in call.args] == [
        a.name for a in form.args] and [show(a) for a in call.args] != [show(a) for a in form.args]]
    tap.ok(len(pairs) > 100 and not differ, "large-count forms have the same roles", differ)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
