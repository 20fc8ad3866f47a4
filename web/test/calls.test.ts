import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeCalls, firstAt, Reader } from "../src/calls";
import { decodeMessages } from "../src/messages";
import { decodePath, PathColumn } from "../src/path";

function varint(value: number): number[] {
    const bytes: number[] = [];
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    return [...bytes, value];
}

function column(...values: number[]): number[] {
    const bytes = values.flatMap(varint);
    return [...varint(bytes.length), ...bytes];
}

const zigzag = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value);

test("varints are read up to 2^53, and their end is noticed", () => {
    for (const value of [0, 1, 127, 128, 300, 2 ** 31, 2 ** 40 + 5])
        assert.equal(new Reader(Uint8Array.from(varint(value))).varint(), value);
    assert.throws(() => new Reader(Uint8Array.from([200])).varint());
});

test("a block of calls is decoded", () => {
    const bytes = Uint8Array.from([
        ...varint(2), ...varint(3), ...varint(0), ...varint(2), ...varint(9), ...varint(1), ...varint(1),
        ...column(10, 5, 1000), ...column(2, 0, 300), ...column(2 * 7, 2 * 4 + 1, 2 * 300), ...column(12),
    ]);
    const block = decodeCalls(bytes);
    assert.deepEqual(block.runs, [{ rank: 3, thread: 0, offset: 0, count: 2 }, { rank: 9, thread: 1, offset: 2, count: 1 }]);
    assert.deepEqual([...block.start], [10, 17, 1000]);
    assert.deepEqual([...block.duration], [2, 0, 300]);
    assert.deepEqual([...block.fn], [7, 4, 300]);
    assert.deepEqual([...block.number], [1, 12, 1]);
    assert.equal(firstAt(block, block.runs[0]!, 0), 0);
    assert.equal(firstAt(block, block.runs[0]!, 12), 0);
    assert.equal(firstAt(block, block.runs[0]!, 13), 1);
    assert.equal(firstAt(block, block.runs[0]!, 18), 2);
});

test("messages are decoded", () => {
    const block = decodeMessages(Uint8Array.from([
        ...varint(2), ...column(100, 7), ...column(zigzag(5), zigzag(-1)), ...column(zigzag(4), zigzag(-4)),
        ...column(zigzag(1), zigzag(3)),
    ]));
    assert.deepEqual([...block.sent], [100, 107]);
    assert.deepEqual([...block.received], [105, 106]);
    assert.deepEqual([...block.source], [4, 0]);
    assert.deepEqual([...block.destination], [5, 3]);
});

test("the critical path is decoded", () => {
    const steps = decodePath(Uint8Array.from([...column(4, 2), ...column(0, 3), ...column(10, 20)]), 2);
    assert.deepEqual(steps, [{ rank: 4, from: 0, to: 10 }, { rank: 2, from: 13, to: 33 }]);
});

test("of the steps of the critical path within a column of pixels, the extremes and the last are drawn", () => {
    const points: number[][] = [];
    const pen = { moveTo: (x: number, y: number) => points.push([x, y]), lineTo: (x: number, y: number) => points.push([x, y]) };
    const column = new PathColumn(pen);
    column.add(0.5, 2.25, 10);
    for (const y of [30, 20, 5, 40, 12]) column.add(2.5, 2.75, y);
    column.add(2.75, 6.5, 7);
    column.add(6.6, 6.7, 9);
    column.flush();
    assert.deepEqual(points, [[0.5, 10], [2.25, 10], [2.5, 5], [2.5, 40], [2.5, 12], [2.75, 7], [6.5, 7], [6.5, 9]]);
});
