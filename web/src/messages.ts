/* Messages of the timeline: a sample of all, in blocks in order of time (src/report/messages.h). */

import { Reader } from "./calls";

export interface MessageBlock {
    readonly count: number;
    readonly sent: Float64Array; /* units */
    readonly received: Float64Array;
    readonly source: Uint32Array;
    readonly destination: Uint32Array;
}

function signed(value: number): number {
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

export function decodeMessages(bytes: Uint8Array): MessageBlock {
    const reader = new Reader(bytes);
    const count = reader.varint();
    const [sent, time, source, destination] = [reader.column(), reader.column(), reader.column(), reader.column()];
    const block = {
        count,
        sent: new Float64Array(count),
        received: new Float64Array(count),
        source: new Uint32Array(count),
        destination: new Uint32Array(count),
    };
    let at = 0;
    let from = 0;
    for (let i = 0; i < count; i++) {
        at += sent.varint();
        from += signed(source.varint());
        block.sent[i] = at;
        block.received[i] = at + signed(time.varint());
        block.source[i] = from;
        block.destination[i] = from + signed(destination.varint());
    }
    return block;
}
