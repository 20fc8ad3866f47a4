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
