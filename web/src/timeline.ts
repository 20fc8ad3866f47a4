/*
 * The timeline: ranks from top to bottom, time from left to right. Zoomed out it is drawn from grids, zoomed in from
 * calls; both pixel by pixel in a buffer, so that the time of a frame depends on the size of the picture, not on that
 * of the trace.
 */

import { COMPUTE, cellColours, GRID_SHARES, KINDS, kindColour, parseColour, pixel } from "./kinds";
import { ChunkSource } from "./chunks";
import { TraceData } from "./data";
import { el, fitCanvas } from "./dom";
import { formatCount, formatShare, formatTime, ticks } from "./format";
import { chooseLevel, Colours, drawCalls, drawGrid, Grid, Picture, rankStep } from "./raster";
import { FoundCall, Store } from "./store";
import { colour, isDark, onTheme } from "./theme";
import { firstStep, loadPath, PathColumn, PathStep } from "./path";
import { Viewport } from "./viewport";

const LEFT = 64; /* for the numbers of ranks */
const BOTTOM = 26; /* for times */
const CALLS_DRAWN = 150_000; /* of more, the grid is drawn */
const MESSAGES_DRAWN = 1500;
const MESSAGES_LOOKED_AT = 30_000; /* with more in the visible time, none is drawn */
const MESSAGES_RANKS = 3; /* per pixel: with more of them none is drawn */
const NAMES_DRAWN = 600;
const NAME_HEIGHT = 13; /* of a rank: at least this much for names in calls */

export interface Frames {
    readonly times: number[]; /* of drawing, in ms */
}

export class Timeline {
    readonly element: HTMLElement;
    readonly view: Viewport;
    readonly store: Store;
    readonly frames: Frames = { times: [] };
    /* Other timelines that move along. */
    readonly linked: Timeline[] = [];
    only = -1;
    showsMessages = true;
    showsPath = true;
    private readonly canvas: HTMLCanvasElement;
    private readonly tip: HTMLElement;
    private readonly status: HTMLElement;
    private readonly scroll: HTMLElement;
    private readonly buffer = document.createElement("canvas");
    private picture: Picture | undefined;
    private image: ImageData | undefined;
    private colours: Colours | undefined;
    private isDue = false;
    private box = { width: 1, height: 1 }; /* of ranks and times, as drawn last */
    private source = "";
    marked: FoundCall | undefined;
    private markedRank = -1;
    private path: PathStep[] = [];
    private drag: { x: number; y: number; from: number; first: number; box: boolean; toX: number; toY: number } | undefined;

    /* `end` and `ranks` are those of the longest and the largest trace of the page, so that all have the same scale. */
    constructor(readonly trace: TraceData, chunks: ChunkSource, end: number, ranks: number) {
        this.view = new Viewport({ end: Math.max(1, end / trace.timeline.unit), ranks: Math.max(1, ranks) });
        this.store = new Store(trace, chunks, () => this.redraw());
        this.canvas = el("canvas", {
            class: "timeline-canvas", tabindex: "0", role: "application",
            "aria-label": `Timeline of ${trace.name}: arrow keys move, plus and minus zoom time, ` +
                "brackets zoom ranks, 0 shows all, m messages, p critical path",
        });
        this.tip = el("div", { class: "tip", role: "status", hidden: true });
        this.status = el("p", { class: "status", "aria-live": "polite" });
        this.scroll = el("div", { class: "scroll", "aria-hidden": "true" }, el("div", { class: "thumb" }));
        this.element = el("div", { class: "timeline" },
            el("div", { class: "timeline-box" }, this.canvas, this.tip), this.scroll, this.status);
        this.listen();
        onTheme(() => {
            this.colours = undefined;
            this.redraw();
        });
        new ResizeObserver(() => this.redraw()).observe(this.canvas);
        if (trace.timeline.path)
            void loadPath(chunks, trace.timeline.path).then((steps) => {
                this.path = steps;
                this.redraw();
            });
    }

    /* ---- moving ---- */

    /* The visible part has changed. */
    moved(): void {
        for (const other of this.linked) {
            const seconds = this.trace.timeline.unit / other.trace.timeline.unit;
            other.view.set(this.view.from * seconds, this.view.to * seconds, this.view.first, this.view.last);
            other.redraw();
        }
        this.redraw();
    }

    showRank(rank: number): void {
        this.markedRank = rank;
        if (this.view.ranks > 200) this.view.zoomRanks(60 / this.view.ranks, rank + 0.5);
        this.view.show(rank);
        this.moved();
    }

