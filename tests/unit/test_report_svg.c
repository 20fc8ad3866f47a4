/*
 * Pictures: shapes and texts are well-formed, plots put values where they belong.
 */
#include "report/svg.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static int near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_shapes(void)
{
    struct svg s;
    struct buf out;
    buf_init(&out);
    svg_begin(&s, &out, 100, 50, "a <b> & \"c\"", "line\nbreak");
    svg_line(&s, 1, 2, 3.14159, 4, "#000000", 1, 1);
    svg_textf(&s, 5, 5, 10, SVG_END, "black", "%d < %d", 1, 2);
    svg_end(&s);
    const char *text = buf_str(&out);
    ok(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\"") == text,
       "begins as SVG");
    ok(strstr(text, "a &lt;b&gt; &amp; &quot;c&quot;") != NULL, "texts are escaped");
    ok(strstr(text, "line?break") != NULL, "without control characters");
    ok(strstr(text, "x2=\"3.14\"") != NULL, "hundredths of a pixel");
    ok(strstr(text, "text-anchor=\"end\" fill=\"black\">1 &lt; 2</text>") != NULL, "formatted text");
    ok(out.len > 7 && strcmp(text + out.len - 7, "</svg>\n") == 0, "ends as SVG");
    buf_fini(&out);
}

static void test_scale(void)
{
    char least[SVG_COLOUR_MAX], most[SVG_COLOUR_MAX], beyond[SVG_COLOUR_MAX];
    svg_scale(0, least);
    svg_scale(1, most);
    svg_scale(7, beyond);
    is_str(least, "#440154", "the least");
    is_str(most, "#e2c81e", "the most");
    is_str(beyond, most, "beyond");
    ok(strcmp(svg_series(0), svg_series(1)) != 0, "series differ");
}

static void test_plot(void)
{
    struct svg_plot p = {.left = 100, .top = 10, .width = 200, .height = 100,
                         .x = {1, 10000, 1, "bytes"}, .y = {0, 50, 0, "us"}};
    struct svg s;
    struct buf out;
    double xy[] = {1, 0, 100, 25, 10000, 50};
    ok(near(svg_plot_x(&p, 1), 100) && near(svg_plot_x(&p, 10000), 300) && near(svg_plot_x(&p, 100), 200),
       "a logarithmic axis");
    ok(near(svg_plot_y(&p, 0), 110) && near(svg_plot_y(&p, 50), 10) && near(svg_plot_y(&p, 25), 60),
       "an axis upwards");
    buf_init(&out);
    svg_begin(&s, &out, 400, 200, "p", "p");
    svg_plot(&s, &p);
    svg_plot_series(&s, &p, xy, 3, svg_series(0));
    svg_end(&s);
    const char *text = buf_str(&out);
    ok(strstr(text, ">10000</text>") && strstr(text, ">1</text>") && strstr(text, ">40</text>") &&
       strstr(text, ">bytes</text>") && strstr(text, ">us</text>"), "ticks and labels");
    ok(strstr(text, "points=\"100.00,110.00 200.00,60.00 300.00,10.00\"") != NULL, "a series");
    buf_fini(&out);
}

int main(void)
{
    plan_auto();
    test_shapes();
    test_scale();
    test_plot();
    return done_testing();
}
