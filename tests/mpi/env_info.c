/* test: n=1,2 native=2
 * MPI_Info_get_string with all lengths of the buffer, MPI_Info_create_env before MPI_Init and after
 * MPI_Finalize, and hints on communicators: kept for the communicator they were set on. */
#include "check.h"

static int class_of(int error)
{
    int error_class = -1;
    MPI_Error_class(error, &error_class);
    return error_class;
}

static void strings(void)
{
    char value[16];
    int length, flag;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "violet");
    for (int n = 1; n < 12; n++) {
        memset(value, 'x', sizeof value);
        length = n;
        MPI_Info_get_string(info, "colour", &length, value, &flag);
        CHECK(flag && length == 7);
        CHECK(!strncmp(value, "violet", (size_t)n - 1) &&
              (int)strlen(value) == (n < 7 ? n - 1 : 6));
        CHECK(value[n < 7 ? n : 7] == 'x');
    }
    length = 0;
    memset(value, 'x', sizeof value);
    MPI_Info_get_string(info, "colour", &length, value, &flag);
    CHECK(flag && length == 7 && value[0] == 'x');
    length = 9;
    MPI_Info_get_string(info, "size", &length, value, &flag);
    CHECK(!flag && length == 9 && value[0] == 'x');
    length = -1;
    CHECK(class_of(MPI_Info_get_string(info, "colour", &length, value, &flag)) == MPI_ERR_ARG);
    length = 9;
    CHECK(MPI_Info_get_string(MPI_INFO_NULL, "colour", &length, value, &flag) != MPI_SUCCESS);
    MPI_Info_free(&info);
}

static int hint_is(MPI_Comm comm, const char *key, const char *wanted)
{
    char value[MPI_MAX_INFO_VAL];
    int flag;
    MPI_Info info;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, sizeof value - 1, value, &flag);
    MPI_Info_free(&info);
    return wanted ? flag && !strcmp(value, wanted) : !flag;
}

static void hints(void)
{
    MPI_Comm comm, dup, with;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(hint_is(comm, "mpi_assert_no_any_tag", "false"));
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "favourite_colour", "violet");
    MPI_Info_set(info, "multi_nic_pref_nic", "2");
    MPI_Info_set(info, "enable_multi_nic_striping", "false");
    MPI_Comm_set_info(comm, info);
    CHECK(hint_is(comm, "mpi_assert_no_any_tag", "true"));
    CHECK(hint_is(comm, "mpi_assert_exact_length", "false"));
    CHECK(hint_is(comm, "favourite_colour", NULL));
    CHECK(hint_is(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "false"));
    MPI_Comm_dup(comm, &dup);
    CHECK(hint_is(dup, "mpi_assert_no_any_tag", "false"));
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with);
    CHECK(hint_is(with, "mpi_assert_no_any_tag", "true"));
    CHECK(class_of(MPI_Comm_set_info(comm, MPI_INFO_NULL)) == MPI_ERR_ARG);
    MPI_Comm_free(&with);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &with);
    CHECK(hint_is(with, "mpi_assert_no_any_tag", "true"));
    CHECK(hint_is(with, "mpi_assert_exact_length", "false"));
    CHECK(hint_is(with, "multi_nic_pref_nic", "2"));
    CHECK(hint_is(with, "enable_multi_nic_striping", "false"));
    CHECK(hint_is(MPI_COMM_WORLD, "multi_nic_pref_nic", "-1"));
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&with);
}

int main(int argc, char **argv)
{
    int count = -1;
    MPI_Info env;
    MPI_Info_create_env(argc, argv, &env);
    MPI_Info_get_nkeys(env, &count);
    MPI_Info_free(&env);
    if (count < 0)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    strings();
    check_ok("strings");
    hints();
    check_ok("hints");
    MPI_Finalize();
    MPI_Info_create_env(argc, argv, &env);
    MPI_Info_free(&env);
    return 0;
}
