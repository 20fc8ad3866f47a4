/* test: n=1,2,5,16,300 native=4 args="one 'two words' --three"
 * Start and end: arguments, thread level, initialised and finalised flags, attributes of the
 * world, names, delete callbacks on MPI_COMM_SELF. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag = -1, provided = -1, length, version, subversion;
    char name[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    CHECK(flag == 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    CHECK(argc == 4 && !strcmp(argv[1], "one") && !strcmp(argv[2], "two words") && !argv[4]);
    MPI_Initialized(&flag);
    CHECK(flag == 1);
    MPI_Finalized(&flag);
    CHECK(flag == 0);
    int queried = -1, is_main = -1, *upper = 0;
    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    CHECK(queried == provided && is_main == 1);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && (int)strlen(name) == length);
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 3);
    MPI_Get_library_version(library, &length);
    CHECK(length > 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag && *upper >= 32767);
    int self_size = 0, self_rank = -1;
    MPI_Comm_size(MPI_COMM_SELF, &self_size);
    MPI_Comm_rank(MPI_COMM_SELF, &self_rank);
    CHECK(self_size == 1 && self_rank == 0);
    CHECK(check_rank() >= 0 && check_rank() < check_size());
    int error_class = -1;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(MPI_ERR_TRUNCATE, &error_class);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    CHECK(error_class == MPI_ERR_TRUNCATE && length > 0);
    check_ok("init");
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag == 1);
    return 0;
}
