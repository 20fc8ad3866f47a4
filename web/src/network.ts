/* The topology of the machine, with links coloured by what they carried, as a whole or at a time. */

import { ChunkSource, loadFloats } from "./chunks";
import { Links, TraceData } from "./data";
import { Child, el, fitCanvas, table } from "./dom";
import { formatBytes, formatCount, formatShare, formatTime } from "./format";
import { onScale, scaleColours } from "./heat";
import { joinDirections, Line, LinkLoads, Span } from "./linkload";
import { drawPlot } from "./plots";
import { colour, isDark, onTheme } from "./theme";

/* Scales coordinate k of all vertices to the range from 0 to 1. */
export function stretch(places: Float32Array, k: 1 | 2): void {
    let least = Infinity;
    let most = -Infinity;
    for (let i = k; i < places.length; i += 3) {
        least = Math.min(least, places[i]!);
        most = Math.max(most, places[i]!);
    }
    for (let i = k; i < places.length; i += 3) places[i] = most > least ? (places[i]! - least) / (most - least) : 0.5;
}

const MARGIN = 18;

class Network {
    readonly element: HTMLElement;
    private readonly canvas: HTMLCanvasElement;
    private readonly tip = el("p", { class: "status", "aria-live": "polite" }, "Point at a link to read what it carried.");
    private readonly legend = el("div", { class: "legend scale" });
    private readonly lines: Line[];
    private readonly count: number;
    private readonly scales: { whole: number; bins: number };
    private span: Span = null;
    private at = -1;

    constructor(private readonly loads: LinkLoads, private readonly places: Float32Array) {
        this.count = places.length / 3;
        stretch(places, 1);
        stretch(places, 2);
        this.lines = joinDirections(loads);
        this.scales = { whole: loads.most(true), bins: loads.most(false) };
        this.canvas = el("canvas", { class: "network", role: "img", "aria-label": `Links of the ${loads.links.kind} by load; the table has the most loaded ones` });
        this.canvas.addEventListener("pointermove", (event) => this.hover(event.offsetX, event.offsetY));
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        onTheme(() => this.draw());
        this.element = el("div", { class: "heat-box" }, this.canvas, this.legend, this.tip);
        this.show(null);
    }

    /* Colours links by what they carried in a part of the run. */
    show(span: Span): void {
        this.span = span;
        this.legend.replaceChildren("0", el("span", { class: "ramp", "aria-hidden": "true" }),
            this.loads.isShare ? `${formatShare(this.most)} of what a link can carry` : formatBytes(this.most), " (grey: nothing)");
        this.tell();
        this.draw();
    }

    private get most(): number {
        return this.span ? this.scales.bins : this.scales.whole;
    }

    private point(index: number): [number, number] {
        const width = this.canvas.clientWidth - 2 * MARGIN;
        const height = this.canvas.clientHeight - 2 * MARGIN;
        return [MARGIN + this.places[3 * index + 1]! * width, MARGIN + this.places[3 * index + 2]! * height];
    }

    private isNode(index: number): boolean {
        return this.places[3 * index]! < this.loads.links.nodes;
    }

    private name(index: number): string {
        const vertex = this.places[3 * index]!;
        return this.isNode(index) ? `node ${vertex}` : `switch ${vertex - this.loads.links.nodes}`;
    }

