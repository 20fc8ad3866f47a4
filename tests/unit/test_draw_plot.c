/*
 * Diagrams: scales and ticks follow the values, gaps part lines, names and legends are there.
 */
#include "draw/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/axes.h"
#include "tap.h"

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

static void check_value(double value, const char *unit, const char *wanted)
{
    struct buf out;
    buf_init(&out);
    axes_value(value, unit, &out);
    ok(strcmp(buf_str(&out), wanted) == 0, "%g of '%s' is '%s', wanted '%s'", value, unit,
       buf_str(&out), wanted);
    buf_fini(&out);
}

static void test_values(void)
{
    check_value(1e-5, "s", "10 us");
    check_value(1e-3, "s", "1 ms");
    check_value(0.0015, "s", "1.5 ms");
    check_value(0, "s", "0 s");
    check_value(1e10, "bit/s", "10 Gbit/s");
    check_value(1e18, "bit/s", "1000 Pbit/s");
    check_value(1e-15, "s", "0.001 ps");
    check_value(65536, "B", "64 KiB");
    check_value(1000, "B", "1 kB");
    check_value(0.25, "", "0.25");
}

static void draw(struct plot *p, struct buf *out)
{
    p->title = "a title";
    p->description = "about it";
    p->y.label = "virtual time";
    p->y.unit = "s";
    draw_plot(p, out);
}

static void test_numbers(void)
{
    const double first[] = {1e-6, 1, 1e-5, 2, 1e-4, NAN, 1e-3, 4}, second[] = {1e-6, 100};
    struct plot_series series[] = {{"one < two", first, 4, PLOT_BOTH},
                                   {"dot", second, 1, PLOT_DOTS}};
    struct plot p = {.x = {.label = "net.latency", .unit = "s"}, .series = series, .count = 2};
    struct buf out;
    buf_init(&out);
    draw(&p, &out);
    const char *text = buf_str(&out);
    ok(strstr(text, ">1 us<") && strstr(text, ">10 us<") && strstr(text, ">1 ms<"),
       "values of x are ticks");
    ok(!strstr(text, ">100 us<"), "but not those of gaps");
    ok(strstr(text, ">1 s<") && strstr(text, ">10 s<") && strstr(text, ">100 s<"),
       "y is logarithmic");
    ok(strstr(text, ">one &lt; two<") && strstr(text, ">dot<"), "the legend");
    ok(occurrences(text, "<circle") == 3 + 1, "dots of the first series and its legend");
    ok(occurrences(text, "fill=\"none\" stroke=\"#d55e00\"") == 1 + 1, "others have hollow marks");
    ok(occurrences(text, "stroke=\"#0072b2\" stroke-width=\"3.00\"/>") == 1 + 1,
       "one line beside the gap");
    ok(strstr(text, "prefers-color-scheme: dark"), "it has colours for a dark ground");
    buf_fini(&out);
}

static void test_linear(void)
{
    double xy[200];
    struct plot_series series = {.xy = xy, .points = 100, .marks = PLOT_LINE};
    struct plot p = {.x = {.label = "step"}, .series = &series, .count = 1};
    struct buf out;
    for (int i = 0; i < 100; i++) {
        xy[2 * i] = i;
        xy[2 * i + 1] = 0.05 + i * 0.001;
    }
    buf_init(&out);
    draw(&p, &out);
    const char *text = buf_str(&out);
    ok(strstr(text, ">0 s<") && strstr(text, ">50 ms<") && strstr(text, ">150 ms<"),
       "y begins at 0");
    ok(strstr(text, ">20<") && strstr(text, ">80<") && !strstr(text, ">21<"), "x has round ticks");
    ok(occurrences(text, "<circle") == 0, "only a line");
    ok(strtod(strstr(text, "width=\"") + 7, NULL) < 640, "no room for a legend without names");
    buf_fini(&out);
}

static void test_names(void)
{
    static const char *const names[] = {"mpich", "openmpi", "model"};
    const double xy[] = {0, 1e-3, 1, 1e-3, 2, 1e-3};
    struct plot_series series = {.xy = xy, .points = 3};
    struct plot p = {.x = {.label = "mpi.collectives", .names = names, .name_count = 3},
                     .series = &series,
                     .count = 1};
    struct buf out;
    buf_init(&out);
    draw(&p, &out);
    ok(strstr(buf_str(&out), ">openmpi<") && strstr(buf_str(&out), ">model<"), "names are ticks");
    p.x.name_count = 1;
    buf_clear(&out);
    draw(&p, &out);
    ok(!strstr(buf_str(&out), ">openmpi<"), "only so many");
    static const char *const longer[] = {
        "a-name-that-is-far-too-long-to-stand-beside-others-below-the-frame-or-anywhere-else-in-it",
        "b", "c"};
    p.x.names = longer;
    p.x.name_count = 3;
    buf_clear(&out);
    draw(&p, &out);
    ok(strstr(buf_str(&out), ">a-name-that-is-far-too-long-to-st..<") &&
           strstr(buf_str(&out), ">b<"),
       "long names are cut");
    buf_clear(&out);
    p.count = 0;
    p.x.names = NULL;
    draw(&p, &out);
    ok(strstr(buf_str(&out), "</svg>") && !strstr(buf_str(&out), "nan"),
       "without values it is empty");
    buf_fini(&out);
}

static void test_many(void)
{
    static const double xy[] = {1, 1, 2, 2};
    struct plot_series series[30];
    struct plot p = {.x = {.label = "x"}, .series = series, .count = 30};
    struct buf out;
    for (int i = 0; i < 30; i++)
        series[i] = (struct plot_series){.name = "series", .xy = xy, .points = 2};
    buf_init(&out);
    draw(&p, &out);
    ok(strstr(buf_str(&out), ">and 13 more<") != NULL, "a long legend is cut");
    ok(occurrences(buf_str(&out), "dasharray") > 0, "colours that repeat are dashed");
    buf_fini(&out);
}

/* Two series with the same values: both are seen. */
static void test_coinciding(void)
{
    const double xy[] = {1, 1, 2, 2};
    struct plot_series series[] = {{"a", xy, 2, PLOT_LINE}, {"b", xy, 2, PLOT_LINE}};
    struct plot p = {.x = {.label = "x"}, .series = series, .count = 2};
    struct buf out;
    buf_init(&out);
    draw(&p, &out);
    ok(occurrences(buf_str(&out), "stroke=\"#0072b2\" stroke-width=\"3.00\"/>") == 2,
       "the first has no gaps");
    ok(occurrences(buf_str(&out), "stroke=\"#d55e00\" stroke-width=\"2.00\" stroke-dasharray=") ==
           2,
       "the second is narrower, with gaps");
    buf_fini(&out);
}

int main(void)
{
    plan_auto();
    test_values();
    test_numbers();
    test_linear();
    test_names();
    test_many();
    test_coinciding();
    return done_testing();
}
