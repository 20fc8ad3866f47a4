import assert from "node:assert/strict";
import { test } from "node:test";
import { readData, TraceData } from "../src/data";
import { describePair, describeTrace } from "../src/words";

const trace = {
    name: "a.orr", program: "/home/me/app 3", ranks: 4, nodes: 2, runtime: 2, compute: 2, mpi: 6, messages: 10, sent: 2048,
    efficiency: { parallel: 0.25, loadBalance: 0.9, communication: 0.28, serialisation: 0.3, transfer: 0.93, ideal: 1.9 },
    functions: [{ name: "MPI_Send", time: 1, calls: 4 }, { name: "MPI_Recv", time: 5, calls: 4 }],
    waits: [{ name: "late-sender", time: 3, count: 7 }],
} as unknown as TraceData;

test("a trace is described in words", () => {
    const words = describeTrace(trace).join(" ");
    assert.match(words, /^app ran for 2 s with 4 ranks on 2 nodes\./);
    assert.match(words, /75% of their time in MPI/);
    assert.match(words, /efficiency is 25%.*serialisation.*30%/);
    assert.match(words, /"late sender" \(38% of all time\)/);
    assert.match(words, /MPI_Recv: 5 s, in 4 calls/);
    assert.match(words, /10 messages carried 2 KiB/);
});

test("files are named when they matter", () => {
    const efficiency = { parallel: 0.5, loadBalance: 1, communication: 1, serialisation: 1, transfer: 1, file: 0.5, ideal: 2, idealWithoutFiles: 1 };
    const words = describeTrace({ ...trace, compute: 4, mpi: 4, file: 3.9, fileBytes: 4096, messages: 0, waits: [], efficiency } as TraceData).join(" ");
    assert.match(words, /most of it on files \(49%\): reading and writing decide/);
    assert.match(words, /most of the loss is because files are read and written \(file accesses\): 50%/);
    assert.match(words, /File accesses took 49% of all time \(975 ms per rank, for 4 KiB\)/);
    assert.doesNotMatch(describeTrace(trace).join(" "), /[Ff]ile/);
});

test("two traces are compared in words", () => {
    const words = describePair(trace, { ...trace, name: "b.orr", runtime: 1 }).join(" ");
    assert.match(words, /"a.orr" was slower than "b.orr" \(by a factor of 2\.00\)/);
});

test("data of another version is refused", () => {
    assert.throws(() => readData('{"schema": 99}'), /version 99/);
});
