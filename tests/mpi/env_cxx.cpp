/* test: n=1,2 native=2
 * The C++ binding: exceptions instead of error codes, an error handler, an operation and attribute
 * functions written in C++, all called through libmpichcxx. */
#include "check.h"

static int calls, deletes;

static void on_error(MPI::Comm &comm, int *code, ...)
{
    calls += comm.Get_size() > 0 && *code != MPI::SUCCESS;
}

static void add(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    CHECK(type.Get_size() == (int)sizeof(int));
    for (int i = 0; i < n; i++)
        ((int *)inout)[i] += ((const int *)in)[i];
}

static int on_copy(const MPI::Comm &, int, void *extra, void *in, void *out, bool &flag)
{
    *(void **)out = (char *)in + *(int *)extra;
    flag = true;
    return MPI::SUCCESS;
}

static int on_delete(MPI::Comm &, int, void *, void *)
{
    deletes++;
    return MPI::SUCCESS;
}

static void exceptions(MPI::Intracomm &comm)
{
    int data = 0, seen = -1;
    comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        comm.Send(&data, 1, MPI::INT, comm.Get_size(), 0);
    } catch (MPI::Exception &e) {
        seen = e.Get_error_class();
    }
    CHECK(seen == MPI::ERR_RANK);
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_error);
    comm.Set_errhandler(handler);
    comm.Call_errhandler(MPI::ERR_OTHER);
    CHECK(calls == 1);
    comm.Send(&data, 1, MPI::INT, comm.Get_size(), 0); /* the handler is called once, no more */
    CHECK(calls == 2);
    handler.Free();
}

static void operation(MPI::Intracomm &comm)
{
    int ones[3] = {1, 1, 1}, sums[3];
    MPI::Op op;
    op.Init(add, true);
    comm.Allreduce(ones, sums, 3, MPI::INT, op);
    CHECK(sums[0] == comm.Get_size() && sums[2] == comm.Get_size());
    op.Free();
}

static void attributes(MPI::Intracomm &comm)
{
    int step = 5;
    char *value = NULL;
    int key = MPI::Comm::Create_keyval(on_copy, on_delete, &step);
    comm.Set_attr(key, (void *)(size_t)10);
    MPI::Intracomm dup = comm.Dup();
    CHECK(dup.Get_attr(key, &value) && value == (char *)(size_t)15);
    dup.Free();
    CHECK(deletes == 1);
    comm.Delete_attr(key);
    MPI::Comm::Free_keyval(key);
    CHECK(deletes == 2);
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    exceptions(comm);
    check_ok("exceptions");
    operation(comm);
    check_ok("operation");
    attributes(comm);
    check_ok("attributes");
    comm.Free();
    MPI::Finalize();
    return 0;
}
