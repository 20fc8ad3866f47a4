"""Plots of the evaluations, as SVG files: the same colours and shapes in all of them, readable by colour-blind people."""

import sys

try:
    import matplotlib
except ImportError:
    sys.exit("papers: plots need matplotlib (Debian: python3-matplotlib, for /usr/bin/python3)")

matplotlib.use("svg")
import matplotlib.pyplot as pyplot  # noqa: E402  (the backend comes first)

matplotlib.rcParams.update({
    "svg.hashsalt": "orrery", "svg.fonttype": "none", "font.size": 10, "axes.grid": True, "grid.alpha": 0.3,
    "axes.spines.top": False, "axes.spines.right": False, "figure.figsize": (7, 4), "legend.frameon": False,
})
# Okabe and Ito's colours, without yellow; markers and dashes differ, too.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f"]
MARKERS = "os^Dv*xP"


def finish(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": "Orrery"})
    pyplot.close(figure)
    return path.name


def lines(path, series, x, y, log="", title=""):
    """series: {label: [(x, y), ...]}; a label that begins with "-" is drawn dashed. log: "x", "y" or "xy"."""
    figure, axes = pyplot.subplots()
    for i, (label, points) in enumerate(series.items()):
        if points:
            axes.plot(*zip(*points), marker=MARKERS[i % len(MARKERS)], markersize=4, linewidth=1.4,
                      color=COLOURS[i % len(COLOURS)], linestyle="--" if label.startswith("-") else "-",
                      label=label.lstrip("-"))
    if "x" in log:
        axes.set_xscale("log", base=2)
    if "y" in log:
        axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    axes.legend(fontsize=8)
    return finish(figure, path)


def boxes(path, groups, y, title=""):
    """groups: {name: (native values, {label: other values})}. A box from the smallest to the largest native value, and
    beside it a bar with the range and median of each of the others."""
    figure, axes = pyplot.subplots()
    names = list(groups)
    for i, name in enumerate(names):
        native, others = groups[name]
        axes.bar(i, max(native) - min(native), bottom=min(native), width=0.7, color="#cccccc", edgecolor="#666666",
                 label="native, smallest to largest" if i == 0 else None)
        for k, (label, values) in enumerate(others.items()):
            middle = sorted(values)[len(values) // 2]
            axes.errorbar(i - 0.2 + 0.2 * k, middle, yerr=[[middle - min(values)], [max(values) - middle]],
                          fmt=MARKERS[k], color=COLOURS[k], capsize=4, label=label if i == 0 else None)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(y)
    axes.set_title(title)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    return finish(figure, path)


def bars(path, groups, y, title=""):
    """groups: {label: {name: value}}: the bars of a name stand side by side."""
    figure, axes = pyplot.subplots()
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    width = 0.8 / len(groups)
    for i, (label, values) in enumerate(groups.items()):
        axes.bar([k - 0.4 + width * (i + 0.5) for k in range(len(names))], [values.get(name, 0) for name in names],
                 width=width * 0.95, color=COLOURS[i % len(COLOURS)], label=label)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(y)
    axes.set_title(title)
    if len(groups) > 1:
        axes.legend(fontsize=8)
    return finish(figure, path)


def matrix(path, values, title="", label=""):
    """A heat map of a square of numbers."""
    figure, axes = pyplot.subplots(figsize=(5, 4))
    image = axes.imshow(values, cmap="cividis", origin="upper")
    axes.grid(False)
    axes.set_xlabel("to rank")
    axes.set_ylabel("from rank")
    axes.set_title(title)
    figure.colorbar(image, label=label)
    return finish(figure, path)