    showCall(call: FoundCall): void {
        const span = Math.max(call.duration * 20, this.view.limits.end / 1e6, 64);
        if (this.view.time > span * 50) {
            const middle = call.start + call.duration / 2;
            this.view.set(middle - span, middle + span, this.view.first, this.view.last);
        }
        if (this.view.ranks > 200) this.view.zoomRanks(60 / this.view.ranks, call.rank + 0.5);
        this.view.show(call.rank, call.start, call.start + call.duration);
        this.marked = call;
        this.markedRank = call.rank;
        this.moved();
    }

    clearMarks(): void {
        this.marked = undefined;
        this.markedRank = -1;
        this.only = -1;
        this.redraw();
    }

    act(action: "in" | "out" | "all" | "left" | "right" | "up" | "down" | "more-ranks" | "fewer-ranks"): void {
        const { view } = this;
        const time = (view.from + view.to) / 2;
        const rank = (view.first + view.last) / 2;
        const actions = {
            in: () => view.zoomTime(0.6, time),
            out: () => view.zoomTime(1 / 0.6, time),
            all: () => view.reset(),
            left: () => view.pan(-view.time * 0.2, 0),
            right: () => view.pan(view.time * 0.2, 0),
            up: () => view.pan(0, -Math.max(1, view.ranks * 0.2)),
            down: () => view.pan(0, Math.max(1, view.ranks * 0.2)),
            "more-ranks": () => view.zoomRanks(1 / 0.6, rank),
            "fewer-ranks": () => view.zoomRanks(0.6, rank),
        };
        actions[action]();
        this.moved();
    }

    toggle(what: "messages" | "path"): boolean {
        if (what === "messages") this.showsMessages = !this.showsMessages;
        else this.showsPath = !this.showsPath;
        this.redraw();
        return what === "messages" ? this.showsMessages : this.showsPath;
    }

    /* ---- input ---- */

    /* Asking the browser for a size is slow: once for each frame. */
    private measure(): void {
        this.box = {
            width: Math.max(1, Math.round(this.canvas.clientWidth) - LEFT),
            height: Math.max(1, Math.round(this.canvas.clientHeight) - BOTTOM),
        };
    }

    private timeAt(x: number): number {
        return this.view.from + ((x - LEFT) / this.box.width) * this.view.time;
    }

    private rankAt(y: number): number {
        return this.view.first + (y / this.box.height) * this.view.ranks;
    }

