/*
 * Fuzz target: lists of values of a sweep. What is accepted has values that are no ranges any more,
 * and every point is found by its name; what is not is refused as input, with a text.
 */
#include "experiment/sweep_grid.h"
#include "fuzz/fuzz_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_point(const struct sweep_grid *g, size_t point)
{
    size_t number = 0;
    for (size_t i = 0; i < g->count; i++) {
        size_t index = sweep_grid_index(g, point, i);
        if (index >= g->dims[i].count || !*sweep_grid_value(g, point, i)->text)
            abort();
        number = number * g->dims[i].count + index;
    }
    if (number != point)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sweep_grid g;
    struct err err = {0};
    char *line = fuzz_line(data, size);
    sweep_grid_init(&g);
    if (sweep_grid_add_sets(&g, line, &err)) {
        if (err.code != ERR_INPUT || !err.text[0])
            abort();
    } else {
        size_t points = sweep_grid_points(&g);
        if (points == 0 || points > SWEEP_POINTS_MAX)
            abort();
        check_point(&g, 0);
        check_point(&g, points / 2);
        check_point(&g, points - 1);
    }
    sweep_grid_fini(&g);
    free(line);
    return 0;
}
