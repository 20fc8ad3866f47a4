/* The panels of numbers: what each shows of one trace. main.ts puts them side by side. */

import { ChunkSource, loadFloats } from "./chunks";
import { FunctionStats, Place, TraceData } from "./data";
import { Child, el, table } from "./dom";
import { formatBytes, formatCount, formatRate, formatShare, formatShort, formatTime } from "./format";
import { HeatMap } from "./heat";
import { KINDS } from "./kinds";
import { drawPlot, highest, Series } from "./plots";
import { WAIT_NAMES } from "./words";

/* A horizontal bar of a share, with its text next to it. */
function bar(share: number, text: string, kind: number, label: string): HTMLElement {
    const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
    const fill = el("span", { class: `fill kind-${kind}`, style: `width:${width}` });
    return el("div", { class: "bar", role: "img", "aria-label": `${label}: ${text}` },
        el("span", { class: "track", "aria-hidden": "true" }, fill), el("span", { class: "bar-text" }, text));
}

export interface Fact {
    readonly name: string;
    readonly value: (trace: TraceData) => number;
    readonly format: (value: number) => string;
}

export const FACTS: readonly Fact[] = [
    { name: "run time", value: (t) => t.runtime, format: (v) => formatTime(v) },
    { name: "ranks", value: (t) => t.ranks, format: formatCount },
    { name: "nodes", value: (t) => t.nodes, format: (v) => (v > 0 ? formatCount(v) : "not known") },
    { name: "compute time, mean of ranks", value: (t) => t.compute / t.ranks, format: (v) => formatTime(v) },
    { name: "time in MPI, mean of ranks", value: (t) => t.mpi / t.ranks, format: (v) => formatTime(v) },
    { name: "time on files, mean of ranks", value: (t) => t.file / t.ranks, format: (v) => formatTime(v) },
    { name: "waiting in communication, mean of ranks", value: (t) => t.wait / t.ranks, format: (v) => formatTime(v) },
    { name: "MPI calls", value: (t) => t.calls, format: formatCount },
    { name: "messages", value: (t) => t.messages, format: formatCount },
    { name: "bytes in messages", value: (t) => t.sent, format: formatBytes },
    { name: "bytes in collectives", value: (t) => t.collectiveBytes, format: formatBytes },
    { name: "bytes one-sided", value: (t) => t.rmaBytes, format: formatBytes },
    { name: "bytes of files", value: (t) => t.fileBytes, format: formatBytes },
    { name: "bytes per second in MPI", value: (t) => t.bandwidth, format: formatRate },
    { name: "computing while messages are in flight", value: (t) => t.overlapped, format: (v) => formatTime(v) },
];

/* ---- compute and communication ---- */

function kindSums(kinds: readonly Float32Array[]): number[] {
    return kinds.map((values) => values.reduce((sum, value) => sum + value, 0));
}

export function breakdown(kinds: readonly Float32Array[]): HTMLElement {
    const sums = kindSums(kinds);
    const all = sums.reduce((a, b) => a + b, 0) || 1;
    const text = sums.map((sum, i) => `${KINDS[i]!.name} ${formatShare(sum / all)}`).join(", ");
    const strip = el("div", { class: "strip", role: "img", "aria-label": text });
    const rows: HTMLElement[] = [];
    sums.forEach((sum, i) => {
        if (!(sum > 0)) return;
        const kind = KINDS[i]!;
        strip.append(el("span", { class: `kind-${i}`, style: `flex-grow:${sum / all}`, title: `${kind.name} ${formatShare(sum / all)}` }));
        rows.push(el("li", {}, el("span", { class: `swatch kind-${i}`, "aria-hidden": "true" }),
            el("b", {}, kind.name), ` ${formatShare(sum / all)}, ${formatTime(sum)}: ${kind.about}`));
    });
    return el("div", {}, strip, el("ul", { class: "kinds" }, ...rows));
}

export async function loadKinds(trace: TraceData, chunks: ChunkSource): Promise<Float32Array[]> {
    return Promise.all(trace.perRank.kinds.map((chunk) => loadFloats(chunks, chunk)));
}

/* ---- efficiencies ---- */

const EFFICIENCIES: readonly [keyof TraceData["efficiency"], string, string, number][] = [
    ["parallel", "parallel efficiency", "the share of the run time in which ranks compute, on average", 0],
    ["loadBalance", "load balance", "mean against longest compute time: below 100% some ranks have more to do", 1],
    ["communication", "communication efficiency", "what is left by waiting and the network together", 1],
    ["serialisation", "serialisation efficiency", "what would be left on a network that takes no time: ranks waiting for each other", 2],
    ["transfer", "transfer efficiency", "what the network itself costs", 2],
    ["file", "file efficiency", "what reading and writing files costs", 1],
];

