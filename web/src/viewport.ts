/*
 * The visible part of a timeline: times and ranks, as fractions of a unit and of a rank. It never leaves the timeline,
 * and never becomes too small to show anything.
 */

export interface Limits {
    readonly end: number; /* units */
    readonly ranks: number;
}

const LEAST_TIME = 8; /* units */
const LEAST_RANKS = 1;

export class Viewport {
    from = 0;
    to: number;
    first = 0;
    last: number;

    constructor(readonly limits: Limits) {
        this.to = limits.end;
        this.last = limits.ranks;
    }

    get time(): number {
        return this.to - this.from;
    }

    get ranks(): number {
        return this.last - this.first;
    }

    reset(): void {
        this.set(0, this.limits.end, 0, this.limits.ranks);
    }

    set(from: number, to: number, first: number, last: number): void {
        [this.from, this.to] = fit(from, to, LEAST_TIME, this.limits.end);
        [this.first, this.last] = fit(first, last, LEAST_RANKS, this.limits.ranks);
    }

    /* `at` is the time, or rank, that keeps its position. */
    zoomTime(factor: number, at: number): void {
        const span = clampSpan(this.time * factor, LEAST_TIME, this.limits.end);
        const share = this.time > 0 ? (at - this.from) / this.time : 0.5;
        this.set(at - share * span, at + (1 - share) * span, this.first, this.last);
    }

    zoomRanks(factor: number, at: number): void {
        const span = clampSpan(this.ranks * factor, LEAST_RANKS, this.limits.ranks);
        const share = this.ranks > 0 ? (at - this.first) / this.ranks : 0.5;
        this.set(this.from, this.to, at - share * span, at + (1 - share) * span);
    }

    pan(time: number, ranks: number): void {
        this.set(this.from + time, this.to + time, this.first + ranks, this.last + ranks);
    }

    /* Moves so that a rank, and an interval if given, is visible. */
    show(rank: number, from?: number, to?: number): void {
        if (rank < this.first || rank + 1 > this.last) {
            const half = this.ranks / 2;
            this.set(this.from, this.to, rank + 0.5 - half, rank + 0.5 + half);
        }
        if (from !== undefined && to !== undefined && (from < this.from || to > this.to)) {
            const half = Math.max(this.time, (to - from) * 1.5) / 2;
            this.set((from + to) / 2 - half, (from + to) / 2 + half, this.first, this.last);
        }
    }

    copyFrom(other: Viewport): void {
        this.set(other.from, other.to, other.first, other.last);
    }
}

function clampSpan(span: number, least: number, most: number): number {
    return Math.min(Math.max(span, Math.min(least, most)), most);
}

function fit(from: number, to: number, least: number, most: number): [number, number] {
    let a = Math.min(from, to);
    let b = Math.max(from, to);
    const small = Math.min(least, most);
    if (b - a < small) {
        const middle = (a + b) / 2;
        a = middle - small / 2;
        b = middle + small / 2;
    }
    const span = Math.min(b - a, most);
    if (a < 0) return [0, span];
    if (b > most) return [most - span, most];
    return [a, a + span];
}
