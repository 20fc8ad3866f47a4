/* native=2: the environment, sessions, the tool interface, extensions of MPICH. Values of the tool
 * interface belong to the MPI; calls that an MPI without events does not survive are only
 * simulated. */
#include "every.h"

extern void orrery_compute(double seconds) __attribute__((weak));

static void environment(void)
{
    int flag, number, minor, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    MPI_Query_thread(&number);
    MPI_Is_thread_main(&flag);
    MPI_Get_version(&number, &minor);
    MPI_Get_library_version(version, &length);
    MPI_Get_processor_name(name, &length);
    MPI_Pcontrol(1);
    MPI_Wtime();
    MPI_Wtick();
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}

static void sessions(void)
{
    MPI_Session session;
    MPI_Group all, mine, other;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Errhandler handler, old;
    char name[64];
    int number, length = sizeof name, peer = 1 - rank;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    MPI_Info_free(&info);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
    MPI_Info_free(&info);
    MPI_Session_create_errhandler(on_session, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Session_get_errhandler(session, &old);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&handler);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_incl(all, 1, &rank, &mine);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Intercomm_create_from_groups(mine, 0, other, 0, "two", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&other);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
}

static void control(void)
{
    MPI_T_cvar_handle handle;
    int number, index, length = 64, text = 0, a, b;
    char name[64], value[4096];
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_cvar_get_num(&number);
    MPI_T_cvar_get_info(0, name, &length, &a, &type, &items, NULL, &text, &b, &a);
    MPI_T_cvar_get_index(name, &index);
    MPI_T_cvar_handle_alloc(0, NULL, &handle, &number);
    MPI_T_cvar_read(handle, value);
    MPI_T_cvar_write(handle, value);
    MPI_T_cvar_handle_free(&handle);
}

static void categories(void)
{
    int number, index, cvars, pvars, others, length = 64, text = 0, list[1];
    char name[64];
    MPI_T_category_get_num(&number);
    MPI_T_category_changed(&index);
    MPI_T_category_get_info(0, name, &length, NULL, &text, &cvars, &pvars, &others);
    MPI_T_category_get_index(name, &index);
    MPI_T_category_get_cvars(0, 1, list);
    MPI_T_category_get_pvars(0, 1, list);
    MPI_T_category_get_categories(0, 1, list);
    MPI_T_category_get_num_events(0, &number);
    MPI_T_category_get_events(0, 1, list);
    MPI_T_event_get_num(&number);
    MPI_T_event_get_index("no such event", &index);
    MPI_T_source_get_num(&number);
    MPI_T_pvar_get_num(&number);
}

static void performance(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int number, index, length = 64, text = 0, class, a;
    unsigned long long value = 0;
    char name[64];
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_pvar_session_create(&session);
    if (orrery_compute) {
        MPI_T_pvar_get_info(0, name, &length, &a, &class, &type, &items, NULL, &text, &a, &a, &a,
                            &a);
        MPI_T_pvar_get_index(name, class, &index);
        MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &number);
        MPI_T_pvar_start(session, handle);
        MPI_T_pvar_read(session, handle, &value);
        MPI_T_pvar_readreset(session, handle, &value);
        MPI_T_pvar_write(session, handle, &value);
        MPI_T_pvar_reset(session, handle);
        MPI_T_pvar_stop(session, handle);
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
}

/* There are no events, and no variable has an enumeration: all of these fail. */
static void events(void)
{
    int a, number = 0, length = 0, text = 0;
    char name[1];
    MPI_T_enum items = MPI_T_ENUM_NULL;
    MPI_Info info;
    MPI_Count ticks, most;
    MPI_T_source_order order;
    MPI_T_event_registration event = NULL;
    MPI_T_event_instance instance = NULL;
    MPI_T_enum_get_info(items, &number, name, &length);
    MPI_T_enum_get_item(items, 0, &number, name, &length);
    MPI_T_event_get_info(0, name, &length, &a, NULL, NULL, &number, &items, &info, NULL, &text, &a);
    MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &event);
    MPI_T_event_handle_get_info(event, &info);
    MPI_T_event_handle_set_info(event, MPI_INFO_NULL);
    MPI_T_event_register_callback(event, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL);
    MPI_T_event_callback_get_info(event, MPI_T_CB_REQUIRE_NONE, &info);
    MPI_T_event_callback_set_info(event, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL);
    MPI_T_event_set_dropped_handler(event, NULL);
    MPI_T_event_handle_free(event, NULL, NULL);
    MPI_T_event_read(instance, 0, name);
    MPI_T_event_copy(instance, name);
    MPI_T_event_get_timestamp(instance, &ticks);
    MPI_T_event_get_source(instance, &a);
    MPI_T_source_get_info(0, name, &length, NULL, &text, &order, &ticks, &most, &info);
    MPI_T_source_get_timestamp(0, &ticks);
}

static void extensions(void)
{
    int flag, class, code;
    MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &flag);
    MPIX_Query_cuda_support();
    MPIX_Query_ze_support();
    MPIX_Query_hip_support();
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "mine");
    MPIX_Delete_error_string(code);
    MPIX_Delete_error_code(code);
    MPIX_Delete_error_class(class);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    environment();
    sessions();
    control();
    categories();
    performance();
    extensions();
    if (orrery_compute)
        events();
    MPI_T_finalize();
    finish();
    return 0;
}
