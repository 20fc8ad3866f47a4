/* test: n=1,2,5 native=2
 * Sessions: communication without MPI_Init, two sessions at a time, process sets, communicators
 * from groups, error handlers of sessions, and MPI_Init beside and after them. */
#include "check.h"

static int calls;
static MPI_Session seen;

static void on_error(MPI_Session *session, int *code, ...)
{
    (void)code;
    calls++;
    seen = *session;
}

/* Without MPI_COMM_WORLD: check.h's own needs it. */
static void must(int cond, int line)
{
    if (!cond) {
        fprintf(stderr, "env_session.c:%d: check failed\n", line);
        exit(1);
    }
}
#define MUST(cond) must(cond, __LINE__)

static void process_sets(MPI_Session session)
{
    int count, length, size;
    char name[32], value[16];
    int found = 0, flag;
    MPI_Info info;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    MUST(count >= 2);
    for (int i = 0; i < count; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        MUST(length > 0 && length <= 32);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        MUST((int)strlen(name) + 1 == length);
        MPI_Session_get_pset_info(session, name, &info);
        MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag);
        size = atoi(value);
        MUST(flag && size >= 1);
        MPI_Info_free(&info);
        found += !strcmp(name, "mpi://WORLD") || (!strcmp(name, "mpi://SELF") && size == 1);
    }
    MUST(found == 2);
}

/* A sum over the ranks of a process set. */
static void communicate(MPI_Session session, const char *name, const char *tag)
{
    int rank, size, sum;
    MPI_Group group;
    MPI_Comm comm, part;
    MPI_Errhandler handler;
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_get_errhandler(comm, &handler);
    MUST(handler == MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MUST(sum == size * (size - 1) / 2);
    MPI_Comm_split(comm, rank % 2, rank, &part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&comm);
}

static void errors(MPI_Session session)
{
    MPI_Errhandler handler, got;
    MPI_Group group;
    MPI_Session_create_errhandler(on_error, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Session_get_errhandler(session, &got);
    MUST(got == handler);
    MPI_Errhandler_free(&got);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    MUST(calls == 1 && seen == session);
    if (check_virtual()) { /* MPICH 4.0 does not ask the session's handler */
        MUST(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group) == MPI_ERR_ARG);
        MUST(calls == 2);
    }
    MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
    int flag;
    MPI_Session one, two;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &two);
    MUST(one != two);
    MPI_Initialized(&flag);
    MUST(!flag);
    process_sets(one);
    communicate(one, "mpi://WORLD", "org.example.one");
    communicate(two, "mpi://SELF", "org.example.self");
    communicate(two, "mpi://WORLD", "org.example.two");
    errors(two);
    MPI_Session_finalize(&one);
    MUST(one == MPI_SESSION_NULL);
    communicate(two, "mpi://WORLD", "org.example.two");
    MPI_Init(&argc, &argv);
    MPI_Initialized(&flag);
    MUST(flag);
    MPI_Session_finalize(&two);
    check_ok("sessions");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one);
    communicate(one, "mpi://WORLD", "org.example.three");
    MPI_Session_finalize(&one);
    MPI_Finalize();
    MPI_Finalized(&flag);
    MUST(flag);
    return 0;
}
