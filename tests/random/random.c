/*
 * A random but correct MPI program, drawn from a seed: actions of all areas of MPI, on random
 * communicators. It checks all results itself. The sum that rank 0 prints depends only on the seed
 * and the number of ranks; lines that start with "virtual:" depend also on virtual time.
 *
 *     random SEED [ACTIONS [AREAS [ACTION RANK]]]
 *
 * AREAS: letters of the table below; default: all. With the last two, that rank aborts the run
 * before that action, wherever others are then.
 */
#include "coll.h"
#include "files.h"
#include "folds.h"
#include "graph.h"
#include "p2p.h"
#include "races.h"
#include "rma.h"
#include "spawn.h"

enum { ATTACHED = 16 << 20, ABORTED = 7 };

static void act_one(int area, const struct comm *c, char *program)
{
    switch (area) {
    case 'm':
        act_messages(c);
        break;
    case 'x':
        act_exchange(c);
        break;
    case 'c':
        act_collectives(c);
        break;
    case 'n':
        act_neighbours(c);
        break;
    case 'g':
        act_graph(c);
        break;
    case 'u':
        act_folds(c);
        break;
    case 'r':
        act_races(c);
        break;
    case 'j':
        act_ports(c);
        break;
    case 'o':
        act_one_sided(c);
        break;
    case 's':
        act_shared(c);
        break;
    case 'f':
        act_files(c);
        break;
    default:
        act_spawn(c, program);
    }
}

/* Every area that is allowed, some more often than others; intercommunicators are for some. */
static int draw_area(struct draw *d, const char *areas, int *spawns)
{
    static const char often[] = "mmmmxxxccccddddngguurrooooossfffjp";
    for (;;) {
        int area = often[draw(d, sizeof often - 1)];
        if (strchr(areas, area))
            return area == 'p' && (*spawns)++ > 0 ? 'd' : area; /* once */
    }
}

static void act(const char *areas, char *program)
{
    static int spawns;
    struct draw d = {mix(run.seed, (uint64_t)run.action << 20 | 1 << 19)};
    int area = draw_area(&d, areas, &spawns), which = (int)draw(&d, (uint32_t)comm_count);
    const struct comm *c = &comms[which];
    if (area == 'd')
        act_comms(which);
    else if (c->comm != MPI_COMM_NULL && (!c->is_inter || area == 'm' || area == 'c'))
        act_one(area, c, program);
    if (check_virtual())
        note((uint64_t)(MPI_Wtime() * 1e9));
}

static void show(void)
{
    uint64_t sums[2] = {run.sum, run.order}, *all = malloc(2 * (size_t)run.size * sizeof *all),
             sum = 0;
    MPI_Gather(sums, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < run.size && run.rank == 0; i++) {
        sum += all[2 * i];
        if (check_virtual())
            printf("virtual: rank %d order %016llx\n", i, (unsigned long long)all[2 * i + 1]);
    }
    if (run.rank == 0)
        printf("seed %llu: %d actions, sum %llu\n", (unsigned long long)run.seed, run.action,
               (unsigned long long)sum);
    free(all);
}

int main(int argc, char **argv)
{
    const char *areas = argc > 3 ? argv[3] : "mxcdngurosfjp";
    int actions = argc > 2 ? atoi(argv[2]) : 12, room = ATTACHED;
    int abort_at = argc > 5 ? atoi(argv[4]) : -1;
    char *attached = malloc(ATTACHED);
    MPI_Init(&argc, &argv);
    run.rank = check_rank();
    run.size = check_size();
    CHECK(run.size <= 16 && argc > 1);
    if (strcmp(argv[1], "child") == 0) {
        child_main();
    } else {
        run.seed = strtoull(argv[1], NULL, 0);
        MPI_Buffer_attach(attached, ATTACHED);
        comms_init();
        for (run.action = 0; run.action < actions; run.action++) {
            if (run.action == abort_at && run.rank == atoi(argv[5]))
                MPI_Abort(MPI_COMM_WORLD, ABORTED);
            act(areas, argv[0]);
        }
        comms_fini();
        MPI_Buffer_detach(&attached, &room);
        show();
    }
    MPI_Finalize();
    free(attached);
    return 0;
}
