/* test: n=1,2,5,16 native=2 args="{tmp}/model.dat" schedules=10 measured=no
 * test: run="--set net.model=constant,net.latency=10us,net.bandwidth=8Gbps,mpi.clock_cost=1ns,io.bandwidth=4Gbps"
 * The time of accesses against closed forms: one rank and one server, contention, stripes, holes,
 * reading, metadata. A byte takes 1 ns on the network and 2 ns at a server. */
#include <math.h>

#include "check.h"

#define LATENCY 10e-6
#define SERVER 100e-6
#define WIRE 1e-9
#define DISK 2e-9
#define META 1e-3

static int rank, size;
static double base = 1e-3;

static void expect(const char *what, double got, double want)
{
    if (check_virtual() && fabs(got - want) > 3e-9) {
        fprintf(stderr, "rank %d: %s took %.9f s instead of %.9f\n", rank, what, got, want);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* All ranks continue at the same time. */
static void together(void)
{
    double now, last;

    MPI_Barrier(MPI_COMM_WORLD);
    now = MPI_Wtime();
    MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    base = ceil(last * 1e3 + 1) * 1e-3;
    check_spend(base - MPI_Wtime());
}

static MPI_File must_open(MPI_Comm comm, const char *name, const char *servers)
{
    MPI_Info info;
    MPI_File f;

    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_factor", servers);
    CHECK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        info, &f) == MPI_SUCCESS);
    MPI_Info_free(&info);
    return f;
}

/* Rank r is the (r+1)-th that the only server works for. */
static void contention(const char *name)
{
    MPI_File f = must_open(MPI_COMM_WORLD, name, "1");
    int n = 100000;
    char *data = calloc(1, (size_t)n);

    together();
    MPI_File_write_at(f, (MPI_Offset)rank * n, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("writing together", MPI_Wtime() - base,
           LATENCY + n * WIRE + (rank + 1) * (SERVER + n * DISK) + LATENCY);
    together();
    MPI_File_read_at_all(f, (MPI_Offset)rank * n, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("reading together", MPI_Wtime() - base,
           LATENCY + (rank + 1) * (SERVER + n * DISK) + LATENCY + n * WIRE);
    together();
    if (rank == size - 1) {
        MPI_Request q;

        MPI_File_iwrite_at(f, 0, data, n, MPI_BYTE, &q);
        expect("starting to write", MPI_Wtime() - base, 0);
        check_spend(SERVER / 2);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        expect("writing beside", MPI_Wtime() - base,
               LATENCY + n * WIRE + SERVER + n * DISK + LATENCY);
    }
    MPI_File_close(&f);
    free(data);
}

static void stripes(const char *name)
{
    MPI_File f = must_open(MPI_COMM_WORLD, name, "4");
    int n = 4 << 20;
    char *data = calloc(1, (size_t)n);

    together();
    if (rank == 0) {
        MPI_File_write_at(f, 0, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
        expect("four stripes", MPI_Wtime() - base,
               LATENCY + n / 4 * WIRE + SERVER + n / 4 * DISK + LATENCY);
    }
    together();
    if (rank == 0) { /* the last byte of a stripe and the first of the next */
        MPI_File_write_at(f, (1 << 20) - 1, data, 2, MPI_BYTE, MPI_STATUS_IGNORE);
        expect("two stripes", MPI_Wtime() - base, LATENCY + WIRE + SERVER + DISK + LATENCY);
    }
    together();
    if (rank == 0) {
        MPI_File_read_at(f, 0, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        expect("one stripe", MPI_Wtime() - base,
               LATENCY + SERVER + 100 * DISK + LATENCY + 100 * WIRE);
    }
    MPI_File_close(&f);
    free(data);
}

/* However many pieces, it is one request. */
static void holes(const char *name)
{
    MPI_File f = must_open(MPI_COMM_WORLD, name, "1");
    MPI_Datatype type;
    double data[1000] = {0};

    MPI_Type_vector(1000, 1, 3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(f, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    together();
    if (rank == 0) {
        MPI_File_write_at(f, 0, data, 1000, MPI_DOUBLE, MPI_STATUS_IGNORE);
        expect("holes", MPI_Wtime() - base, LATENCY + 8000 * WIRE + SERVER + 8000 * DISK + LATENCY);
    }
    MPI_File_close(&f);
}

static void metadata(const char *name)
{
    together();
    if (rank == 0) {
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) != MPI_SUCCESS);
        expect("metadata", MPI_Wtime() - base, LATENCY + META + LATENCY);
    }
}

/* The shared pointer takes a round trip to its rank. */
static void pointer(const char *name)
{
    MPI_File f = must_open(MPI_COMM_WORLD, name, "1");
    MPI_Offset at;

    together();
    MPI_File_get_position_shared(f, &at);
    expect("asking for the pointer", MPI_Wtime() - base, 2 * LATENCY);
    together();
    MPI_File_write_shared(f, &rank, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("writing at the pointer", MPI_Wtime() - base,
           2 * LATENCY + LATENCY + 4 * WIRE + (rank + 1) * (SERVER + 4 * DISK) + LATENCY);
    MPI_File_close(&f);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    contention(argv[1]);
    stripes(argv[1]);
    holes(argv[1]);
    metadata(argv[1]);
    pointer(argv[1]);
    check_ok("model");
    MPI_Finalize();
    return 0;
}
