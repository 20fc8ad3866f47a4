"""Pictures of the results, as SVG."""

import math
import statistics

STYLE = """<style>
text { font: 12px sans-serif; fill: #222 }
.small { font-size: 10px } .middle { text-anchor: middle } .end { text-anchor: end }
.axis { stroke: #999; stroke-width: 1 } .grid { stroke: #ddd; stroke-width: 1 }
.native { fill: #c8d6e8; stroke: #3d6190 } .wide { fill: none; stroke: #3d6190; stroke-dasharray: 3 3 }
.hybrid { stroke: #b5451b; stroke-width: 2; fill: #b5451b } .run { stroke: #2c7a3f; stroke-width: 2; fill: #2c7a3f }
.cell { fill: #3d6190 } .frame { fill: none; stroke: #999 }
@media (prefers-color-scheme: dark) {
svg { background: #16191d } text { fill: #ddd } .grid { stroke: #333 }
.native { fill: #2d4260; stroke: #8fb0dc } .wide { stroke: #8fb0dc } .cell { fill: #8fb0dc }
.hybrid { stroke: #f08a5d; fill: #f08a5d } .run { stroke: #7ccf90; fill: #7ccf90 } }
</style>"""


def svg(width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}">', STYLE, *parts, "</svg>\n"])


def text(x, y, words, classes=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{words}</text>'


def line(x1, y1, x2, y2, classes):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>'


def box(x, y, width, height, classes, more=""):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.5):.1f}" class="{classes}"{more}/>'


def steps(low, high):
    """Round numbers for an axis: about six of them."""
    size = 10 ** math.floor(math.log10((high - low) / 6))
    size *= next(factor for factor in (1, 2, 5, 10) if size * factor * 6 >= high - low)
    return size, range(math.floor(low / size), math.ceil(high / size) + 1)


# ---- do three ways agree? ----

TOP, BOTTOM, LEFT, GROUP, HEIGHT = 46, 30, 64, 110, 320


def agreement(times):
    """Ranges of times relative to the native median: boxes are native, bars are simulated."""
    relative = {kernel: {mode: [value / statistics.median(modes["native"]) for value in values]
                         for mode, values in modes.items()} for kernel, modes in times.items()}
    every = [value for modes in relative.values() for values in modes.values() for value in values]
    size, ticks = steps(min(*every, 0.85), max(*every, 1.15))
    low, high = ticks[0] * size, ticks[-1] * size
    width = LEFT + GROUP * len(times) + 16

    def y(value):
        return TOP + HEIGHT * (high - value) / (high - low)
    parts = [text(LEFT, 18, "time, relative to the native median"),
             box(LEFT, 26, 12, 10, "native"), text(LEFT + 16, 35, "native, least to most; dashed: widened by 10 %", "small"),
             line(LEFT + 270, 31, LEFT + 290, 31, "hybrid"), text(LEFT + 294, 35, "orrery hybrid", "small"),
             line(LEFT + 370, 31, LEFT + 390, 31, "run"), text(LEFT + 394, 35, "orrery run", "small")]
    for tick in ticks:
        value = tick * size
        parts += [line(LEFT, y(value), width - 16, y(value), "grid"),
                  text(LEFT - 6, y(value) + 4, f"{value:.3g}", "end")]
    for index, (kernel, modes) in enumerate(relative.items()):
        parts += group(LEFT + GROUP * (index + 0.5), y, modes)
        parts.append(text(LEFT + GROUP * (index + 0.5), TOP + HEIGHT + 20, kernel, "middle"))
    return svg(width, TOP + HEIGHT + BOTTOM, parts)


def group(middle, y, modes):
    native = modes["native"]
    top, bottom = y(max(native)), y(min(native))
    yield box(middle - 40, y(max(native) * 1.1), 80, y(min(native) * 0.9) - y(max(native) * 1.1), "wide")
    yield box(middle - 36, top, 72, bottom - top, "native")
    yield line(middle - 36, y(1), middle + 36, y(1), "native")
    for shift, mode in ((-14, "hybrid"), (14, "run")):
        values, x = modes[mode], middle + shift
        yield line(x, y(min(values)), x, y(max(values)), mode)
        for value in (min(values), max(values)):
            yield line(x - 5, y(value), x + 5, y(value), mode)
        yield f'<circle cx="{x:.1f}" cy="{y(statistics.median(values)):.1f}" r="3.5" class="{mode}"/>'


# ---- who talks to whom? ----

MATRIX, ROOM = 176, 24


def matrices(traffic):
    """A square for each kernel: rows are senders, columns receivers, darker cells have more bytes."""
    columns = 3
    rows = (len(traffic) + columns - 1) // columns
    width = columns * (MATRIX + ROOM) + ROOM
    parts = [text(ROOM, 18, "Who sends to whom: senders from top to bottom, receivers from left to right, "
                  "darker for more bytes")]
    for index, (title, ranks, pairs) in enumerate(traffic):
        x = ROOM + index % columns * (MATRIX + ROOM)
        y = 52 + index // columns * (MATRIX + 2 * ROOM)
        parts += [text(x, y - 6, title), *matrix(x, y, ranks, pairs), box(x, y, MATRIX, MATRIX, "frame")]
    return svg(width, 52 + rows * (MATRIX + 2 * ROOM), parts)


def matrix(x, y, ranks, pairs):
    size, most = MATRIX / ranks, max(pairs.values(), default=0)
    for (source, destination), amount in sorted(pairs.items()):
        shade = 0.15 + 0.85 * math.log1p(amount) / math.log1p(most) if most else 0.15
        yield box(x + destination * size, y + source * size, size, size, "cell", f' fill-opacity="{shade:.2f}"')
