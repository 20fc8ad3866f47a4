/*
 * Random one-sided operations against a sequential model, in every kind of epoch, on windows in
 * globals, on the stack, on the heap and allocated by MPI, with derived datatypes at both sides.
 *
 * test: n=1,2,5,16 schedules=20
 *
 * In a round each rank puts to or gets from a block of its own in other windows, so that nothing
 * conflicts, and accumulates into areas that all use, with one operation each. All ranks draw all
 * operations from the same seed and so know what every window must be afterwards.
 */
#include <stdint.h>

#include "check.h"

#define MAX_RANKS 16
#define BLOCK 6 /* longs of one origin in each window */
#define AREA 8  /* longs that all accumulate into, per operation */
#define SLOTS (MAX_RANKS * BLOCK + 3 * AREA)
#define ROUNDS 12
#define EACH 5 /* operations of a rank in a round */

enum { FENCE, PSCW, LOCK, LOCK_ALL, EPOCHS };
enum { PUT, GET, ACC, GET_ACC, FETCH, KINDS };

struct action {
    int kind, target, area, at, count, strided;
    long value;
};

static long global_memory[SLOTS];
static long model[MAX_RANKS][SLOTS];
static struct action plan[MAX_RANKS][EACH];
static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static MPI_Op area_op(int area)
{
    return area == 0 ? MPI_SUM : area == 1 ? MPI_BXOR : MPI_MAX;
}

static void apply(int area, long *to, long v)
{
    *to = area == 0 ? *to + v : area == 1 ? *to ^ v : *to > v ? *to : v;
}

/* Draws what all ranks do in a round; at most one put or get per origin and target. */
static void make_plan(int n)
{
    char used[MAX_RANKS][MAX_RANKS] = {{0}};

    for (int o = 0; o < n; o++)
        for (int i = 0; i < EACH; i++) {
            struct action *a = &plan[o][i];

            a->kind = (int)draw(KINDS);
            a->target = (int)draw((unsigned)n);
            if (a->kind <= GET && used[o][a->target]++)
                a->kind = ACC;
            a->area = (int)draw(3);
            a->strided = (int)draw(2);
            a->count = 1 + (int)draw(3);
            a->at = a->kind <= GET ? (int)draw(BLOCK - 5 + 1) : (int)draw(AREA - 5 + 1);
            a->value = (long)draw(1000000);
        }
}

static int slot(int origin, const struct action *a)
{
    return a->kind <= GET ? origin * BLOCK + a->at : MAX_RANKS * BLOCK + a->area * AREA + a->at;
}

static void run_model(int n)
{
    for (int o = 0; o < n; o++)
        for (int i = 0; i < EACH; i++) {
            const struct action *a = &plan[o][i];
            int count = a->kind == FETCH ? 1 : a->count;
            int step = a->strided && a->kind != FETCH ? 2 : 1;

            for (int k = 0; k < count && a->kind != GET; k++) {
                long *to = &model[a->target][slot(o, a) + k * step];

                if (a->kind == PUT)
                    *to = a->value + k;
                else
                    apply(a->area, to, a->value + k);
            }
        }
}

static void perform(int me, const struct action *a, long *out, long *in, MPI_Datatype *strided,
                    MPI_Win win)
{
    MPI_Datatype type = a->strided ? strided[a->count - 1] : MPI_LONG;
    int count = a->strided ? 1 : a->count, at = slot(me, a);

    for (int k = 0; k < 4; k++)
        out[k] = a->value + k;
    if (a->kind == PUT)
        MPI_Put(out, a->count, MPI_LONG, a->target, at, count, type, win);
    else if (a->kind == GET)
        MPI_Get(in, a->count, MPI_LONG, a->target, at, count, type, win);
    else if (a->kind == ACC)
        MPI_Accumulate(out, a->count, MPI_LONG, a->target, at, count, type, area_op(a->area), win);
    else if (a->kind == GET_ACC)
        MPI_Get_accumulate(out, a->count, MPI_LONG, in, a->count, MPI_LONG, a->target, at, count,
                           type, area_op(a->area), win);
    else
        MPI_Fetch_and_op(out, in, MPI_LONG, a->target, at, area_op(a->area), win);
}

static void begin(int epoch, MPI_Group all, MPI_Win win)
{
    if (epoch == FENCE)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (epoch == PSCW) {
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
    }
    if (epoch == LOCK_ALL)
        MPI_Win_lock_all(0, win);
}

static void end(int epoch, MPI_Win win)
{
    if (epoch == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (epoch == PSCW) {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    if (epoch == LOCK_ALL)
        MPI_Win_unlock_all(win);
}

/* One round; then the window is what the model says, and so is what was got. */
static void one_round(int me, int n, int epoch, long *memory, MPI_Datatype *strided, MPI_Group all,
                      MPI_Win win)
{
    static long out[EACH][4], in[EACH][4], before[MAX_RANKS][SLOTS];

    make_plan(n);
    memcpy(before, model, sizeof model);
    run_model(n);
    begin(epoch, all, win);
    for (int i = 0; i < EACH; i++) {
        const struct action *a = &plan[me][i];

        if (epoch == LOCK)
            MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, a->target, 0, win);
        perform(me, a, out[i], in[i], strided, win);
        if (epoch == LOCK)
            MPI_Win_unlock(a->target, win);
    }
    end(epoch, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    CHECK(memcmp(memory, model[me], SLOTS * sizeof(long)) == 0);
    MPI_Win_unlock(me, win);
    for (int i = 0; i < EACH; i++) {
        const struct action *a = &plan[me][i];

        for (int k = 0; k < a->count && a->kind == GET; k++)
            CHECK(in[i][k] == before[a->target][slot(me, a) + k * (a->strided ? 2 : 1)]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_rounds(long *memory, MPI_Win win)
{
    MPI_Datatype strided[3];
    MPI_Group all;
    int me, n;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Win_get_group(win, &all);
    for (int i = 0; i < 3; i++) {
        MPI_Type_vector(i + 1, 1, 2, MPI_LONG, &strided[i]);
        MPI_Type_commit(&strided[i]);
    }
    memset(memory, 0, SLOTS * sizeof *memory);
    memset(model, 0, sizeof model);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ROUNDS; r++)
        one_round(me, n, r % EPOCHS, memory, strided, all, win);
    for (int i = 0; i < 3; i++)
        MPI_Type_free(&strided[i]);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    long stack_memory[SLOTS], *heap_memory = malloc(SLOTS * sizeof *heap_memory), *own;
    long *memory[3] = {global_memory, stack_memory, heap_memory};
    MPI_Win win;

    MPI_Init(&argc, &argv);
    state = 12345;
    for (int i = 0; i < 3; i++) {
        MPI_Win_create(memory[i], SLOTS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &win);
        all_rounds(memory[i], win);
        MPI_Win_free(&win);
        CHECK(win == MPI_WIN_NULL);
        check_ok(i == 0 ? "globals" : i == 1 ? "stack" : "heap");
    }
    MPI_Win_allocate(SLOTS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    all_rounds(own, win);
    MPI_Win_free(&win);
    check_ok("allocated");
    free(heap_memory);
    MPI_Finalize();
    return 0;
}