    private listen(): void {
        const { canvas } = this;
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            const amount = event.deltaY || event.deltaX;
            const factor = Math.exp(Math.max(-60, Math.min(60, amount)) * 0.006);
            if (event.shiftKey) this.view.zoomRanks(factor, this.rankAt(event.offsetY));
            else this.view.zoomTime(factor, this.timeAt(event.offsetX));
            this.moved();
        }, { passive: false });
        canvas.addEventListener("pointerdown", (event) => {
            if (event.button !== 0) return;
            canvas.setPointerCapture(event.pointerId);
            this.drag = {
                x: event.offsetX, y: event.offsetY, from: this.view.from, first: this.view.first,
                box: event.shiftKey || event.ctrlKey, toX: event.offsetX, toY: event.offsetY,
            };
        });
        canvas.addEventListener("pointermove", (event) => this.pointed(event));
        canvas.addEventListener("pointerup", () => this.released());
        canvas.addEventListener("pointercancel", () => (this.drag = undefined));
        canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
        canvas.addEventListener("dblclick", (event) => {
            this.view.zoomTime(0.25, this.timeAt(event.offsetX));
            this.moved();
        });
        canvas.addEventListener("keydown", (event) => this.pressed(event));
    }

    private pressed(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const actions: Record<string, Parameters<Timeline["act"]>[0]> = {
            ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down",
            "+": "in", "=": "in", "-": "out", "[": "more-ranks", "]": "fewer-ranks", "0": "all", Home: "all",
        };
        const action = actions[event.key];
        if (action) this.act(action);
        else if (event.key === "m") this.toggle("messages");
        else if (event.key === "p") this.toggle("path");
        else if (event.key === "Escape") this.clearMarks();
        else return;
        event.preventDefault();
    }

    private pointed(event: PointerEvent): void {
        const { drag, view } = this;
        if (!drag) {
            this.hover(event.offsetX, event.offsetY);
            return;
        }
        this.tip.hidden = true;
        drag.toX = event.offsetX;
        drag.toY = event.offsetY;
        if (drag.box) {
            this.redraw();
            return;
        }
        const time = ((drag.x - event.offsetX) / this.box.width) * view.time;
        const ranks = ((drag.y - event.offsetY) / this.box.height) * view.ranks;
        view.set(drag.from + time, drag.from + time + view.time, drag.first + ranks, drag.first + ranks + view.ranks);
        this.moved();
    }

    private released(): void {
        const { drag } = this;
        this.drag = undefined;
        if (!drag?.box) return;
        if (Math.abs(drag.toX - drag.x) > 4 && Math.abs(drag.toY - drag.y) > 4)
            this.view.set(this.timeAt(drag.x), this.timeAt(drag.toX), this.rankAt(drag.y), this.rankAt(drag.toY));
        this.moved();
    }

    private hover(x: number, y: number): void {
        const { tip } = this;
        const rank = Math.floor(this.rankAt(y));
        const inside = x >= LEFT && y <= this.box.height && rank >= 0 && rank < this.trace.ranks;
        tip.hidden = !inside;
        if (!inside) return;
        tip.textContent = this.describe(rank, this.timeAt(x));
        const right = x > this.canvas.clientWidth / 2;
        tip.style.left = right ? "" : `${x + 14}px`;
        tip.style.right = right ? `${this.canvas.clientWidth - x + 14}px` : "";
        tip.style.top = `${Math.min(y + 12, this.canvas.clientHeight - 60)}px`;
    }

    /* Describes what is at a rank and a time. */
    describe(rank: number, time: number): string {
        const unit = this.trace.timeline.unit;
        const at = `rank ${formatCount(rank)} at ${formatTime(time * unit, 6)}`;
        if (this.source === "calls") {
            const call = this.store.callAt(rank, time, (this.view.time / this.box.width) * 0.75);
            if (!call) return `${at}: computing`;
            const name = this.trace.names[call.fn]?.name ?? "?";
            const thread = call.thread ? `, thread ${call.thread}` : "";
            const several = call.number > 1 ? ` and ${formatCount(call.number - 1)} more short calls` : "";
            return `rank ${formatCount(rank)}${thread}: ${name}${several}, ${formatTime(call.start * unit, 6)} + ` +
                formatTime(call.duration * unit);
        }
        const grid = this.currentGrid();
        if (!grid) return at;
        const row = Math.min(grid.rows - 1, Math.floor(rank / grid.group));
        const bin = Math.min(grid.bins - 1, Math.floor((time / grid.end) * grid.bins));
        const cell = grid.cells[row * grid.bins + bin] ?? 0;
        const last = Math.min(this.trace.ranks, (row + 1) * grid.group) - 1;
        const who = grid.group > 1 ? `ranks ${formatCount(row * grid.group)} to ${formatCount(last)}` : `rank ${rank}`;
        if (cell === 0) return `${who}: not running`;
        const share = ((cell - 1) % GRID_SHARES) / (GRID_SHARES - 1);
        const kind = KINDS[1 + Math.floor((cell - 1) / GRID_SHARES)]?.name ?? "?";
        const mostly = share > 0 ? `, mostly ${kind}` : "";
        return `${who} around ${formatTime(time * unit, 5)}: ${formatShare(share)} of the time in MPI${mostly}`;
    }

    /* ---- drawing ---- */

    redraw(): void {
        if (this.isDue) return;
        this.isDue = true;
        requestAnimationFrame(() => {
            this.isDue = false;
            const start = performance.now();
            this.draw();
            this.frames.times.push(performance.now() - start);
            if (this.frames.times.length > 4000) this.frames.times.splice(0, 2000);
        });
    }

    private currentGrid(): Grid | undefined {
        const { width, height } = this.box;
        const level = chooseLevel(this.trace.timeline.grids, this.view, this.trace.timeline.end, width, height);
        if (!level) return undefined;
        return this.store.grid(level) ?? this.store.anyGrid(level);
    }

    private paint(): void {
        const { width, height } = this.box;
        if (!this.picture || this.picture.width !== width || this.picture.height !== height) {
            this.buffer.width = width;
            this.buffer.height = height;
            this.image = new ImageData(width, height);
            this.picture = { width, height, pixels: new Uint32Array(this.image.data.buffer) };
        }
        const ground = colour("plot-ground");
        this.colours ??= {
            cells: cellColours(isDark(), ground), ground: pixel(...parseColour(ground)), shares: GRID_SHARES,
        };
        const estimate = this.store.estimate(this.view);
        const hasGrids = this.trace.timeline.grids.length > 0;
        const fits = estimate / rankStep(this.view) <= CALLS_DRAWN || !hasGrids;
        if (fits && (this.store.ready(this.view) || !hasGrids)) {
            drawCalls(this.picture, this.view, this.store, this.colours, this.only);
            this.source = "calls";
        } else {
            const grid = this.currentGrid();
            if (grid) drawGrid(this.picture, this.view, grid, this.colours);
            else this.picture.pixels.fill(this.colours.ground);
            this.source = "grid";
        }
        this.buffer.getContext("2d")!.putImageData(this.image!, 0, 0);
    }

    private draw(): void {
        if (this.canvas.clientWidth === 0) return;
        const { width, height, ratio } = fitCanvas(this.canvas);
        const context = this.canvas.getContext("2d")!;
        this.measure();
        const { box } = this;
        this.paint();
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.fillStyle = colour("panel");
        context.fillRect(0, 0, width, height);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.imageSmoothingEnabled = false;
        context.drawImage(this.buffer, LEFT, 0);
        context.save();
        context.beginPath();
        context.rect(LEFT, 0, box.width, box.height);
        context.clip();
        const drawn = this.showsMessages ? this.drawMessages(context) : [0, 0] as const;
        if (this.showsPath) this.drawPath(context);
        if (this.source === "calls") this.drawNames(context);
        this.drawMarks(context);
        context.restore();
        this.drawAxes(context);
        this.tell(drawn);
    }

    private x(time: number): number {
        return LEFT + ((time - this.view.from) / this.view.time) * this.box.width;
    }

    private y(rank: number): number {
        return ((rank - this.view.first) / this.view.ranks) * this.box.height;
    }

    /* Draws lines from sends to receives. Returns how many are drawn, and how many known ones are in view. */
    private drawMessages(context: CanvasRenderingContext2D): readonly [number, number] {
        const { view } = this;
        if (view.ranks > MESSAGES_RANKS * this.box.height || this.store.estimateMessages(view.from, view.to) > MESSAGES_LOOKED_AT)
            return [0, 0];
        const seen: number[] = [];
        const blocks = this.store.messagesIn(view.from, view.to);
        blocks.forEach((block, which) => {
            for (let i = 0; i < block.count; i++) {
                if (block.sent[i]! > view.to) break;
                if (block.received[i]! < view.from) continue;
                const a = block.source[i]! + 0.5;
                const b = block.destination[i]! + 0.5;
                if (Math.max(a, b) < view.first || Math.min(a, b) > view.last) continue;
                seen.push(which, i);
            }
        });
        const count = seen.length / 2;
        const step = Math.max(1, Math.ceil(count / MESSAGES_DRAWN));
        context.strokeStyle = colour("message");
        context.globalAlpha = count > 500 ? 0.4 : 0.75;
        context.lineWidth = 1;
        context.beginPath();
        let drawn = 0;
        for (let k = 0; k < seen.length; k += 2 * step) {
            const block = blocks[seen[k]!]!;
            const i = seen[k + 1]!;
            context.moveTo(this.x(block.sent[i]!), this.y(block.source[i]! + 0.5));
            context.lineTo(this.x(block.received[i]!), this.y(block.destination[i]! + 0.5));
            drawn++;
        }
        context.stroke();
        context.globalAlpha = 1;
        return [drawn, count];
    }

    private drawPath(context: CanvasRenderingContext2D): void {
        const { view } = this;
        context.strokeStyle = colour("path");
        context.lineWidth = 2.5;
        context.lineJoin = "round";
        context.beginPath();
        const column = new PathColumn(context);
        for (let i = firstStep(this.path, view.from); i < this.path.length; i++) {
            const step = this.path[i]!;
            if (step.from > view.to) break;
            column.add(this.x(step.from), this.x(step.to), this.y(step.rank + 0.5));
        }
        column.flush();
        context.stroke();
    }

    private drawNames(context: CanvasRenderingContext2D): void {
        const { view } = this;
        const rowHeight = this.box.height / view.ranks;
        if (rowHeight < NAME_HEIGHT) return;
        context.font = "11px system-ui, sans-serif";
        context.textBaseline = "middle";
        const dark = isDark();
        let names = 0;
        for (let rank = Math.floor(view.first); rank < Math.min(view.last, this.trace.ranks); rank++) {
            for (const { block, run } of this.store.runs(rank)) {
                for (let i = run.offset; i < run.offset + run.count && names < NAMES_DRAWN; i++) {
                    const end = block.start[i]! + block.duration[i]!;
                    if (end < view.from) continue;
                    if (block.start[i]! > view.to) break;
                    const left = Math.max(LEFT, this.x(block.start[i]!));
                    const right = Math.min(LEFT + this.box.width, this.x(end));
                    const name = (this.trace.names[block.fn[i]!]?.name ?? "").replace(/^MPI_/, "");
                    if (right - left < name.length * 6.5 + 6 || (this.only >= 0 && this.only !== block.fn[i])) continue;
                    context.fillStyle = inkOn(kindColour(this.store.kinds[block.fn[i]!] ?? COMPUTE, dark));
                    context.fillText(name, left + 3, this.y(rank + 0.5));
                    names++;
                }
            }
        }
    }

    private drawMarks(context: CanvasRenderingContext2D): void {
        const { drag, marked } = this;
        context.strokeStyle = colour("mark");
        context.lineWidth = 2;
        if (this.markedRank >= 0) {
            const top = this.y(this.markedRank);
            context.strokeRect(LEFT - 4, top - 1, this.box.width + 8, Math.max(3, this.y(this.markedRank + 1) - top + 1));
        }
        if (marked) {
            const left = this.x(marked.start);
            const width = Math.max(4, this.x(marked.start + marked.duration) - left);
            context.fillStyle = colour("mark");
            context.globalAlpha = 0.35;
            context.fillRect(left, this.y(marked.rank), width, Math.max(3, this.y(marked.rank + 1) - this.y(marked.rank)));
            context.globalAlpha = 1;
        }
        if (drag?.box) context.strokeRect(drag.x, drag.y, drag.toX - drag.x, drag.toY - drag.y);
    }

    private drawAxes(context: CanvasRenderingContext2D): void {
        const { view, box } = this;
        const unit = this.trace.timeline.unit;
        context.strokeStyle = colour("line");
        context.fillStyle = colour("soft");
        context.lineWidth = 1;
        context.font = "12px system-ui, sans-serif";
        context.textBaseline = "top";
        context.textAlign = "center";
        context.beginPath();
        const times = ticks(view.from * unit, view.to * unit, Math.max(2, box.width / 130));
        const precise = Math.min(9, 3 + Math.max(0, Math.ceil(Math.log10(view.to / view.time))));
        for (const time of times) {
            const x = Math.round(this.x(time / unit)) + 0.5;
            context.moveTo(x, box.height);
            context.lineTo(x, box.height + 5);
            const text = formatTime(time, precise);
            const half = context.measureText(text).width / 2;
            context.fillText(text, Math.min(Math.max(x, LEFT + half), LEFT + box.width - half), box.height + 8);
        }
        context.textAlign = "right";
        context.textBaseline = "middle";
        const ranks = ticks(view.first, view.last - 0.5, Math.max(1, box.height / 28)).filter((rank) => rank % 1 === 0);
        for (const rank of ranks) {
            const y = Math.min(Math.max(this.y(rank + Math.min(0.5, view.ranks / 2)), 7), box.height - 7);
            context.fillText(formatCount(rank), LEFT - 8, y);
            context.moveTo(LEFT - 5, Math.round(y) + 0.5);
            context.lineTo(LEFT, Math.round(y) + 0.5);
        }
        context.stroke();
        context.strokeRect(LEFT - 0.5, -0.5, box.width + 1, box.height + 1);
        context.textAlign = "left";
    }

    private tell([drawn, inView]: readonly [number, number]): void {
        const { view } = this;
        const unit = this.trace.timeline.unit;
        const first = Math.floor(view.first);
        const last = Math.min(this.trace.ranks, Math.ceil(view.last)) - 1;
        const parts = [
            `${formatTime(view.from * unit, 5)} to ${formatTime(view.to * unit, 5)}`,
            first === last ? `rank ${formatCount(first)}` : `ranks ${formatCount(first)} to ${formatCount(last)}`,
        ];
        const { calls, messages } = this.trace.timeline;
        const step = rankStep(view);
        if (this.source === "grid") parts.push("from afar: zoom in for single calls and messages");
        else if (step > 1) parts.push(`calls of one rank in ${step}`);
        else if (calls.kept < calls.all) parts.push(`calls closer than ${formatTime(unit)} are drawn as one`);
        if (drawn > 0) {
            const sample = messages.kept < messages.all ? ` (of every ${Math.round(messages.all / messages.kept)} one is known)` : "";
            parts.push(drawn < inView || sample ? `${formatCount(drawn)} of ${formatCount(inView)} messages drawn${sample}`
                : `${formatCount(drawn)} messages`);
        }
        if (this.store.isLoading) parts.push("loading");
        this.status.textContent = parts.join(" | ");
        const thumb = this.scroll.firstElementChild as HTMLElement;
        thumb.style.left = `${(view.from / view.limits.end) * 100}%`;
        thumb.style.width = `${Math.max(0.3, (view.time / view.limits.end) * 100)}%`;
    }
}

/* Black or white, whichever is easier to read on a colour. */
export function inkOn(ground: string): string {
    const [r, g, b] = parseColour(ground);
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111111" : "#ffffff";
}
