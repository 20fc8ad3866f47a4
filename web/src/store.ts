/* Loads the parts of a timeline on demand: grids, calls and messages. */

import { CallBlock, decodeCalls, firstAt } from "./calls";
import { ChunkSource } from "./chunks";
import { GridLevel, TraceData } from "./data";
import { decodeMessages, MessageBlock } from "./messages";
import { CallSource, Grid, RankRun } from "./raster";
import { Viewport } from "./viewport";

const LOADS_AT_ONCE = 4;

export interface FoundCall {
    rank: number;
    thread: number;
    fn: number;
    start: number;
    duration: number;
    number: number;
}

export class Store implements CallSource {
    readonly kinds: Uint8Array;
    private readonly grids = new Map<GridLevel, Grid>();
    private readonly blocks: (CallBlock | undefined)[];
    private readonly byRank: RankRun[][] = [];
    private readonly messageBlocks: (MessageBlock | undefined)[];
    private readonly wanted = new Set<string>();
    private queue: { key: string; chunk: number; take: (bytes: Uint8Array) => void }[] = [];
    private loading = 0;

    /* `changed` is called when more was loaded. */
    constructor(readonly trace: TraceData, private readonly source: ChunkSource, private readonly changed: () => void) {
        this.kinds = Uint8Array.from(trace.names, (name) => name.kind);
        this.blocks = new Array<CallBlock | undefined>(trace.timeline.calls.blocks.length);
        this.messageBlocks = new Array<MessageBlock | undefined>(trace.timeline.messages.blocks.length);
    }

    private want(key: string, chunk: number, take: (bytes: Uint8Array) => void): void {
        if (this.wanted.has(key)) return;
        this.wanted.add(key);
        this.queue.push({ key, chunk, take });
        this.pump();
    }

    private pump(): void {
        while (this.loading < LOADS_AT_ONCE) {
            const next = this.queue.pop(); /* the latest request is the one in view */
            if (!next) return;
            this.loading++;
            this.source.load(next.chunk).then((bytes) => {
                next.take(bytes);
                this.changed();
            }, (reason: unknown) => console.error(reason)).finally(() => {
                this.loading--;
                /* Lets the page respond between blocks. */
                setTimeout(() => this.pump(), 0);
            });
        }
    }

    get isLoading(): boolean {
        return this.loading > 0 || this.queue.length > 0;
    }

    /* The grid of a level, or undefined until it is loaded. */
    grid(level: GridLevel): Grid | undefined {
        const found = this.grids.get(level);
        if (found) return found;
        this.want(`g${level.chunk}`, level.chunk, (cells) => this.grids.set(level, { ...level, cells, end: this.trace.timeline.end }));
        return undefined;
    }

    /* The loaded grid that is nearest to a level. */
    anyGrid(level: GridLevel): Grid | undefined {
        let best: Grid | undefined;
        const distance = (grid: Grid) =>
            Math.abs(Math.log2(grid.group / level.group)) + Math.abs(Math.log2(grid.bins / level.bins));
        for (const grid of this.grids.values()) if (!best || distance(grid) < distance(best)) best = grid;
        return best;
    }

    private blocksIn(view: Viewport): number[] {
        const found: number[] = [];
        this.trace.timeline.calls.blocks.forEach(([, first, last, , from, to], i) => {
            if (first < view.last && last + 1 > view.first && from <= view.to && to >= view.from) found.push(i);
        });
        return found;
    }

    /* The approximate number of calls in view. */
    estimate(view: Viewport): number {
        let sum = 0;
        for (const i of this.blocksIn(view)) {
            const [, first, last, calls, from, to] = this.trace.timeline.calls.blocks[i]!;
            const ranks = (Math.min(last + 1, view.last) - Math.max(first, view.first)) / (last + 1 - first);
            const time = (Math.min(to, view.to) - Math.max(from, view.from)) / Math.max(1, to - from);
            sum += calls * Math.min(1, ranks) * Math.min(1, Math.max(time, 0));
        }
        return sum;
    }

    /* Whether all calls in view are loaded; loads those that are not. */
    ready(view: Viewport): boolean {
        let all = true;
        for (const i of this.blocksIn(view)) {
            if (this.blocks[i]) continue;
            all = false;
            this.wantBlock(i);
        }
        return all;
    }

