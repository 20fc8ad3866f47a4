/* test: n=2,5,16 */
/*
 * dyn_names.c - names and ports: what is published can be looked up, in order of virtual time, and
 * their errors; ranks have no parent. Not every native MPI can open ports or has a server of names:
 * natively nothing but the latter is checked.
 */
#include "check.h"

static void check_errors(void)
{
    char port[MPI_MAX_PORT_NAME], name[64], found[MPI_MAX_PORT_NAME] = "untouched";

    snprintf(name, sizeof name, "dyn-names-%d", check_rank());
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(strlen(port) > 0 && strlen(port) < MPI_MAX_PORT_NAME);
    CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, found) == MPI_ERR_NAME);
    CHECK(strcmp(found, "untouched") == 0);
    CHECK(MPI_Unpublish_name(name, MPI_INFO_NULL, port) == MPI_ERR_SERVICE);
    CHECK(MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_ERR_NAME);
    CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, found) == MPI_SUCCESS);
    CHECK(strcmp(found, port) == 0);
    CHECK(MPI_Unpublish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, found) == MPI_ERR_NAME);
    CHECK(MPI_Unpublish_name(name, MPI_INFO_NULL, port) == MPI_ERR_SERVICE);
    CHECK(MPI_Lookup_name(NULL, MPI_INFO_NULL, found) == MPI_ERR_ARG);
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    CHECK(MPI_Close_port(port) == MPI_ERR_PORT);
    CHECK(MPI_Close_port("nonsense") == MPI_ERR_PORT);
}

/* Every port is another one. */
static void check_ports(void)
{
    char mine[3][MPI_MAX_PORT_NAME], *all;
    int n = 3 * check_size();

    memset(mine, 0, sizeof mine);
    for (int i = 0; i < 3; i++)
        CHECK(MPI_Open_port(MPI_INFO_NULL, mine[i]) == MPI_SUCCESS);
    CHECK(MPI_Close_port(mine[1]) == MPI_SUCCESS);
    CHECK(MPI_Open_port(MPI_INFO_NULL, mine[1]) == MPI_SUCCESS);
    all = malloc((size_t)n * MPI_MAX_PORT_NAME);
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            CHECK(strcmp(all + i * MPI_MAX_PORT_NAME, all + j * MPI_MAX_PORT_NAME) != 0);
    for (int i = 0; i < 3; i++)
        CHECK(MPI_Close_port(mine[i]) == MPI_SUCCESS);
    free(all);
}

/* The last rank publishes a name after one second and takes it back after three. Rank 0 and all
 * others look it up before, between and after. */
static void check_time(void)
{
    char found[MPI_MAX_PORT_NAME];

    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == check_size() - 1) {
        check_spend(1);
        CHECK(MPI_Publish_name("dyn-late", MPI_INFO_NULL, "a port") == MPI_SUCCESS);
        check_spend(2);
        CHECK(MPI_Unpublish_name("dyn-late", MPI_INFO_NULL, "a port") == MPI_SUCCESS);
        return;
    }
    check_spend(0.5);
    CHECK(MPI_Lookup_name("dyn-late", MPI_INFO_NULL, found) == MPI_ERR_NAME);
    check_spend(1);
    CHECK(MPI_Lookup_name("dyn-late", MPI_INFO_NULL, found) == MPI_SUCCESS);
    CHECK(strcmp(found, "a port") == 0);
    check_spend(2);
    CHECK(MPI_Lookup_name("dyn-late", MPI_INFO_NULL, found) == MPI_ERR_NAME);
}

/* Rank 0 is the first to call MPI_Finalize, and its agent still answers. */
static void check_afterlife(void)
{
    char found[MPI_MAX_PORT_NAME];

    if (check_rank() == 0)
        return;
    check_spend(5);
    CHECK(MPI_Lookup_name("dyn-nobody", MPI_INFO_NULL, found) == MPI_ERR_NAME);
}

int main(int argc, char **argv)
{
    MPI_Comm parent = MPI_COMM_WORLD;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    check_ok("parent");
    if (check_virtual()) {
        check_errors();
        check_ports();
        check_time();
        check_afterlife();
    }
    MPI_Finalize();
    return 0;
}
