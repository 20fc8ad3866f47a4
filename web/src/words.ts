/* The overview in words: what stands out, for people who have never seen such a report. */

import { TraceData } from "./data";
import { formatBytes, formatChange, formatCount, formatShare, formatTime } from "./format";

function baseName(path: string): string {
    return path.split(/\s/)[0]?.split("/").pop() || "the program";
}

function biggest<T>(items: readonly T[], value: (item: T) => number): T | undefined {
    let best: T | undefined;
    for (const item of items) if (!best || value(item) > value(best)) best = item;
    return best;
}

export const WAIT_NAMES: Record<string, [string, string]> = {
    "late-sender": ["late sender", "a receive waited because the message had not been sent yet"],
    "wrong-order": ["wrong order", "a receive waited for a message while another one, sent earlier, was there already"],
    "late-receiver": ["late receiver", "a send waited because nobody had asked for the message yet"],
    "wait-at-barrier": ["wait at barrier", "ranks waited in a barrier for the last one to come"],
    "wait-at-nxn": ["wait at all-to-all", "ranks waited for the last one in an operation that needs all of them"],
    "late-broadcast": ["late broadcast", "ranks waited for the root to begin to send to them"],
    "early-reduce": ["early reduce", "the root was there first and waited for what the others have"],
    "early-scan": ["early scan", "a rank waited for those before it in a scan"],
    "late-neighbour": ["late neighbour", "a rank waited for its neighbours in an operation with these alone"],
    "wait-at-fence": ["wait at fence", "ranks waited for the last one in a fence of a window"],
    "late-post": ["late post", "an access waited because its target had not opened its window yet"],
    "early-wait": ["early wait", "a rank waited while others still accessed its window"],
    "late-complete": ["late complete", "a rank waited for others to say that they had finished accessing its window"],
    "lock-contention": ["lock contention", "a rank waited for a window that others had locked"],
    "wait-at-create": ["wait at create", "ranks waited for the last one in making a communicator or window"],
    "wait-at-free": ["wait at free", "ranks waited for the last one in freeing a communicator or window"],
    "wait-at-file": ["wait at file", "ranks waited for others in an access to a file that all of them make"],
    "wait-at-finalize": ["wait at finalize", "ranks that were done waited for the others to be done"],
    completion: ["completion", "ranks stayed in a collective after the first one had left it"],
};

function compute(trace: TraceData): string {
    const all = trace.compute + trace.mpi;
    const share = all > 0 ? trace.mpi / all : 0;
    if (trace.file > 0.5 * trace.mpi && share >= 0.1)
        return `Its ranks spent ${formatShare(share)} of their time in MPI, most of it on files (${formatShare(trace.file / all)}): ` +
            "reading and writing decide how long it runs.";
    if (share < 0.1) return `Its ranks computed nearly all of the time: only ${formatShare(share)} of it was spent in MPI.`;
    if (share < 0.4) return `Its ranks spent ${formatShare(share)} of their time in MPI, and computed for the rest.`;
    return `Its ranks spent ${formatShare(share)} of their time in MPI: communication and waiting decide how long it runs.`;
}

function balance(trace: TraceData): string {
    const { parallel, loadBalance, communication, serialisation, transfer, file } = trace.efficiency;
    if (!(parallel > 0)) return "";
    if (parallel > 0.9) return `With a parallel efficiency of ${formatShare(parallel)} there is little left to gain.`;
    const causes: [string, number][] = [
        ["the work is spread unevenly (load balance)", loadBalance],
        ["ranks wait for each other in turn (serialisation)", serialisation],
        ["moving data takes time (transfer)", transfer],
    ];
    if (!(serialisation > 0 && transfer > 0)) causes.splice(1, 2, ["communication", communication]);
    if (file < 1) causes.push(["files are read and written (file accesses)", file]);
    const worst = causes.reduce((a, b) => (b[1] < a[1] ? b : a));
    return `The parallel efficiency is ${formatShare(parallel)}; most of the loss is because ${worst[0]}: ${formatShare(worst[1])}.`;
}

function waiting(trace: TraceData): string {
    const worst = biggest(trace.waits, (wait) => wait.time);
    const all = trace.compute + trace.mpi;
    if (!worst || !(worst.time > 0.01 * all)) return "";
    const [name, about] = WAIT_NAMES[worst.name] ?? [worst.name, ""];
    return `Most waiting was "${name}" (${formatShare(worst.time / all)} of all time): ${about}.`;
}

/* File accesses that matter. */
function files(trace: TraceData): string {
    const all = trace.compute + trace.mpi;
    if (!(trace.file > 0.01 * all)) return "";
    const moved = trace.fileBytes > 0 ? `, for ${formatBytes(trace.fileBytes)}` : "";
    return `File accesses took ${formatShare(trace.file / all)} of all time (${formatTime(trace.file / trace.ranks)} per rank${moved}).`;
}

function traffic(trace: TraceData): string {
    if (!(trace.messages > 0)) return "No messages were sent from rank to rank.";
    return `${formatCount(trace.messages)} messages carried ${formatBytes(trace.sent)} from rank to rank.`;
}

/* Sentences about one trace. */
export function describeTrace(trace: TraceData): string[] {
    const nodes = trace.nodes > 0 ? ` on ${formatCount(trace.nodes)} node${trace.nodes === 1 ? "" : "s"}` : "";
    const top = biggest(trace.functions, (fn) => fn.time);
    const sentences = [
        `${baseName(trace.program)} ran for ${formatTime(trace.runtime)} with ${formatCount(trace.ranks)} rank` +
            `${trace.ranks === 1 ? "" : "s"}${nodes}.`,
        compute(trace),
        balance(trace),
        waiting(trace),
        files(trace),
        top && top.time > 0 ? `Most MPI time was in ${top.name}: ${formatTime(top.time)}, in ${formatCount(top.calls)} calls.` : "",
        traffic(trace),
    ];
    return sentences.filter((text) => text !== "");
}

/* Sentences about how the second trace differs from the first. */
export function describePair(a: TraceData, b: TraceData): string[] {
    const faster = a.runtime === b.runtime ? "took as long as" : a.runtime < b.runtime ? "was faster than" : "was slower than";
    const times = Math.max(a.runtime, b.runtime) / Math.max(Math.min(a.runtime, b.runtime), 1e-300);
    const factor = times > 1.0005 ? ` (by a factor of ${times.toPrecision(3)})` : "";
    const share = (trace: TraceData) => trace.mpi / Math.max(trace.mpi + trace.compute, 1e-300);
    return [
        `"${a.name}" ${faster} "${b.name}"${factor}.`,
        `The share of time in MPI is ${formatShare(share(a))} against ${formatShare(share(b))}; ` +
            `the number of messages is ${a.messages === b.messages ? "the same" : formatChange(a.messages, b.messages)}.`,
    ];
}