    private wantBlock(i: number): void {
        this.want(`c${i}`, this.trace.timeline.calls.blocks[i]![0], (bytes) => this.addBlock(i, decodeCalls(bytes)));
    }

    private addBlock(i: number, block: CallBlock): void {
        this.blocks[i] = block;
        for (const run of block.runs) {
            const runs = (this.byRank[run.rank] ??= []);
            const start = block.start[run.offset]!;
            let at = runs.length;
            while (at > 0 && runs[at - 1]!.block.start[runs[at - 1]!.run.offset]! > start) at--;
            runs.splice(at, 0, { block, run });
        }
    }

    runs(rank: number): readonly RankRun[] {
        return this.byRank[rank] ?? [];
    }

    /* The call of a rank at a time, within `slack` units, if it is loaded. */
    callAt(rank: number, time: number, slack: number): FoundCall | undefined {
        for (const { block, run } of this.runs(rank)) {
            const i = firstAt(block, run, time - slack);
            if (i < run.offset + run.count && block.start[i]! <= time + slack) return found(block, run, i);
        }
        return undefined;
    }

    /* Loads one block after the other until a call of a function is found after (or before) a time. */
    async findCall(fn: number, view: Viewport, after: number, forward: boolean): Promise<FoundCall | undefined> {
        const order = this.trace.timeline.calls.blocks.map((_, i) => i);
        const near = (i: number) => {
            const [, , , , from, to] = this.trace.timeline.calls.blocks[i]!;
            return forward ? from : -to;
        };
        order.sort((a, b) => near(a) - near(b));
        let best: FoundCall | undefined;
        const better = (call: FoundCall) => !best || (forward ? call.start < best.start : call.start > best.start);
        for (const i of order) {
            const [chunk, , , , from, to] = this.trace.timeline.calls.blocks[i]!;
            if (forward ? to < after || (best && from > best.start) : from > after || (best && to < best.start)) continue;
            let block = this.blocks[i];
            if (!block) {
                block = decodeCalls(await this.source.load(chunk));
                this.wanted.add(`c${i}`);
                if (!this.blocks[i]) this.addBlock(i, block);
            }
            for (const run of block.runs) {
                if (run.rank < Math.floor(view.first) || run.rank >= view.last) continue;
                const call = searchRun(block, run, fn, after, forward);
                if (call && better(call)) best = call;
            }
        }
        return best;
    }

    /* The approximate number of known messages in flight between two times. */
    estimateMessages(from: number, to: number): number {
        let sum = 0;
        for (const [, count, first, last] of this.trace.timeline.messages.blocks)
            sum += (count * Math.max(0, Math.min(to, last) - Math.max(from, first))) / Math.max(1, last - first);
        return sum;
    }

    /* The loaded messages in flight between two times; loads the others. */
    messagesIn(from: number, to: number): MessageBlock[] {
        const result: MessageBlock[] = [];
        this.trace.timeline.messages.blocks.forEach(([chunk, , first, last], i) => {
            if (first > to || last < from) return;
            const block = this.messageBlocks[i];
            if (block) result.push(block);
            else this.want(`m${i}`, chunk, (bytes) => (this.messageBlocks[i] = decodeMessages(bytes)));
        });
        return result;
    }
}

function found(block: CallBlock, run: { rank: number; thread: number }, i: number): FoundCall {
    return {
        rank: run.rank, thread: run.thread, fn: block.fn[i]!, start: block.start[i]!, duration: block.duration[i]!,
        number: block.number[i]!,
    };
}

function searchRun(block: CallBlock, run: RankRun["run"], fn: number, after: number, forward: boolean): FoundCall | undefined {
    const end = run.offset + run.count;
    if (forward) {
        for (let i = firstAt(block, run, after); i < end; i++)
            if (block.fn[i] === fn && block.start[i]! > after) return found(block, run, i);
        return undefined;
    }
    for (let i = Math.min(firstAt(block, run, after), end - 1); i >= run.offset; i--)
        if (block.fn[i] === fn && block.start[i]! < after) return found(block, run, i);
    return undefined;
}
