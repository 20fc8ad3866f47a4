/* The critical path through the timeline: steps on one rank after the other. */

import { Reader } from "./calls";
import { ChunkSource } from "./chunks";

export interface PathStep {
    readonly rank: number;
    readonly from: number; /* units */
    readonly to: number;
}

/* Three columns: rank; time from the end of the step before; time of the step. */
export function decodePath(bytes: Uint8Array, count: number): PathStep[] {
    const reader = new Reader(bytes);
    const [ranks, gaps, times] = [reader.column(), reader.column(), reader.column()];
    const steps: PathStep[] = [];
    let time = 0;
    for (let i = 0; i < count; i++) {
        const from = time + gaps.varint();
        time = from + times.varint();
        steps.push({ rank: ranks.varint(), from, to: time });
    }
    return steps;
}

export async function loadPath(source: ChunkSource, where: { chunk: number; count: number }): Promise<PathStep[]> {
    return decodePath(await source.load(where.chunk), where.count);
}

/* The first step that ends at `time` or later. */
export function firstStep(steps: readonly PathStep[], time: number): number {
    let low = 0;
    let high = steps.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (steps[middle]!.to < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* What PathColumn draws on: a canvas, or a test. */
export interface Pen {
    moveTo(x: number, y: number): void;
    lineTo(x: number, y: number): void;
}

/*
 * Draws steps as one line. Of all steps within a column of pixels only the highest, the lowest and the last one are
 * visible: so a line has a few points per column, however many steps there are.
 */
export class PathColumn {
    private isOpen = false;
    private column = NaN;
    private top = 0;
    private bottom = 0;
    private last = 0;
    private isPending = false;

    constructor(private readonly pen: Pen) {}

    add(from: number, to: number, y: number): void {
        if (Math.floor(from) === this.column && Math.floor(to) === this.column) {
            this.top = this.isPending ? Math.min(this.top, y) : y;
            this.bottom = this.isPending ? Math.max(this.bottom, y) : y;
            this.last = y;
            this.isPending = true;
            return;
        }
        this.flush();
        if (this.isOpen) this.pen.lineTo(from, y);
        else this.pen.moveTo(from, y);
        this.pen.lineTo(to, y);
        this.isOpen = true;
        this.column = Math.floor(to);
    }

    flush(): void {
        if (!this.isPending) return;
        const x = this.column + 0.5;
        this.pen.lineTo(x, this.top);
        if (this.bottom !== this.top) this.pen.lineTo(x, this.bottom);
        if (this.last !== this.bottom) this.pen.lineTo(x, this.last);
        this.isPending = false;
    }
}