export function efficiencies(trace: TraceData): HTMLElement {
    const rows = EFFICIENCIES.map(([key, name, about, depth]) => {
        const value = trace.efficiency[key];
        const kind = value >= 0.8 ? 4 : value >= 0.5 ? 3 : 5;
        const known = trace.runtime > 0;
        return el("div", { class: `efficiency depth-${depth}` },
            el("div", { class: "efficiency-name" }, el("b", {}, name), el("span", { class: "soft" }, about)),
            known ? bar(value, formatShare(value), kind, name) : el("span", { class: "soft" }, "not known"));
    });
    return el("div", { class: "efficiencies" }, ...rows);
}

/* ---- ranks ---- */

/* `top` is the highest stack of all traces, so that they can be compared. */
export function ranksPlot(kinds: readonly Float32Array[], top: number, goTo: (rank: number) => void): HTMLElement {
    const box = el("div", { class: "plot" });
    const series: Series[] = [];
    kinds.forEach((values, i) => {
        if (values.some((value) => value > 0)) series.push({ label: KINDS[i]!.name, values, light: KINDS[i]!.light, dark: KINDS[i]!.dark });
    });
    if (series.length === 0) return el("p", {}, "The trace has no calls.");
    drawPlot(box, series, {
        label: "Stacked time of every rank by kind", height: 260, isStacked: true, top,
        format: (value) => formatTime(value), short: (value) => formatTime(value, 3), onClick: goTo,
    });
    return box;
}

export async function trafficPlot(trace: TraceData, chunks: ChunkSource, goTo: (rank: number) => void): Promise<HTMLElement> {
    const [sent, received] = await Promise.all([loadFloats(chunks, trace.perRank.sent), loadFloats(chunks, trace.perRank.received)]);
    const box = el("div", { class: "plot" });
    drawPlot(box, [
        { label: "sent", values: sent, light: "#0072b2", dark: "#3d9be0" },
        { label: "received", values: received, light: "#d55e00", dark: "#f07a2a" },
    ], {
        label: "Bytes sent and received by every rank", height: 180, isStacked: false, isBytes: true,
        top: Math.max(highest([sent]), highest([received])), format: formatBytes,
        short: (value) => formatBytes(value), onClick: goTo,
    });
    return box;
}

/* ---- functions ---- */

const FUNCTIONS_SHOWN = 15;

export function functionTable(trace: TraceData, choose: (name: string) => void): HTMLElement {
    const functions = [...trace.functions].sort((a, b) => b.time - a.time);
    const most = functions[0]?.time || 1;
    const row = (fn: FunctionStats): Child[] => {
        const button = el("button", { type: "button", class: "link", title: "show its calls in the timeline" }, fn.name);
        button.addEventListener("click", () => choose(fn.name));
        return [
            button, bar(fn.time / most, formatTime(fn.time), fn.kind, `time in ${fn.name}`), formatCount(fn.calls),
            formatTime(fn.mean), `${formatTime(fn.rankMean)} ± ${formatTime(fn.rankDeviation)}`, fn.bytes > 0 ? formatBytes(fn.bytes) : "",
        ];
    };
    const head = ["function", "time of all ranks", "calls", "mean of a call", "of a rank", "bytes"];
    const box = el("div", { class: "wide" }, table(head, functions.slice(0, FUNCTIONS_SHOWN).map(row), "MPI functions by time"));
    if (functions.length > FUNCTIONS_SHOWN)
        box.append(el("details", {}, el("summary", {}, `${functions.length - FUNCTIONS_SHOWN} more functions`),
            table(head, functions.slice(FUNCTIONS_SHOWN).map(row), "other MPI functions")));
    return box;
}

/* ---- matrix ---- */

type Measure = "bytes" | "messages" | "time";

export async function matrixPanel(trace: TraceData, chunks: ChunkSource): Promise<HTMLElement> {
    const { matrix } = trace;
    const names = (word: string) => (i: number) => {
        const first = i * matrix.width;
        const last = Math.min(trace.ranks, first + matrix.width) - 1;
        return first === last ? `${word} rank ${formatCount(first)}` : `${word} ranks ${formatCount(first)} to ${formatCount(last)}`;
    };
    const formats: Record<Measure, (value: number) => string> = {
        bytes: formatBytes, messages: (value) => `${formatCount(value)} messages`, time: (value) => formatTime(value),
    };
    const make = async (measure: Measure) => ({
        rows: matrix.size, columns: matrix.size, values: await loadFloats(chunks, matrix[measure]),
        label: `Communication matrix, ${measure}`, rowLabel: "from rank", columnLabel: "to rank",
        rowName: names("from"), columnName: names("to"), valueName: formats[measure], isLog: true, isSquare: true,
    });
    const heat = await make("bytes");
    if (!heat.values.some((value) => value > 0)) return el("p", {}, "No messages were sent from rank to rank.");
    const map = new HeatMap(heat);
    const select = el("select", { "aria-label": "what the matrix shows" },
        el("option", { value: "bytes" }, "bytes"), el("option", { value: "messages" }, "messages"),
        el("option", { value: "time" }, "time from send to receive"));
    select.addEventListener("change", () => void make(select.value as Measure).then((next) => map.set(next)));
    return el("div", {}, el("label", { class: "control" }, "show ", select), map.element);
}

