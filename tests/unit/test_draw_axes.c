/*
 * Axes put values where they belong; ticks are round numbers, few of them, and within the axis.
 */
#include "draw/axes.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static int near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_axes(void)
{
    struct axes p = {.left = 100,
                     .top = 10,
                     .width = 200,
                     .height = 100,
                     .x = {1, 10000, 1, "bytes", NULL},
                     .y = {0, 50, 0, "us", NULL}};
    struct svg s;
    struct buf out;
    double xy[] = {1, 0, 100, 25, 10000, 50};
    ok(near(axes_x(&p, 1), 100) && near(axes_x(&p, 10000), 300) && near(axes_x(&p, 100), 200),
       "a logarithmic axis");
    ok(near(axes_y(&p, 0), 110) && near(axes_y(&p, 50), 10) && near(axes_y(&p, 25), 60),
       "an axis upwards");
    buf_init(&out);
    svg_begin(&s, &out, 400, 200, "p", "p");
    axes_draw(&s, &p);
    axes_draw_line(&s, &p, xy, 3, svg_series(0));
    svg_end(&s);
    const char *text = buf_str(&out);
    ok(strstr(text, ">10000</text>") && strstr(text, ">1</text>") && strstr(text, ">40</text>") &&
           strstr(text, ">bytes</text>") && strstr(text, ">us</text>"),
       "ticks and labels");
    ok(strstr(text, "points=\"100.00,110.00 200.00,60.00 300.00,10.00\"") != NULL, "a series");
    buf_fini(&out);
}

static void check_ticks(struct axis axis, const char *wanted)
{
    struct axes_ticks t;
    struct buf text;
    buf_init(&text);
    axes_round_ticks(&axis, &t);
    for (size_t i = 0; i < t.count; i++)
        buf_addf(&text, "%s%g", i ? " " : "", t.at[i]);
    is_str(buf_str(&text), wanted, wanted);
    buf_fini(&text);
}

static void test_ticks(void)
{
    ok(near(axes_step(6), 1) && near(axes_step(7), 2) && near(axes_step(0.25), 0.05), "steps");
    check_ticks((struct axis){.least = 0, .most = 1}, "0 0.2 0.4 0.6 0.8 1");
    check_ticks((struct axis){.least = -17, .most = 17}, "-10 0 10");
    check_ticks((struct axis){.least = 1, .most = 100, .logarithmic = 1}, "1 2 5 10 20 50 100");
    check_ticks((struct axis){.least = 0.3, .most = 4e6, .logarithmic = 1},
                "1 10 100 1000 10000 100000 1e+06");
    check_ticks((struct axis){.least = 1, .most = 1e20, .logarithmic = 1},
                "1 1000 1e+06 1e+09 1e+12 1e+15 1e+18");
}

int main(void)
{
    plan_auto();
    test_axes();
    test_ticks();
    return done_testing();
}
