/*
 * Pictures: shapes and texts are well-formed.
 */
#include "draw/svg.h"

#include <string.h>

#include "tap.h"

static void test_shapes(void)
{
    struct svg s;
    struct buf out;
    double xy[] = {0, 0, 10, 5, 20, 3};
    buf_init(&out);
    svg_begin(&s, &out, 100, 50, "a <b> & \"c\"", "line\nbreak");
    svg_line(&s, 1, 2, 3.14159, 4, "#000000", 1, 1);
    svg_polyline(&s, xy, 3, "red", 2);
    svg_textf(&s, 5, 5, 10, SVG_END, "black", "%d < %d", 1, 2);
    svg_end(&s);
    const char *text = buf_str(&out);
    ok(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\"") ==
           text,
       "begins as SVG");
    ok(strstr(text, "a &lt;b&gt; &amp; &quot;c&quot;") != NULL, "texts are escaped");
    ok(strstr(text, "line?break") != NULL, "without control characters");
    ok(strstr(text, "x2=\"3.14\"") != NULL, "hundredths of a pixel");
    ok(strstr(text, "points=\"0.00,0.00 10.00,5.00 20.00,3.00\"") != NULL, "a polyline");
    ok(strstr(text, "text-anchor=\"end\" fill=\"black\">1 &lt; 2</text>") != NULL,
       "formatted text");
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

int main(void)
{
    plan_auto();
    test_shapes();
    test_scale();
    return done_testing();
}