/* ---- phases ---- */

export async function phasesPanel(trace: TraceData, chunks: ChunkSource): Promise<HTMLElement> {
    if (trace.phases.length === 0) return el("p", {}, "The program has no collective operations.");
    const make = async (i: number) => {
        const phases = trace.phases[i]!;
        return {
            rows: phases.rows, columns: phases.columns, values: await loadFloats(chunks, phases.times),
            label: `Phases of ${phases.comm}`, rowLabel: "rank", columnLabel: "phase",
            rowName: (row: number) => phases.rowWidth > 1
                ? `ranks ${formatCount(row * phases.rowWidth)} to ${formatCount(Math.min(phases.ranks, (row + 1) * phases.rowWidth) - 1)}`
                : `rank ${formatCount(row)}`,
            columnName: (column: number) => {
                const first = column * phases.columnWidth * phases.merged;
                const several = phases.columnWidth * phases.merged;
                return `${several > 1 ? `phases ${formatCount(first)} to ${formatCount(first + several - 1)}` : `phase ${formatCount(first)}`}` +
                    ` (until ${phases.functions[column] ?? "?"})`;
            },
            valueName: (value: number) => formatTime(value), isLog: false, isSquare: false,
        };
    };
    const map = new HeatMap(await make(0));
    if (trace.phases.length === 1) return el("div", {}, map.element);
    const select = el("select", { "aria-label": "communicator" },
        ...trace.phases.map((phases, i) => el("option", { value: String(i) }, `${phases.comm}: ${formatCount(phases.count)} phases`)));
    select.addEventListener("change", () => void make(Number(select.value)).then((next) => map.set(next)));
    return el("div", {}, el("label", { class: "control" }, "communicator ", select), map.element);
}

/* ---- waiting and its causes ---- */

function placeName(place: Place): string {
    const where = [place.region && `region ${place.region}`, place.site].filter(Boolean).join(", ");
    const what = place.isCompute ? `computing before ${place.function}` : place.function;
    return where ? `${what} (${where})` : what;
}

export function waitsPanel(trace: TraceData): HTMLElement {
    const waits = trace.waits.filter((wait) => wait.time > 0).sort((a, b) => b.time - a.time);
    if (waits.length === 0) return el("p", {}, "No rank waited for another one.");
    const most = waits[0]!.time;
    const all = trace.compute + trace.mpi;
    const rows = waits.map((wait): Child[] => {
        const [name, about] = WAIT_NAMES[wait.name] ?? [wait.name, ""];
        return [
            el("span", {}, el("b", {}, name), el("span", { class: "soft block" }, about)),
            bar(wait.time / most, formatTime(wait.time), 3, name), formatShare(all > 0 ? wait.time / all : 0), formatCount(wait.count),
        ];
    });
    return el("div", { class: "wide" }, table(["reason", "time of all ranks", "of all time", "times"], rows, "Why ranks waited"),
        places(trace.path.waits, "where they waited", (place) => place.waits));
}

function places(list: readonly Place[], title: string, value: (place: Place) => number): Child {
    if (list.length === 0) return null;
    const most = value(list[0]!) || 1;
    const shown = list.filter((place) => value(place) > most * 0.001).slice(0, 12);
    const rows = shown.map((place): Child[] => [placeName(place), bar(value(place) / most, formatTime(value(place)), place.isCompute ? 8 : 3, title)]);
    return table(["place", "time"], rows, title);
}

export function pathPanel(trace: TraceData): HTMLElement {
    const { path } = trace;
    const all = path.compute + path.mpi;
    const communication = path.mpi - path.file;
    const files = path.file > 0 ? `, ${formatTime(path.file)} (${formatShare(path.file / all)}) files` : "";
    if (!(all > 0)) return el("p", {}, "The critical path is not known.");
    return el("div", { class: "wide" },
        el("p", {}, `Of ${formatTime(all)} on the path, ${formatTime(path.compute)} (${formatShare(path.compute / all)}) are computing` +
            `${files} and ${formatTime(communication)} (${formatShare(communication / all)}) communication. It goes from rank to rank ${formatCount(path.hops)} times.`),
        places(path.places, "what the path consists of", (place) => place.path),
        places(path.delays, "what made other ranks wait, directly or through others", (place) => place.delayDirect + place.delayIndirect));
}

export function requestsText(trace: TraceData): string {
    if (!(trace.requests > 0)) return "";
    const tests = trace.testsFailed > 0 ? ` ${formatShort(trace.testsFailed)} tests found nothing complete.` : "";
    return `${formatCount(trace.requests)} requests were completed, ${formatCount(trace.tested)} of them by a test.${tests}`;
}
