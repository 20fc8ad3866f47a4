/* The topology of the machine, with links coloured by what they carried. */

import { ChunkSource, loadFloats } from "./chunks";
import { Links } from "./data";
import { Child, el, fitCanvas, table } from "./dom";
import { formatBytes, formatCount, formatShare } from "./format";
import { onScale, scaleColours } from "./heat";
import { colour, isDark, onTheme } from "./theme";

interface Line {
    readonly a: number;
    readonly b: number;
    readonly there: number; /* bytes from a to b */
    readonly back: number;
}

/* Both directions of a link as one line. */
export function joinDirections(ends: Float32Array): Line[] {
    const lines = new Map<string, { a: number; b: number; there: number; back: number }>();
    for (let i = 0; i + 2 < ends.length; i += 3) {
        const [from, to, bytes] = [ends[i]!, ends[i + 1]!, ends[i + 2]!];
        const key = from < to ? `${from} ${to}` : `${to} ${from}`;
        const line = lines.get(key) ?? { a: Math.min(from, to), b: Math.max(from, to), there: 0, back: 0 };
        if (from < to) line.there += bytes;
        else line.back += bytes;
        lines.set(key, line);
    }
    return [...lines.values()];
}

/* Makes coordinate k of all vertices go from 0 to 1. */
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
    private readonly lines: Line[];
    private readonly most: number;
    private readonly least: number;
    private readonly count: number;
    private at = -1;

    constructor(private readonly links: Links, private readonly places: Float32Array, ends: Float32Array) {
        this.count = places.length / 3;
        stretch(places, 1);
        stretch(places, 2);
        this.lines = joinDirections(ends).sort((x, y) => Math.max(x.there, x.back) - Math.max(y.there, y.back));
        const loads = this.lines.map((line) => Math.max(line.there, line.back)).filter((load) => load > 0);
        this.least = Math.min(...loads, Infinity);
        this.most = Math.max(...loads, 0);
        this.canvas = el("canvas", { class: "network", role: "img", "aria-label": `Links of the ${links.kind} by load; the table has the most loaded ones` });
        this.canvas.addEventListener("pointermove", (event) => this.hover(event.offsetX, event.offsetY));
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        onTheme(() => this.draw());
        const legend = this.most > 0 && el("div", { class: "legend scale" }, formatBytes(this.least),
            el("span", { class: "ramp", "aria-hidden": "true" }), formatBytes(this.most), " (logarithmic; grey: nothing)");
        this.element = el("div", { class: "heat-box" }, this.canvas, legend, this.tip);
    }

    private point(index: number): [number, number] {
        const width = this.canvas.clientWidth - 2 * MARGIN;
        const height = this.canvas.clientHeight - 2 * MARGIN;
        return [MARGIN + this.places[3 * index + 1]! * width, MARGIN + this.places[3 * index + 2]! * height];
    }

    private isNode(index: number): boolean {
        return this.places[3 * index]! < this.links.nodes;
    }

    private name(index: number): string {
        const vertex = this.places[3 * index]!;
        return this.isNode(index) ? `node ${vertex}` : `switch ${vertex - this.links.nodes}`;
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
        const line = this.lines[best];
        this.tip.textContent = line ? `${this.name(line.a)} to ${this.name(line.b)}: ${formatBytes(line.there)}, and back ${formatBytes(line.back)}`
            : "Point at a link to read what it carried.";
        this.draw();
    }

    private draw(): void {
        const { canvas } = this;
        if (canvas.clientWidth === 0) return;
        const { width, height, ratio } = fitCanvas(canvas);
        const context = canvas.getContext("2d")!;
        const colours = scaleColours(isDark());
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.fillStyle = colour("panel");
        context.fillRect(0, 0, width, height);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const idle = colour("line");
        this.lines.forEach((line, i) => {
            const load = Math.max(line.there, line.back);
            const value = load > 0 ? colours[onScale(load, this.least, this.most, true)]! : 0;
            context.strokeStyle = load > 0 ? `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})` : idle;
            context.lineWidth = i === this.at ? 6 : load > 0 ? 2.5 : 1;
            context.beginPath();
            context.moveTo(...this.point(line.a));
            context.lineTo(...this.point(line.b));
            context.stroke();
        });
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

export async function linksPanel(links: Links | undefined, chunks: ChunkSource): Promise<HTMLElement> {
    if (!links) return el("p", {}, "The machine is not known: name it with --platform to see the load of its links.");
    const rows = links.most.map((link): Child[] => [
        `${link.from} to ${link.to}`, formatBytes(link.bytes), link.busy > 0 ? formatShare(link.busy) : "not known",
    ]);
    const box = el("div", {}, el("p", {}, `Topology ${links.kind}: ${formatCount(links.nodes)} nodes, ` +
        `${formatCount(links.vertices - links.nodes)} switches; ${formatCount(links.used)} of ${formatCount(links.all)} links were used.`));
    if (links.used > 0)
        box.append(new Network(links, await loadFloats(chunks, links.places), await loadFloats(chunks, links.ends)).element);
    else box.append(el("p", {}, "No messages went from node to node."));
    if (rows.length > 0) box.append(table(["link", "bytes", "of the run time at full rate"], rows, "Links that carried most (n: node, s: switch)"));
    return box;
}
