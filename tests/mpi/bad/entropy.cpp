// Draws random bytes in all the ways that the system offers, and prints what came.
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

static uint64_t mixed;

static void show(int rank, const char *way, const void *bytes, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = 31 * sum + ((const unsigned char *)bytes)[i];
    mixed = 31 * mixed + sum;
    printf("rank %d %s %016llx\n", rank, way, (unsigned long long)sum);
}

/* More than any buffer, in pieces. */
static void by_descriptor(int rank, const char *way, int fd)
{
    static unsigned char bytes[100000];
    struct iovec parts[2] = {{bytes, 10}, {bytes + 10, 20}};
    size_t n = 0;

    while (fd >= 0 && n < sizeof bytes) {
        ssize_t got = read(fd, bytes + n, sizeof bytes - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    show(rank, way, bytes, n);
    if (readv(fd, parts, 2) == 30)
        show(rank, way, bytes, 30);
    close(fd);
}

static void by_stream(int rank, const char *way, FILE *stream)
{
    static unsigned char bytes[100000];
    size_t n = stream ? fread(bytes, 1, sizeof bytes, stream) : 0;

    show(rank, way, bytes, n);
    if (stream)
        fclose(stream);
}

/* Descriptors are used again: a file is what it is. */
static void by_file(int rank)
{
    unsigned char bytes[8] = {0};
    int fd = open("/dev/zero", O_RDONLY);
    ssize_t got = read(fd, bytes, sizeof bytes);

    show(rank, got == 8 ? "/dev/zero" : "nothing", bytes, sizeof bytes);
    close(fd);
}

int main(int argc, char **argv)
{
    unsigned char bytes[300];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    show(rank, "getrandom", bytes, (size_t)getrandom(bytes, 300, 0));
    show(rank, "getentropy", bytes, getentropy(bytes, 16) == 0 ? 16 : 0);
    by_descriptor(rank, "open", open("/dev/urandom", O_RDONLY));
    by_descriptor(rank, "openat", openat(AT_FDCWD, "/dev/random", O_RDONLY | O_CLOEXEC));
    by_file(rank);
    by_stream(rank, "fopen", fopen("/dev/urandom", "rb"));
    by_stream(rank, "fdopen", fdopen(open("/dev/urandom", O_RDONLY), "r"));
    by_file(rank);
    std::ifstream("/dev/urandom", std::ios::binary).read((char *)bytes, 32);
    show(rank, "ifstream", bytes, 32);
    by_file(rank);
    std::random_device any, named("/dev/urandom");
    for (int i = 0; i < 2; i++) {
        unsigned drawn[2] = {any(), named()};
        show(rank, "random_device", drawn, sizeof drawn);
    }
    show(rank, "AT_RANDOM", (const void *)getauxval(AT_RANDOM), 16);
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 36)
    uint32_t drawn[3] = {arc4random(), arc4random_uniform(1000), 0};
    arc4random_buf(bytes, 40);
    show(rank, drawn[1] < 1000 ? "arc4random" : "too large", drawn, sizeof drawn);
    show(rank, "arc4random_buf", bytes, 40);
#endif
#endif
    printf("rank %d all %016llx\n", rank, (unsigned long long)mixed);
    MPI_Finalize();
    return 0;
}
