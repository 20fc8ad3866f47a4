import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBytes, formatChange, formatCount, formatShare, formatShort, formatTime, ticks } from "../src/format";
import { onScale, rangeOf, scaleColours } from "../src/heat";
import { KINDS, parseColour } from "../src/kinds";
import { joinDirections, LinkLoads } from "../src/linkload";
import { resample, stretch } from "../src/network";
import { byteTicks, highest, stack, thin } from "../src/plots";
import { interpret } from "../src/search";
import { inkOn } from "../src/timeline";
import { Viewport } from "../src/viewport";

test("numbers are written with units", () => {
    assert.equal(formatTime(0), "0 s");
    assert.equal(formatTime(1.5e-3), "1.5 ms");
    assert.equal(formatTime(12.3456789e-6, 6), "12.3457 us");
    assert.equal(formatTime(3e-12), "3 ps");
    assert.equal(formatTime(-2), "-2 s");
    assert.equal(formatBytes(1536), "1.5 KiB");
    assert.equal(formatBytes(3), "3 B");
    assert.equal(formatCount(1234567), "1,234,567");
    assert.equal(formatShort(12345), "12.3k");
    assert.equal(formatShare(0.256), "26%");
    assert.equal(formatShare(0.0256), "2.6%");
    assert.equal(formatShare(0.0001), "<0.1%");
    assert.equal(formatChange(2, 3), "+50%");
    assert.equal(formatChange(2, 1.9), "-5.0%");
    assert.equal(formatChange(2, 2), "same");
});

test("ticks are round", () => {
    assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(ticks(0.13, 0.31, 4).map((tick) => tick.toFixed(2)), ["0.15", "0.20", "0.25", "0.30"]);
    assert.deepEqual(ticks(1, 1, 5), []);
});

test("ticks of bytes are powers of two", () => {
    assert.deepEqual(byteTicks(0, 200 * 1024, 5), [0, 65536, 131072, 196608]);
    assert.deepEqual(byteTicks(0, 3, 5), [0, 1, 2, 3]);
});

test("a view never leaves the whole", () => {
    const view = new Viewport({ end: 1000, ranks: 16 });
    view.zoomTime(0.5, 250);
    assert.deepEqual([view.from, view.to], [125, 625]);
    view.pan(-500, 3);
    assert.deepEqual([view.from, view.to, view.first, view.last], [0, 500, 0, 16]);
    view.zoomTime(1e-9, 20);
    assert.ok(view.time >= 7.99 && view.from <= 20 && view.to >= 20);
    view.zoomTime(1e9, 20);
    assert.deepEqual([view.from, view.to], [0, 1000]);
    view.zoomRanks(0.25, 16);
    assert.deepEqual([view.first, view.last], [12, 16]);
    view.show(2);
    assert.ok(view.first <= 2 && view.last >= 3 && view.ranks === 4);
    view.set(0, 100, 0, 16);
    view.show(2, 900, 905);
    assert.ok(view.from <= 900 && view.to >= 905);
});

test("search understands ranks and functions", () => {
    const names = ["MPI_Recv", "MPI_Reduce", "MPI_Irecv", "MPI_Send"];
    assert.deepEqual(interpret("rank 1,024", 2000, names), { kind: "rank", rank: 1024 });
    assert.deepEqual(interpret(" 7 ", 8, names), { kind: "rank", rank: 7 });
    assert.equal(interpret("8", 8, names).kind, "none");
    assert.deepEqual(interpret("recv", 8, names), { kind: "function", name: "MPI_Recv" });
    assert.deepEqual(interpret("mpi_red", 8, names), { kind: "function", name: "MPI_Reduce" });
    assert.deepEqual(interpret("end", 8, names), { kind: "function", name: "MPI_Send" });
    assert.equal(interpret("foo", 8, names).kind, "none");
});

test("ranks are put together by their mean, and stacked", () => {
    assert.deepEqual([...thin(Float32Array.from([1, 3, 5, 7, 10]), 2)], [2, 6, 10]);
    assert.deepEqual(stack([Float64Array.from([1, 2]), Float64Array.from([10, 20])]).map((sums) => [...sums]), [[1, 2], [11, 22]]);
});

test("the highest stack of ranks", () => {
    assert.equal(highest([Float32Array.from([1, 2, 3]), Float32Array.from([5, 1, 1])]), 6);
    assert.equal(highest([]), 0);
});

test("a drawing fills its frame", () => {
    const places = Float32Array.from([7, 0.25, 3, 8, 0.5, 3]);
    stretch(places, 1);
    stretch(places, 2);
    assert.deepEqual([...places], [7, 0, 0.5, 8, 1, 0.5]);
});

