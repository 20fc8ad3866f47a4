/* Diagrams over ranks or time, by uPlot: stacked times, or lines. */

import uPlot from "uplot";
import { formatCount } from "./format";
import { colour, isDark, onTheme } from "./theme";

export interface Series {
    readonly label: string;
    readonly values: Float32Array;
    readonly light: string;
    readonly dark: string;
}

export interface PlotOptions {
    readonly label: string; /* for people who cannot see it */
    readonly height: number;
    readonly isStacked: boolean;
    readonly isBytes?: boolean;
    readonly top: number; /* of the axis of values, which starts at 0 */
    readonly format: (value: number) => string;
    readonly short: (value: number) => string;
    readonly onClick?: (index: number) => void;
    /* The axis, if it does not show ranks: its label, the name of a position, the value of position i, and their
     * distance. */
    readonly x?: {
        readonly label: string; readonly name: string; readonly at: (index: number) => number; readonly step: number;
        readonly format: (x: number) => string;
    };
}

/* With more ranks, a point is the mean of several. */
const POINTS_MOST = 4096;

export function thin(values: Float32Array, width: number): Float64Array {
    const result = new Float64Array(Math.ceil(values.length / width));
    for (let i = 0; i < result.length; i++) {
        const end = Math.min(values.length, (i + 1) * width);
        let sum = 0;
        for (let k = i * width; k < end; k++) sum += values[k]!;
        result[i] = sum / (end - i * width);
    }
    return result;
}

/* The highest sum of a rank over all series. */
export function highest(series: readonly Float32Array[]): number {
    let most = 0;
    const ranks = series[0]?.length ?? 0;
    for (let i = 0; i < ranks; i++) most = Math.max(most, series.reduce((sum, values) => sum + values[i]!, 0));
    return most;
}

/* The ticks of an axis of bytes: multiples of a power of two. */
export function byteTicks(from: number, to: number, most: number): number[] {
    let step = 1;
    while ((to - from) / step > most) step *= 2;
    const found: number[] = [];
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) found.push(tick);
    return found;
}

/* Each series on top of those before it. */
export function stack(columns: Float64Array[]): Float64Array[] {
    const sums: Float64Array[] = [];
    columns.forEach((column, i) => {
        const below = sums[i - 1];
        sums.push(below ? column.map((value, k) => value + below[k]!) : column.slice());
    });
    return sums;
}

function makeOptions(element: HTMLElement, series: readonly Series[], plain: Float64Array[], width: number,
    points: number, options: PlotOptions): uPlot.Options {
    const dark = isDark();
    const paths = points <= 256 && options.isStacked ? uPlot.paths.bars!({ size: [0.92, 60], gap: points > 100 ? 0 : 1 })
        : options.isStacked || options.x ? uPlot.paths.stepped!({ align: 1 }) : null;
    /* The highest of a stack is drawn first, so that those below it cover it. */
    const order = series.map((_, i) => (options.isStacked ? series.length - 1 - i : i));
    const axis = { stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid") } };
    return {
        width: Math.max(200, element.clientWidth),
        height: options.height,
        scales: {
            x: { time: false, range: (_, low, high) => (options.x ? [low, high + options.x.step] : [low - 0.5 * width, high + 0.5 * width]) },
            y: { range: () => [0, options.top > 0 ? options.top * 1.05 : 1] },
        },
        legend: { show: true, live: true },
        cursor: { points: { show: false }, drag: { x: true, y: false } },
        axes: [
            options.x ? { ...axis, label: options.x.label, labelSize: 22, labelFont: "12px system-ui", values: (_, ticks) => ticks.map((tick) => options.x!.format(tick)) }
                : { ...axis, label: width > 1 ? `rank (means of ${width} ranks)` : "rank", labelSize: 22, labelFont: "12px system-ui",
                values: (_, ticks) => ticks.map((tick) => (tick % 1 === 0 ? formatCount(tick) : "")), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000] },
            { ...axis, size: 76, values: (_, ticks) => ticks.map(options.short),
                ...(options.isBytes ? { splits: (_: uPlot, __: number, low: number, high: number) => byteTicks(low, high, 5) } : {}) },
        ],
        series: [
            { label: options.x?.name ?? (width > 1 ? "ranks from" : "rank"),
                value: (_, value) => (value === null ? "-" : (options.x?.format ?? formatCount)(value)) },
            ...order.map((i): uPlot.Series => {
                const { label, light, dark: bright } = series[i]!;
                const ink = dark ? bright : light;
                return {
                    label, stroke: ink, width: options.isStacked ? 0 : 1.5, points: { show: false },
                    ...(options.isStacked ? { fill: ink } : { dash: i % 2 ? [6, 6] : [] }), ...(paths ? { paths } : {}),
                    value: (_, __, ___, at) => (at === null || at === undefined ? "-" : options.format(plain[i]![at] ?? 0)),
                };
            }),
        ],
        hooks: {
            ready: [(plot) => {
                plot.over.addEventListener("dblclick", () => plot.redraw());
                if (!options.onClick) return;
                let downX = 0;
                plot.over.addEventListener("mousedown", (event) => (downX = event.clientX));
                plot.over.addEventListener("click", (event) => {
                    if (Math.abs(event.clientX - downX) < 3 && plot.cursor.idx != null) options.onClick!(plot.cursor.idx * width);
                });
            }],
        },
    };
}

/* Draws into an element, and again when the colours or the size change. */
export function drawPlot(element: HTMLElement, series: readonly Series[], options: PlotOptions): void {
    const ranks = series[0]?.values.length ?? 0;
    const width = Math.max(1, Math.ceil(ranks / POINTS_MOST));
    const plain = series.map(({ values }) => thin(values, width));
    const stacked = options.isStacked ? stack(plain).reverse() : plain;
    const x = Float64Array.from(plain[0] ?? [], (_, i) => options.x?.at(i) ?? i * width);
    let plot: uPlot | undefined;
    const draw = () => {
        plot?.destroy();
        plot = new uPlot(makeOptions(element, series, plain, width, x.length, options), [x, ...stacked] as unknown as uPlot.AlignedData, element);
        plot.root.setAttribute("role", "img");
        plot.root.setAttribute("aria-label", options.label);
    };
    let size = 0;
    new ResizeObserver(() => {
        const now = element.clientWidth;
        if (now === size || now === 0) return;
        size = now;
        if (plot) plot.setSize({ width: Math.max(200, now), height: options.height });
        else draw();
    }).observe(element);
    onTheme(() => {
        if (plot) draw();
    });
}
