/*
 * Draws a part of a timeline pixel by pixel, from cells of a grid or from calls. Both look alike: if a pixel stands for
 * several ranks or calls, its colour is between that of computing and that of the kind that took most of the MPI time,
 * by the share of time in MPI.
 */

import { CallBlock, firstAt, Run } from "./calls";
import { Viewport } from "./viewport";

export interface Picture {
    readonly width: number;
    readonly height: number;
    readonly pixels: Uint32Array;
}

export interface Colours {
    readonly cells: Uint32Array; /* of the values of cells */
    readonly ground: number;
    readonly shares: number; /* GRID_SHARES */
}

export interface Grid {
    readonly group: number; /* ranks of a row */
    readonly rows: number;
    readonly bins: number;
    readonly cells: Uint8Array;
    readonly end: number; /* time of the right edge of the last bin: the view may extend beyond it */
}

export function drawGrid(picture: Picture, view: Viewport, grid: Grid, colours: Colours): void {
    const { width, height, pixels } = picture;
    const { cells, bins, rows, group } = grid;
    const columns = new Uint32Array(width);
    for (let x = 0; x < width; x++) {
        const time = view.from + ((x + 0.5) / width) * view.time;
        columns[x] = time < grid.end ? Math.floor((time / grid.end) * bins) : bins;
    }
    let drawn = -1;
    for (let y = 0; y < height; y++) {
        const row = Math.min(rows - 1, Math.floor((view.first + ((y + 0.5) / height) * view.ranks) / group));
        const to = y * width;
        if (row === drawn) {
            pixels.copyWithin(to, to - width, to);
            continue;
        }
        drawn = row;
        const from = row * bins;
        for (let x = 0; x < width; x++) {
            const bin = columns[x]!;
            pixels[to + x] = bin < bins ? colours.cells[cells[from + bin]!]! : colours.ground;
        }
    }
}

export interface RankRun {
    readonly block: CallBlock;
    readonly run: Run;
}

export interface CallSource {
    /* The runs of a rank that are loaded, in order of time. */
    runs(rank: number): readonly RankRun[];
    /* When the rank was running, in units. */
    readonly kinds: Uint8Array; /* by function */
}

const FEW = 16; /* pixels: of more, arrays are filled by the browser */

/* Sums of one row of pixels. */
class Row {
    readonly busy: Float32Array; /* of calls that take a part of the pixel */
    readonly full: Int32Array; /* calls that take all of it: changes from one pixel to the next */
    readonly most: Float32Array;
    readonly kind: Uint8Array;
    readonly there: Int32Array; /* ranks: changes from one pixel to the next */

    constructor(readonly width: number) {
        this.busy = new Float32Array(width);
        this.full = new Int32Array(width + 1);
        this.most = new Float32Array(width);
        this.kind = new Uint8Array(width);
        this.there = new Int32Array(width + 1);
    }

    clear(): void {
        this.busy.fill(0);
        this.full.fill(0);
        this.most.fill(0);
        this.kind.fill(0);
        this.there.fill(0);
    }

    add(kind: number, from: number, to: number): void {
        const a = Math.max(from, 0);
        const b = Math.min(to, this.width);
        let x = Math.floor(a);
        if (b < x + 1) {
            if (b > a) this.put(x, kind, b - a);
            return;
        }
        if (a > x) {
            this.put(x, kind, x + 1 - a);
            x++;
        }
        const end = Math.floor(b);
        if (end > x) this.cover(x, end, kind);
        if (b > end) this.put(end, kind, b - end);
    }

    private put(x: number, kind: number, share: number): void {
        this.busy[x]! += share;
        if (share > this.most[x]!) {
            this.most[x] = share;
            this.kind[x] = kind;
        }
    }

    /* All of the pixels from x to end: nothing can take more of them. */
    private cover(x: number, end: number, kind: number): void {
        this.full[x]! += 1;
        this.full[end]! -= 1;
        if (end - x > FEW) {
            this.most.fill(1, x, end);
            this.kind.fill(kind, x, end);
            return;
        }
        for (; x < end; x++) {
            this.most[x] = 1;
            this.kind[x] = kind;
        }
    }