test("both directions of a link are one line", () => {
    const ends = [[0, 4], [4, 0], [1, 4], [0, 4]] as const;
    assert.deepEqual(joinDirections({ count: ends.length, from: (link) => ends[link]![0], to: (link) => ends[link]![1] }),
        [{ a: 0, b: 4, there: [0, 3], back: [1] }, { a: 1, b: 4, there: [2], back: [] }]);
});

function makeLoads(rate: number): LinkLoads {
    const links = {
        kind: "torus", nodes: 2, vertices: 4, all: 4, used: 2, bins: 3, interval: 2, begin: -1, most: [], places: 0, ends: 0, series: 0, seriesCount: 2, vectors: [],
    };
    return new LinkLoads(links, 5, Float32Array.from([0, 1, 60, 10, 1, 0, 30, rate, 2, 3, 0, 10]), Float32Array.from([20, 0, 40, 10, 20, 0]));
}

test("values over time on a common grid: the greatest of each part, and the one before where there is none", () => {
    const rows = Float32Array.from([0, 1, 1, 2.5, 3, 8, 2.6, 2, 2, 9, 5, 5]);
    assert.deepEqual([...resample(rows, 10, 5)], [1, 8, 2, 2, 5]);
    assert.deepEqual([...resample(new Float32Array(0), 10, 3)], [0, 0, 0]);
});

test("the load of links, as a whole and at a time", () => {
    const loads = makeLoads(10);
    assert.equal(loads.isShare, true);
    assert.equal(loads.load(0, null), 60 / 10 / 5);
    assert.equal(loads.load(0, { from: 2, to: 3 }), 2);
    assert.equal(loads.bytes(0, { from: 0, to: 2 }), 20);
    assert.equal(loads.load(2, null), 0);
    assert.equal(loads.most(true), 1.2);
    assert.equal(loads.most(false), 2);
    assert.deepEqual([...loads.overTime(1)], [0.5, 1, 0]);
});

test("without a bandwidth loads are bytes", () => {
    const loads = makeLoads(Infinity);
    assert.equal(loads.isShare, false);
    assert.equal(loads.load(0, { from: 0, to: 1 }), 20);
    assert.equal(loads.most(true), 60);
});

test("bins of a part of the timeline", () => {
    const loads = makeLoads(10);
    assert.equal(loads.time(0), 0);
    assert.equal(loads.time(1), 1);
    assert.deepEqual(loads.spanOf(0, 5), null);
    assert.deepEqual(loads.spanOf(1.5, 2.5), { from: 1, to: 2 });
    assert.deepEqual(loads.spanOf(3.2, 100), { from: 2, to: 3 });
});

test("heat maps scale what is there", () => {
    assert.deepEqual(rangeOf(Float32Array.from([NaN, 0, 4, 2])), [2, 4]);
    assert.deepEqual(rangeOf(Float32Array.from([0])), [0, 0]);
    assert.equal(onScale(10, 1, 100, true), 128);
    assert.equal(onScale(100, 1, 100, false), 255);
    assert.equal(onScale(5, 5, 5, true), 255);
    assert.equal(new Set(scaleColours(true)).size > 200, true);
});

/* As people with the common kinds of colour blindness see a colour (after Viénot, Brettel and Mollon), in linear light. */
function asSeen(colour: string, matrix: number[]): number[] {
    const linear = parseColour(colour).map((value) => (value / 255) ** 2.2);
    return [0, 3, 6].map((row) => Math.max(0, linear.reduce((sum, value, i) => sum + value * matrix[row + i]!, 0)) ** (1 / 2.2) * 255);
}

test("colours of kinds are told apart by the colour-blind, and names are read on them", () => {
    const eyes = {
        all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
        protan: [0.11238, 0.88762, 0, 0.11238, 0.88762, 0, 0.00401, -0.00401, 1],
        deutan: [0.29275, 0.70725, 0, 0.29275, 0.70725, 0, -0.02234, 0.02234, 1],
    };
    for (const [who, matrix] of Object.entries(eyes)) {
        for (const theme of ["light", "dark"] as const) {
            for (const [i, a] of KINDS.entries()) {
                for (const b of KINDS.slice(i + 1)) {
                    const [x, y] = [asSeen(a[theme], matrix), asSeen(b[theme], matrix)];
                    const distance = Math.hypot(...x.map((value, k) => value - y[k]!));
                    assert.ok(distance > 24, `${a.name} and ${b.name}, ${theme}, ${who}: ${distance.toFixed(0)}`);
                }
            }
        }
    }
    assert.equal(inkOn("#ffffff"), "#111111");
    assert.equal(inkOn("#0072b2"), "#ffffff");
});