    private hover(x: number, y: number): void {
        let best = -1;
        let nearest = 8; /* pixels */
        this.lines.forEach((line, i) => {
            const [ax, ay] = this.point(line.a);
            const [bx, by] = this.point(line.b);
            const square = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
            const along = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square));
            const distance = Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay));
            if (distance <= nearest) [nearest, best] = [distance, i];
        });
        if (best === this.at) return;
        this.at = best;
        this.tell();
        this.draw();
    }

    /* "3 MiB (12%)" of all links in a direction. */
    private amount(links: readonly number[]): string {
        const bytes = links.reduce((sum, link) => sum + this.loads.bytes(link, this.span), 0);
        const share = links.reduce((sum, link) => sum + this.loads.load(link, this.span), 0) / Math.max(1, links.length);
        return formatBytes(bytes) + (this.loads.isShare ? ` (${formatShare(share)})` : "");
    }

    private tell(): void {
        const line = this.lines[this.at];
        this.tip.textContent = line ? `${this.name(line.a)} to ${this.name(line.b)}: ${this.amount(line.there)}, and back ${this.amount(line.back)}`
            : "Point at a link to read what it carried.";
    }

    private loadOf(line: Line): number {
        let most = 0;
        for (const link of [...line.there, ...line.back]) most = Math.max(most, this.loads.load(link, this.span));
        return most;
    }

    private draw(): void {
        const { canvas } = this;
        if (canvas.clientWidth === 0) return;
        const { width, height, ratio } = fitCanvas(canvas);
        const context = canvas.getContext("2d")!;
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.fillStyle = colour("panel");
        context.fillRect(0, 0, width, height);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.drawLines(context);
        this.drawVertices(context);
    }

    /* The busiest last, so that they are on top. */
    private drawLines(context: CanvasRenderingContext2D): void {
        const colours = scaleColours(isDark());
        const idle = colour("line");
        const all = this.lines.map((line, i) => ({ line, i, load: this.loadOf(line) })).sort((x, y) => x.load - y.load);
        for (const { line, i, load } of all) {
            const value = load > 0 ? colours[onScale(load, 0, this.most, false)]! : 0;
            context.strokeStyle = load > 0 ? `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})` : idle;
            context.lineWidth = i === this.at ? 6 : load > 0 ? 3 : 1;
            context.beginPath();
            context.moveTo(...this.point(line.a));
            context.lineTo(...this.point(line.b));
            context.stroke();
        }
    }

    private drawVertices(context: CanvasRenderingContext2D): void {
        const size = this.count > 300 ? 2 : 4;
        for (let index = 0; index < this.count; index++) {
            const [x, y] = this.point(index);
            context.fillStyle = colour(this.isNode(index) ? "soft" : "ink");
            context.beginPath();
            if (this.isNode(index)) context.arc(x, y, size, 0, 2 * Math.PI);
            else context.rect(x - size, y - size, 2 * size, 2 * size);
            context.fill();
        }
    }
}

/* ---- time ---- */

/* Chooses the part of the run to show: a slider over the bins, whose first position is the whole run. */
class TimeSlider {
    readonly element: HTMLElement;
    private readonly input: HTMLInputElement;
    private readonly label = el("output", { class: "control" });

    constructor(private readonly loads: LinkLoads, seen: () => Span, private readonly change: (span: Span) => void) {
        this.input = el("input", { type: "range", min: "0", max: String(loads.links.bins), step: "1", value: "0", "aria-label": "time of the load that is shown" });
        this.input.addEventListener("input", () => {
            const bin = this.input.valueAsNumber - 1;
            this.set(bin < 0 ? null : { from: bin, to: bin + 1 });
        });
        const whole = el("button", { type: "button" }, "whole run");
        whole.addEventListener("click", () => this.set(null));
        const timeline = el("button", { type: "button", title: "the part of the run that the timeline shows" }, "as in the timeline");
        timeline.addEventListener("click", () => this.set(seen()));
        this.element = el("div", { class: "tools slider" }, this.input, whole, timeline, this.label);
        this.set(null);
    }

    set(span: Span): void {
        this.input.value = span ? String(span.from + 1) : "0";
        const text = span ? `${formatTime(this.loads.time(span.from))} to ${formatTime(this.loads.time(span.to))}` : "the whole run";
        this.label.textContent = text;
        this.input.setAttribute("aria-valuetext", text);
        this.change(span);
    }
}

const PLOTTED = 6;
const COLOURS: readonly [string, string][] = [
    ["#0072b2", "#3d9be0"], ["#d55e00", "#f07a2a"], ["#009e73", "#1fc796"], ["#cc79a7", "#e39cc4"], ["#8c6d31", "#c2a25c"], ["#5f5f7a", "#a0a0bc"],
];

/* The busiest links over time; a click shows that time in the topology. */
function busiestPlot(loads: LinkLoads, goTo: (bin: number) => void): HTMLElement {
    const { links } = loads;
    const series = links.most.slice(0, Math.min(PLOTTED, links.seriesCount)).map(({ name }, i) => ({
        label: name, values: loads.overTime(i), light: COLOURS[i]![0], dark: COLOURS[i]![1],
    }));
    const box = el("div", { class: "plot" });
    const format = loads.isShare ? formatShare : formatBytes;
    drawPlot(box, series, {
        label: "Load of the busiest links over time", height: 220, isStacked: false, isBytes: !loads.isShare,
        top: Math.max(...series.map(({ values }) => Math.max(...values))), format, short: format, onClick: goTo,
        x: { label: "time", name: "from", at: (bin) => loads.time(bin), step: links.interval, format: formatTime },
    });
    return box;
}

