/* The load of links over time. Links are numbered as in the data: the busiest first. */

import { Links } from "./data";

/* Bins from `from` up to, but without, `to`; null: the whole run. */
export type Span = { readonly from: number; readonly to: number } | null;

const FIELDS = 4; /* of a link: from, to, bytes, rate */

export class LinkLoads {
    readonly count: number;
    /* Whether loads are shares of the bandwidth; else they are bytes, as some links have infinite bandwidth. */
    readonly isShare: boolean;

    constructor(readonly links: Links, private readonly runtime: number, private readonly ends: Float32Array,
        private readonly series: Float32Array) {
        this.count = ends.length / FIELDS;
        this.isShare = this.every((link) => Number.isFinite(this.rate(link)) && this.rate(link) > 0);
    }

    private every(test: (link: number) => boolean): boolean {
        for (let link = 0; link < this.count; link++) if (this.bytes(link, null) > 0 && !test(link)) return false;
        return true;
    }

    from(link: number): number {
        return this.ends[FIELDS * link]!;
    }

    to(link: number): number {
        return this.ends[FIELDS * link + 1]!;
    }

    private rate(link: number): number {
        return this.ends[FIELDS * link + 3]!;
    }

    /* Whether the load of the link over time is known. */
    hasSeries(link: number): boolean {
        return link < this.links.seriesCount;
    }

    bytes(link: number, span: Span): number {
        if (!span) return this.ends[FIELDS * link + 2]!;
        if (!this.hasSeries(link)) return 0;
        let sum = 0;
        for (let bin = span.from; bin < span.to; bin++) sum += this.series[link * this.links.bins + bin] ?? 0;
        return sum;
    }

    seconds(span: Span): number {
        return span ? (span.to - span.from) * this.links.interval : this.runtime;
    }

    load(link: number, span: Span): number {
        const bytes = this.bytes(link, span);
        return this.isShare && bytes > 0 ? bytes / this.rate(link) / this.seconds(span) : bytes;
    }

    /* The highest load of a link: in the whole run, or in any bin. */
    most(isWhole: boolean): number {
        let most = 0;
        for (let link = 0; link < this.count; link++) {
            if (isWhole) most = Math.max(most, this.load(link, null));
            else if (this.hasSeries(link))
                for (let bin = 0; bin < this.links.bins; bin++) most = Math.max(most, this.load(link, { from: bin, to: bin + 1 }));
        }
        return most;
    }

    overTime(link: number): Float32Array {
        return Float32Array.from({ length: this.links.bins }, (_, bin) => this.load(link, { from: bin, to: bin + 1 }));
    }

    /* The start of a bin, in seconds since the start of the timeline. */
    time(bin: number): number {
        return Math.max(0, this.links.begin + bin * this.links.interval);
    }

    /* The bins that overlap a part of the timeline. */
    spanOf(from: number, to: number): Span {
        const { begin, interval, bins } = this.links;
        const first = Math.min(bins - 1, Math.max(0, Math.floor((from - begin) / interval)));
        const last = Math.min(bins, Math.max(first + 1, Math.ceil((to - begin) / interval)));
        return first === 0 && last === bins ? null : { from: first, to: last };
    }
}

export interface Line {
    readonly a: number;
    readonly b: number;
    readonly there: number[]; /* links from a to b */
    readonly back: number[];
}

/* Both directions of a link, and all cables between the same two, as one line. */
export function joinDirections(loads: Pick<LinkLoads, "count" | "from" | "to">): Line[] {
    const lines = new Map<string, Line>();
    for (let link = 0; link < loads.count; link++) {
        const [from, to] = [loads.from(link), loads.to(link)];
        const [a, b] = from < to ? [from, to] : [to, from];
        const key = `${a} ${b}`;
        const line = lines.get(key) ?? { a, b, there: [], back: [] };
        (from < to ? line.there : line.back).push(link);
        lines.set(key, line);
    }
    return [...lines.values()];
}
