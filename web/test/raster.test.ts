import assert from "node:assert/strict";
import { test } from "node:test";
import { CallBlock } from "../src/calls";
import { cellColours, GRID_SHARES, parseColour, pixel } from "../src/kinds";
import { CallSource, chooseLevel, Colours, drawCalls, drawGrid, Picture, RankRun } from "../src/raster";
import { Viewport } from "../src/viewport";

const ground = "#123456";
const colours: Colours = { cells: cellColours(false, ground), ground: pixel(...parseColour(ground)), shares: GRID_SHARES };

function picture(width: number, height: number): Picture {
    return { width, height, pixels: new Uint32Array(width * height) };
}

/* Ranks with calls [start, duration, function]; functions are of the kind of their number + 1. */
function source(ranks: [number, number, number][][]): CallSource {
    const runs = ranks.map((calls, rank): RankRun[] => {
        const block: CallBlock = {
            runs: [{ rank, thread: 0, offset: 0, count: calls.length }],
            start: Uint32Array.from(calls, (call) => call[0]), duration: Uint32Array.from(calls, (call) => call[1]),
            fn: Uint16Array.from(calls, (call) => call[2]), number: Uint32Array.from(calls, () => 1),
        };
        return calls.length ? [{ block, run: block.runs[0]! }] : [];
    });
    return { runs: (rank) => runs[rank] ?? [], kinds: Uint8Array.from([1, 2, 3, 4]) };
}

const full = (kind: number) => colours.cells[1 + (kind - 1) * GRID_SHARES + GRID_SHARES - 1];
const half = (kind: number) => colours.cells[1 + (kind - 1) * GRID_SHARES + (GRID_SHARES - 1) / 2];
const none = colours.cells[1];

test("calls fill the pixels that they cover", () => {
    const to = picture(10, 2);
    drawCalls(to, new Viewport({ end: 100, ranks: 2 }), source([[[0, 20, 0], [35, 5, 1], [90, 10, 2]], []]), colours);
    assert.deepEqual([...to.pixels.slice(0, 10)], [full(1), full(1), none, half(2), none, none, none, none, none, full(3)]);
    assert.deepEqual([...to.pixels.slice(10)], new Array(10).fill(colours.ground));
});

test("a pixel of two ranks shows the share of both", () => {
    const to = picture(1, 1);
    drawCalls(to, new Viewport({ end: 100, ranks: 2 }), source([[[0, 100, 3]], [[0, 0, 0], [100, 0, 0]]]), colours);
    assert.equal(to.pixels[0], half(4));
});

test("only one function is drawn if asked for", () => {
    const to = picture(2, 1);
    drawCalls(to, new Viewport({ end: 100, ranks: 1 }), source([[[0, 50, 0], [50, 50, 1]]]), colours, 1);
    assert.deepEqual([...to.pixels], [none, full(2)]);
});

test("what is outside of the view is not drawn", () => {
    const to = picture(4, 1);
    const view = new Viewport({ end: 1000, ranks: 4 });
    view.set(400, 480, 2, 3);
    drawCalls(to, view, source([[], [], [[0, 420, 0], [440, 20, 1], [470, 500, 2]], []]), colours);
    assert.deepEqual([...to.pixels], [full(1), none, full(2), half(3)]);
});

test("large ranks have a line between them", () => {
    const to = picture(1, 12);
    drawCalls(to, new Viewport({ end: 10, ranks: 2 }), source([[[0, 10, 0]], [[0, 10, 1]]]), colours);
    assert.deepEqual([...to.pixels], [...new Array(5).fill(full(1)), colours.ground, ...new Array(5).fill(full(2)), colours.ground]);
});

test("a grid is drawn cell by cell", () => {
    const cells = Uint8Array.from([0, 1, 31, 62]);
    const to = picture(4, 4);
    drawGrid(to, new Viewport({ end: 100, ranks: 4 }), { group: 2, rows: 2, bins: 2, cells, end: 100 }, colours);
    const row = (a: number, b: number) => [a, a, b, b].map((cell) => colours.cells[cell]);
    assert.deepEqual([...to.pixels], [...row(0, 1), ...row(0, 1), ...row(31, 62), ...row(31, 62)]);
});

test("behind the end of a grid there is nothing", () => {
    const to = picture(4, 1);
    drawGrid(to, new Viewport({ end: 200, ranks: 1 }), { group: 1, rows: 1, bins: 2, cells: Uint8Array.from([1, 31]), end: 100 }, colours);
    assert.deepEqual([...to.pixels], [colours.cells[1], colours.cells[31], colours.ground, colours.ground]);
});

test("the level suits the picture", () => {
    const levels = [1, 2, 4, 8].flatMap((group) => [64, 128, 256, 512, 1024].map((bins) => ({ group, bins })));
    const view = new Viewport({ end: 1 << 20, ranks: 1000 });
    assert.deepEqual(chooseLevel(levels, view, 1 << 20, 300, 300), { group: 4, bins: 256 });
    view.set(0, 1 << 18, 0, 100);
    assert.deepEqual(chooseLevel(levels, view, 1 << 20, 300, 300), { group: 1, bins: 1024 });
    view.set(0, 100, 0, 1000);
    assert.deepEqual(chooseLevel(levels, view, 1 << 20, 300, 10), { group: 8, bins: 1024 });
    assert.equal(chooseLevel([], view, 1 << 20, 300, 10), undefined);
});

test("500,000 calls on 500 ranks are drawn, whatever their order of length", () => {
    const calls = Array.from({ length: 1000 }, (_, i): [number, number, number] => [i * 100, (i * 37) % 90, i % 4]);
    const to = picture(1200, 500);
    drawCalls(to, new Viewport({ end: 100_000, ranks: 500 }), source(Array.from({ length: 500 }, () => calls)), colours);
    assert.ok(!to.pixels.includes(0));
});
