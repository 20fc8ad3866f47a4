/* What 'trace verify' says of objects that records refer to. */
#include <unistd.h>

#include "tests/tap.h"
#include "tests/trace_build.h"
#include "trace/verify.h"

#define PATH_MOST 64

/* Faults of a finished trace, and what is said of them. */
static uint64_t verify(struct build *b, struct buf *said)
{
    char path[PATH_MOST];
    struct trace t;
    struct err err;
    uint64_t faults = UINT64_MAX;
    snprintf(path, sizeof path, "/tmp/orrery-verify-%ld.orr", (long)getpid());
    build_end(b, path);
    buf_init(said);
    if (trace_open(&t, path, &err) == 0) {
        faults = trace_verify(&t, said);
        trace_close(&t);
    }
    unlink(path);
    return faults;
}

/* A communicator of `size` members in which the rank is number `place`, without their list. */
static void define_alone(struct build *b, uint64_t identity, uint64_t place, uint64_t size)
{
    uint8_t text[64], *at = trace_varint_put(text, 2);
    memcpy(at, &identity, sizeof identity);
    at = trace_varint_put(at + sizeof identity, TRACE_COMM_INTRA);
    at = trace_varint_put(at, trace_zigzag((int64_t)place));
    at = trace_varint_put(at, size);
    at = trace_varint_put(at, 0);
    trace_other(&b->locals[0], TRACE_DEFINE_COMM, 0, text, (size_t)(at - text));
}

static void expect(struct build *b, const char *wanted, const char *what)
{
    struct buf said;
    uint64_t faults = verify(b, &said);
    ok(wanted ? faults == 1 && strstr(buf_str(&said), wanted) != NULL : faults == 0, "%s", what);
    if (said.len)
        printf("# %s", buf_str(&said));
    buf_fini(&said);
}

int main(void)
{
    static const int64_t both[] = {1, 0};
    struct build b;
    build_begin(&b, 2);
    build_comm(&b, 2, 77, both, 2);
    build_call(&b, 0, "MPI_Barrier", 0, 1, "comm=2");
    build_call(&b, 1, "MPI_Barrier", 0, 1, "comm=2");
    expect(&b, NULL, "a communicator with its members");

    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Barrier", 0, 1, "comm=2");
    expect(&b, "not defined", "a communicator that is not defined");

    build_begin(&b, 2);
    define_alone(&b, 0, 0, 0);
    build_call(&b, 0, "MPI_Barrier", 0, 1, "comm=2");
    expect(&b, "has no members", "rank 0 of 0");

    build_begin(&b, 2);
    define_alone(&b, 77, 2, 2);
    build_call(&b, 0, "MPI_Barrier", 0, 1, "comm=2");
    expect(&b, "has no members", "rank 2 of 2");

    build_begin(&b, 2);
    build_region(&b, 0, 3, 0);
    build_region(&b, 0, -1, 1);
    expect(&b, "not defined", "a region without a name");
    return done_testing();
}
