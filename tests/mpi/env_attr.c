/* test: n=1,2,5 native=2
 * Attributes of communicators and datatypes: keys, copy functions on duplication, delete functions
 * on replacement, deletion and freeing, codes of functions that fail, MPI_COMM_SELF at the end. */
#include "check.h"

static int copies, deletes, fail, last_value, order[8], ordered;
static void *last_extra;

static int class_of(int error)
{
    int error_class = -1;
    MPI_Error_class(error, &error_class);
    return error_class;
}

static int on_copy(int handle, int key, void *extra, void *in, void *out, int *flag)
{
    (void)handle;
    (void)key;
    copies++;
    last_extra = extra;
    *(void **)out = (char *)in + 1;
    *flag = extra != NULL;
    return fail;
}

static int on_delete(int handle, int key, void *value, void *extra)
{
    (void)handle;
    (void)key;
    (void)extra;
    deletes++;
    last_value = (int)(size_t)value;
    return fail;
}

static void communicators(void)
{
    int key, silent, plain, flag, rank = check_rank();
    char *value;
    MPI_Comm dup, dup2;
    MPI_Comm_create_keyval(on_copy, on_delete, &key, &key);
    MPI_Comm_create_keyval(on_copy, on_delete, &silent, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    CHECK(key != silent && silent != plain);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)(size_t)(100 + rank));
    MPI_Comm_set_attr(MPI_COMM_WORLD, silent, (void *)(size_t)200);
    MPI_Comm_set_attr(MPI_COMM_WORLD, plain, (void *)(size_t)300);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag && value == (char *)(size_t)(100 + rank));
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(copies == 2);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    CHECK(flag && value == (char *)(size_t)(101 + rank));
    MPI_Comm_get_attr(dup, silent, &value, &flag);
    CHECK(!flag);
    MPI_Comm_get_attr(dup, plain, &value, &flag);
    CHECK(flag && value == (char *)(size_t)300);
    MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &dup2);
    MPI_Comm_get_attr(dup2, key, &value, &flag);
    CHECK(flag && value == (char *)(size_t)(102 + rank) && copies == 3 && last_extra == &key);
    MPI_Comm_split(dup2, 0, rank, &dup2);
    MPI_Comm_get_attr(dup2, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free(&dup2);
    CHECK(deletes == 0);
    MPI_Comm_set_attr(dup, key, (void *)(size_t)7);
    CHECK(deletes == 1 && last_value == 101 + rank);
    MPI_Comm_free(&dup);
    CHECK(deletes == 2 && last_value == 7);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletes == 3 && last_value == 100 + rank);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key) == MPI_SUCCESS && deletes == 3);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, silent);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, plain);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_free_keyval(&silent);
    MPI_Comm_free_keyval(&plain);
}

static void failures(void)
{
    int key, type_key, flag;
    void *value;
    MPI_Comm dup, dup2 = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(on_copy, on_delete, &key, &key);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
    MPI_Comm_set_attr(dup, key, (void *)(size_t)1);
    fail = MPI_ERR_TOPOLOGY;
    CHECK(MPI_Comm_delete_attr(dup, key) == MPI_ERR_TOPOLOGY);
    CHECK(MPI_Comm_set_attr(dup, key, (void *)(size_t)2) == MPI_ERR_TOPOLOGY);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    CHECK(flag && value == (void *)(size_t)1);
    CHECK(MPI_Comm_dup(dup, &dup2) == MPI_ERR_TOPOLOGY);
    CHECK(dup2 == MPI_COMM_NULL);
    if (check_virtual()) /* MPICH does not ask the communicator's error handler */
        CHECK(MPI_Comm_free(&dup) == MPI_ERR_TOPOLOGY && dup != MPI_COMM_NULL);
    fail = 0;
    CHECK(class_of(MPI_Comm_set_attr(dup, type_key, &fail)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_set_attr(dup, MPI_TAG_UB, &fail)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_get_attr(dup, MPI_KEYVAL_INVALID, &value, &flag)) == MPI_ERR_KEYVAL);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&key);
    MPI_Type_free_keyval(&type_key);
}

/* Freed while in use, a key keeps working for the attributes that have it. */
static void freed_key(void)
{
    int key;
    MPI_Comm a, b;
    copies = deletes = 0;
    MPI_Comm_create_keyval(on_copy, on_delete, &key, &key);
    MPI_Comm_dup(MPI_COMM_SELF, &a);
    MPI_Comm_set_attr(a, key, (void *)(size_t)5);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_dup(a, &b);
    CHECK(copies == 1);
    MPI_Comm_free(&a);
    CHECK(deletes == 1 && last_value == 5);
    MPI_Comm_free(&b);
    CHECK(deletes == 2 && last_value == 6);
}

static void datatypes(void)
{
    int key, flag;
    char *value;
    MPI_Datatype one, two, dup;
    copies = deletes = 0;
    MPI_Type_contiguous(3, MPI_INT, &one);
    MPI_Type_contiguous(3, MPI_INT, &two);
    MPI_Type_create_keyval(on_copy, on_delete, &key, &key);
    MPI_Type_set_attr(one, key, (void *)(size_t)11);
    MPI_Type_get_attr(two, key, &value, &flag);
    CHECK(!flag);
    MPI_Type_dup(one, &dup);
    MPI_Type_get_attr(dup, key, &value, &flag);
    CHECK(flag && value == (char *)(size_t)12 && copies == 1);
    MPI_Type_free(&two);
    CHECK(deletes == 0);
    MPI_Type_delete_attr(dup, key);
    CHECK(deletes == 1 && last_value == 12);
    MPI_Type_free(&dup); /* MPICH keeps a type while one made from it exists */
    CHECK(deletes == 1);
    MPI_Type_free(&one);
    CHECK(deletes == 2 && last_value == 11);
    MPI_Type_set_attr(MPI_DOUBLE, key, (void *)(size_t)13);
    MPI_Type_get_attr(MPI_DOUBLE, key, &value, &flag);
    CHECK(flag && value == (char *)(size_t)13);
    MPI_Type_delete_attr(MPI_DOUBLE, key);
    MPI_Type_free_keyval(&key);
}

/* Deleted from within MPI_Finalize, where MPI still works; a function may delete others. */
static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    int finalized, sum, one = 1;
    (void)key;
    (void)extra;
    MPI_Finalized(&finalized);
    CHECK(!finalized && comm == MPI_COMM_SELF);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == check_size());
    order[ordered++] = *(int *)value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static int number[4] = {0, 1, 2, 3};
    int keys[4];
    MPI_Init(&argc, &argv);
    communicators();
    check_ok("communicators");
    failures();
    check_ok("failures");
    freed_key();
    check_ok("freed key");
    datatypes();
    check_ok("datatypes");
    for (int i = 0; i < 4; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &number[i]);
    }
    MPI_Finalize();
    if (ordered != 4 || order[0] != 3 || order[1] != 2 || order[2] != 1 || order[3] != 0)
        return 1;
    return 0;
}
