/* test: n=1,2 native=2
 * The tool information interface: repeated initialisation and finalisation, texts, variables and
 * their handles, error codes; under Orrery also that the counters count. */
#include "check.h"

static int before_init(void)
{
    int n, provided;
    if (check_virtual() && (MPI_T_cvar_get_num(&n) != MPI_T_ERR_NOT_INITIALIZED ||
                            MPI_T_finalize() != MPI_T_ERR_NOT_INITIALIZED)) /* MPICH crashes */
        return 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize();
    return MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 0;
}

static void control_variables(void)
{
    int count, index, length, full, verbosity, bind, scope, elements;
    char name[128], short_name[4];
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        full = 0;
        MPI_T_cvar_get_info(i, NULL, &full, &verbosity, &type, &items, NULL, NULL, &bind, &scope);
        CHECK(full > 1 && full <= (int)sizeof name);
        length = sizeof name;
        MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &items, NULL, NULL, &bind, &scope);
        CHECK(length == full && (int)strlen(name) == full - 1);
        length = sizeof short_name;
        MPI_T_cvar_get_info(i, short_name, &length, &verbosity, &type, &items, NULL, NULL, &bind,
                            &scope);
        CHECK(strlen(short_name) == 3 && !strncmp(short_name, name, 3));
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
    }
    CHECK(MPI_T_cvar_get_index("no such variable", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &elements) == MPI_T_ERR_INVALID_INDEX);
    if (!check_virtual())
        return;
    CHECK(MPI_T_cvar_get_index("mpi.eager_limit", &index) == MPI_SUCCESS);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements);
    CHECK(elements > 1 && elements < (int)sizeof name);
    MPI_T_cvar_read(handle, name);
    CHECK((int)strlen(name) == elements - 1 && name[0] >= '0' && name[0] <= '9');
    CHECK(MPI_T_cvar_write(handle, "7") == MPI_T_ERR_CVAR_SET_NEVER);
    MPI_T_cvar_handle_free(&handle);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
}

static unsigned long long read_counter(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 99;
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

/* Sends two messages of 24 bytes each to itself. */
static void send_some(void)
{
    double out[3] = {1, 2, 3}, in[3];
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv(out, 3, MPI_DOUBLE, 0, 5, in, 3, MPI_DOUBLE, 0, 5, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

static void counters(MPI_T_pvar_session session)
{
    int messages, bytes, peers, n;
    unsigned long long value = 1000;
    MPI_T_pvar_handle count, sum, fixed;
    CHECK(!MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &messages));
    CHECK(!MPI_T_pvar_get_index("bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &bytes));
    CHECK(!MPI_T_pvar_get_index("peers", MPI_T_PVAR_CLASS_LEVEL, &peers));
    MPI_T_pvar_handle_alloc(session, messages, NULL, &count, &n);
    MPI_T_pvar_handle_alloc(session, bytes, NULL, &sum, &n);
    MPI_T_pvar_handle_alloc(session, peers, NULL, &fixed, &n);
    CHECK(n == 1);
    send_some();
    CHECK(read_counter(session, count) == 0);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    send_some();
    CHECK(read_counter(session, count) == 2 && read_counter(session, sum) == 48);
    MPI_T_pvar_stop(session, count);
    send_some();
    CHECK(read_counter(session, count) == 2 && read_counter(session, sum) == 96);
    MPI_T_pvar_write(session, count, &value);
    MPI_T_pvar_start(session, count);
    send_some();
    CHECK(MPI_T_pvar_readreset(session, count, &value) == MPI_SUCCESS && value == 1002);
    CHECK(read_counter(session, count) == 0);
    send_some();
    CHECK(read_counter(session, count) == 2);
    MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES);
    CHECK(read_counter(session, count) == 0 && read_counter(session, sum) == 0);
    CHECK(read_counter(session, fixed) >= 1);
    CHECK(MPI_T_pvar_start(session, fixed) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_reset(session, fixed) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_write(session, fixed, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, fixed, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_handle_free(session, &sum);
    CHECK(sum == MPI_T_PVAR_HANDLE_NULL);
}

static void performance_variables(void)
{
    int count, index, class, length;
    char name[128];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        length = sizeof name;
        MPI_T_pvar_get_info(i, name, &length, NULL, &class, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL);
        CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS && index == i);
    }
    CHECK(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index) ==
          MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    if (check_virtual()) { /* MPICH crashes */
        CHECK(MPI_T_pvar_handle_alloc(session, count, NULL, &handle, &index) ==
              MPI_T_ERR_INVALID_INDEX);
        counters(session);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

static void categories(void)
{
    int count, index, length, cvars, pvars, children, list[512];
    char name[128];
    MPI_T_category_get_num(&count);
    for (int i = 0; i < count; i++) {
        length = sizeof name;
        MPI_T_category_get_info(i, name, &length, NULL, NULL, &cvars, &pvars, &children);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(cvars <= 512 && MPI_T_category_get_cvars(i, cvars, list) == MPI_SUCCESS);
        MPI_T_cvar_get_num(&index);
        for (int j = 0; j < cvars; j++)
            CHECK(list[j] >= 0 && list[j] < index);
    }
    CHECK(MPI_T_category_get_index("no such category", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
}

int main(int argc, char **argv)
{
    int events;
    if (!before_init())
        return 1;
    MPI_Init(&argc, &argv);
    control_variables();
    check_ok("control variables");
    performance_variables();
    check_ok("performance variables");
    categories();
    check_ok("categories");
    CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events == 0);
    CHECK(MPI_T_event_get_index("no such event", &events) == MPI_T_ERR_INVALID_NAME);
    MPI_T_finalize();
    if (check_virtual())
        CHECK(MPI_T_cvar_get_num(&events) == MPI_T_ERR_NOT_INITIALIZED);
    MPI_Finalize();
    return 0;
}
