/* Blocks of calls: from the bytes of a chunk to arrays. src/report/call_blocks.h describes the format. */

export interface Run {
    readonly rank: number;
    readonly thread: number;
    readonly offset: number; /* of its first call in the arrays of the block */
    readonly count: number;
}

export interface CallBlock {
    readonly runs: readonly Run[];
    readonly start: Uint32Array; /* units */
    readonly duration: Uint32Array;
    readonly fn: Uint16Array;
    readonly number: Uint32Array; /* number of calls that it stands for */
}

export class Reader {
    at = 0;

    constructor(readonly bytes: Uint8Array) {}

    varint(): number {
        let value = 0;
        let factor = 1;
        for (;;) {
            const byte = this.bytes[this.at++];
            if (byte === undefined) throw new Error("the data ends within a number");
            value += (byte & 127) * factor;
            if (byte < 128) return value;
            factor *= 128;
        }
    }

    column(): Reader {
        const length = this.varint();
        const part = new Reader(this.bytes.subarray(this.at, this.at + length));
        this.at += length;
        return part;
    }
}

export function decodeCalls(bytes: Uint8Array): CallBlock {
    const reader = new Reader(bytes);
    const runs: Run[] = [];
    let total = 0;
    for (let i = reader.varint(); i > 0; i--) {
        const rank = reader.varint();
        const thread = reader.varint();
        const count = reader.varint();
        runs.push({ rank, thread, offset: total, count });
        total += count;
    }
    const gaps = reader.column();
    const durations = reader.column();
    const fns = reader.column();
    const numbers = reader.column();
    const block = {
        runs,
        start: new Uint32Array(total),
        duration: new Uint32Array(total),
        fn: new Uint16Array(total),
        number: new Uint32Array(total),
    };
    for (const run of runs) {
        let time = 0;
        for (let i = run.offset; i < run.offset + run.count; i++) {
            time += gaps.varint();
            block.start[i] = time;
            const duration = durations.varint();
            block.duration[i] = duration;
            time += duration;
            const fn = fns.varint();
            block.fn[i] = fn >> 1;
            block.number[i] = fn & 1 ? numbers.varint() : 1;
        }
    }
    return block;
}

/* The first call of a run that ends at `time` or later; the run's end if there is none. */
export function firstAt(block: CallBlock, run: Run, time: number): number {
    let low = run.offset;
    let high = run.offset + run.count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (block.start[middle]! + block.duration[middle]! < time) low = middle + 1;
        else high = middle;
    }
    return low;
}