    /* Adds a rank that is running from one pixel to another. */
    stay(from: number, to: number): void {
        const a = Math.max(0, Math.floor(from));
        const b = Math.min(this.width, Math.ceil(to));
        if (a >= b) return;
        this.there[a]! += 1;
        this.there[b]! -= 1;
    }
}

const FAINT = 0.35; /* of a call that takes less than a unit: visible, but not as if it took long */

function addRank(row: Row, rank: number, source: CallSource, view: Viewport, only: number): void {
    const scale = row.width / view.time;
    for (const { block, run } of source.runs(rank)) {
        const end = run.offset + run.count;
        const left = block.start[run.offset]!;
        const right = block.start[end - 1]! + block.duration[end - 1]!;
        row.stay((left - view.from) * scale, (right - view.from) * scale);
        for (let i = firstAt(block, run, view.from); i < end; i++) {
            const start = block.start[i]!;
            if (start > view.to) break;
            const fn = block.fn[i]!;
            if (only >= 0 && fn !== only) continue;
            const from = (start - view.from) * scale;
            const width = (block.duration[i] || FAINT) * scale;
            row.add(source.kinds[fn]!, from, from + width);
        }
    }
}

function writeRow(row: Row, pixels: Uint32Array, to: number, colours: Colours): void {
    const { cells, shares, ground } = colours;
    const { width, busy, full, kind, there } = row;
    let ranks = 0;
    let calls = 0;
    for (let x = 0; x < width; x++) {
        ranks += there[x]!;
        calls += full[x]!;
        if (ranks === 0) {
            pixels[to + x] = ground;
            continue;
        }
        const share = Math.min(1, (busy[x]! + calls) / ranks);
        pixels[to + x] = cells[1 + ((kind[x]! || 1) - 1) * shares + ((share * (shares - 1) + 0.5) | 0)]!;
    }
}

const GAP_FROM = 5; /* ranks with at least this many pixels are separated by a line */
const RANKS_DRAWN = 2048; /* with more, every second, third, ... rank is drawn from calls */

/* One in this many ranks is drawn from calls. */
export function rankStep(view: Viewport): number {
    return Math.max(1, Math.ceil(view.ranks / RANKS_DRAWN));
}

/* `only`: the only function to show, or -1. */
export function drawCalls(picture: Picture, view: Viewport, source: CallSource, colours: Colours, only = -1): void {
    const { width, height, pixels } = picture;
    const row = new Row(width);
    const ranksOf = (y: number) => view.first + (y / height) * view.ranks;
    const hasGaps = height / view.ranks >= GAP_FROM;
    const step = rankStep(view);
    let drawn = -1;
    for (let y = 0; y < height; y++) {
        const to = y * width;
        const first = Math.min(Math.floor(ranksOf(y)), view.limits.ranks - 1);
        const last = Math.min(Math.max(first + 1, Math.floor(ranksOf(y + 1))), view.limits.ranks);
        if (hasGaps && Math.floor(ranksOf(y + 1)) !== Math.floor(ranksOf(y))) {
            pixels.fill(colours.ground, to, to + width);
            continue;
        }
        if (last === first + 1 && first === drawn) {
            pixels.copyWithin(to, to - width, to);
            continue;
        }
        row.clear();
        for (let rank = first; rank < last; rank += step) addRank(row, rank, source, view, only);
        writeRow(row, pixels, to, colours);
        drawn = last === first + 1 ? first : -1;
    }
}

/* The level of the grid that fits a picture: rows and bins not finer than its pixels, if possible. */
export function chooseLevel<T extends { group: number; bins: number }>(
    levels: readonly T[], view: Viewport, end: number, width: number, height: number): T | undefined {
    const perRow = view.ranks / height;
    const groups = [...new Set(levels.map((level) => level.group))].sort((a, b) => a - b);
    const group = groups.find((size) => size >= perRow) ?? groups[groups.length - 1];
    const bins = (width * end) / view.time;
    const fitting = levels.filter((level) => level.group === group).sort((a, b) => b.bins - a.bins);
    return fitting.find((level) => level.bins <= bins) ?? fitting[fitting.length - 1];
}