/* ---- values over time ---- */

const POINTS = 400;

/* The greatest value in each of `points` equal parts of the run; where there is no sample, the value before it holds. */
export function resample(rows: Float32Array, runtime: number, points: number): Float32Array {
    const values = new Float32Array(points);
    let last = 0;
    let at = 0;
    for (let i = 0; i < points; i++) {
        let most = last;
        for (; at < rows.length && rows[at]! < ((i + 1) * runtime) / points; at += 3) {
            most = Math.max(most, rows[at + 2]!);
            last = rows[at + 1]!;
        }
        values[i] = most;
    }
    return values;
}

const KINDS: Readonly<Record<string, string>> = { queue: "Longest queues", window: "Congestion windows", rtt: "Round trips" };

/* Of each kind those with the greatest values. */
async function vectorPlots(trace: TraceData, links: Links, chunks: ChunkSource): Promise<HTMLElement> {
    const box = el("div", {});
    for (const [kind, title] of Object.entries(KINDS)) {
        const chosen = links.vectors.filter(({ name }) => name.startsWith(`${kind}.`)).slice(0, PLOTTED);
        if (chosen.length === 0) continue;
        const series = await Promise.all(chosen.map(async ({ name, rows }, i) => ({
            label: name.slice(kind.length + 1), values: resample(await loadFloats(chunks, rows), trace.runtime, POINTS),
            light: COLOURS[i]![0], dark: COLOURS[i]![1],
        })));
        const format = chosen[0]!.isTime ? formatTime : formatBytes;
        const plot = el("div", { class: "plot" });
        drawPlot(plot, series, {
            label: `${title} over time`, height: 220, isStacked: false, isBytes: !chosen[0]!.isTime,
            top: Math.max(...series.map(({ values }) => Math.max(...values))), format, short: format,
            x: { label: "time", name: "from", at: (i) => (i * trace.runtime) / POINTS, step: trace.runtime / POINTS, format: formatTime },
        });
        box.append(el("h3", {}, title), plot);
    }
    return box;
}

/* ---- the panel ---- */

function mostTable(links: Links, loads: LinkLoads): HTMLElement {
    const share = (value: number) => (value > 0 ? formatShare(value) : "not known");
    const rows = links.most.map((link): Child[] => [
        link.name.replace("-", " to "), formatBytes(link.bytes), share(link.busy), share(link.peak),
        formatTime(loads.time(link.peakBin)),
    ]);
    return table(["link", "bytes", "of the run time at full rate", `most, in ${formatTime(links.interval)}`, "at"], rows,
        "Links that carried most (n: node, s: switch)");
}

/* `seen` returns the part of the run that the timeline shows, in seconds. */
export async function linksPanel(trace: TraceData, chunks: ChunkSource, seen: () => [number, number]): Promise<HTMLElement> {
    const { links } = trace;
    if (!links) return el("p", {}, "The links of this run are not known: its network model has none. Name a machine with --platform to route its messages.");
    const box = el("div", {}, el("p", {}, `Topology ${links.kind}: ${formatCount(links.nodes)} nodes, ` +
        `${formatCount(links.vertices - links.nodes)} switches; ${formatCount(links.used)} of ${formatCount(links.all)} links were used.`));
    if (links.used === 0) {
        box.append(el("p", {}, "No messages went from node to node."));
        return box;
    }
    const [places, ends, series] = await Promise.all([links.places, links.ends, links.series].map((chunk) => loadFloats(chunks, chunk)));
    const loads = new LinkLoads(links, trace.runtime, ends!, series!);
    const network = new Network(loads, places!);
    const slider = new TimeSlider(loads, () => loads.spanOf(...seen()), (span) => network.show(span));
    box.append(slider.element, network.element, busiestPlot(loads, (bin) => slider.set({ from: bin, to: bin + 1 })), mostTable(links, loads));
    if (links.vectors.length > 0) box.append(await vectorPlots(trace, links, chunks));
    return box;
}
