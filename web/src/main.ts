/* The page: reads the data, and builds the panels of one trace, or of two side by side. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { ChunkSource, PageChunks } from "./chunks";
import { readData, ReportData, TraceData } from "./data";
import { Child, el, panel, table } from "./dom";
import { formatChange } from "./format";
import { KINDS } from "./kinds";
import { linksPanel } from "./network";
import * as panels from "./panels";
import { highest } from "./plots";
import { interpret } from "./search";
import { switchTheme, watchTheme } from "./theme";
import { Timeline } from "./timeline";
import { describePair, describeTrace } from "./words";

interface Page {
    readonly data: ReportData;
    readonly chunks: ChunkSource;
    readonly timelines: Timeline[];
    readonly message: HTMLElement;
}

/* What a panel shows of each trace, side by side. */
function pair(page: Page, make: (trace: TraceData, i: number) => Child): HTMLElement {
    const { traces } = page.data;
    const many = traces.length > 1;
    return el("div", { class: many ? "pair" : "single" },
        ...traces.map((trace, i) => el("div", { class: "side" }, many && el("h3", {}, trace.name), make(trace, i))));
}

/* The same, for contents that are loaded later. */
function pairLater(page: Page, make: (trace: TraceData, i: number) => Promise<HTMLElement>): HTMLElement {
    return pair(page, (trace, i) => {
        const box = el("div", { class: "later" }, "loading");
        make(trace, i).then((element) => box.replaceChildren(element),
            (reason: unknown) => box.replaceChildren(`This could not be read: ${String(reason)}`));
        return box;
    });
}

/* ---- panels ---- */

function overview(page: Page): HTMLElement {
    const { traces } = page.data;
    const [a, b] = traces;
    const words = [...(a && b ? describePair(a, b) : [])];
    const facts = panels.FACTS.filter((fact) => traces.some((trace) => fact.value(trace) > 0));
    const rows = facts.map((fact): Child[] => [
        fact.name, ...traces.map((trace) => fact.format(fact.value(trace))),
        ...(a && b ? [formatChange(fact.value(a), fact.value(b))] : []),
    ]);
    const head = ["", ...traces.map((trace) => (traces.length > 1 ? trace.name : "value")), ...(b ? ["difference"] : [])];
    return panel("overview", "Overview", "What happened, in words and numbers. Begin here; the panels below show each point in detail.",
        ...words.map((text) => el("p", { class: "lead" }, text)),
        el("div", { class: traces.length > 1 ? "" : "pair" }, pair(page, (trace) => el("div", {},
            trace.warning !== "" && el("p", { class: "warning", role: "alert" }, `The trace is not complete: ${trace.warning}`),
            ...describeTrace(trace).map((text, i) => el("p", { class: i === 0 ? "lead" : "" }, text)),
            el("p", { class: "soft" }, panels.requestsText(trace)))),
        table(head, rows, "The run in numbers")));
}

function legend(): HTMLElement {
    return el("ul", { class: "legend" }, ...KINDS.map((kind, i) =>
        el("li", { title: kind.about }, el("span", { class: `swatch kind-${i}`, "aria-hidden": "true" }), kind.name)));
}

function toggle(label: string, isOn: boolean, change: (isOn: boolean) => void, key: string): HTMLElement {
    const box = el("input", { type: "checkbox", ...(isOn ? { checked: true } : {}), "data-key": key });
    box.addEventListener("change", () => change(box.checked));
    return el("label", { class: "control" }, box, ` ${label}`);
}

function button(text: string, label: string, act: () => void): HTMLElement {
    const made = el("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
}

function link(timelines: readonly Timeline[], isOn: boolean): void {
    for (const timeline of timelines)
        timeline.linked.splice(0, timeline.linked.length, ...(isOn ? timelines.filter((other) => other !== timeline) : []));
}

function timelinePanel(page: Page): HTMLElement {
    const { timelines } = page;
    const { traces } = page.data;
    const end = Math.max(...traces.map(({ timeline }) => timeline.end * timeline.unit));
    const ranks = Math.max(...traces.map((trace) => trace.ranks));
    for (const trace of traces) timelines.push(new Timeline(trace, page.chunks, end, ranks));
    link(timelines, true);
    const all = (act: (timeline: Timeline) => void) => timelines.forEach(act);
    const one = (action: Parameters<Timeline["act"]>[0]) => () => timelines[0]?.act(action);
    const tools = el("div", { class: "tools", role: "toolbar", "aria-label": "timeline" },
        button("+", "zoom in", one("in")), button("−", "zoom out", one("out")),
        button("ranks +", "show fewer ranks, larger", one("fewer-ranks")), button("ranks −", "show more ranks", one("more-ranks")),
        button("all", "show all", () => all((timeline) => timeline.act("all"))),
        toggle("messages", true, (isOn) => all((timeline) => {
            timeline.showsMessages = isOn;
            timeline.redraw();
        }), "messages"),
        toggle("critical path", true, (isOn) => all((timeline) => {
            timeline.showsPath = isOn;
            timeline.redraw();
        }), "path"),
        timelines.length > 1 && toggle("move together", true, (isOn) => link(timelines, isOn), "link"));
    const shown = panel("timeline", "Timeline",
        "Ranks from top to bottom, time from left to right. Look for colours that line up: a column of one colour is where many ranks " +
        "wait for the same thing, and what is left of it shows who comes last.",
        tools, legend());
    timelines.forEach((timeline, i) =>
        shown.append(el("div", { class: "side" }, timelines.length > 1 && el("h3", {}, page.data.traces[i]!.name), timeline.element)));
    shown.append(el("p", { class: "keys" },
        "Wheel: zoom time; with Shift: ranks. Drag: move; with Shift: zoom into a box. Keys: arrows, + −, [ ], 0, m, p; / searches."));
    return shown;
}

function build(page: Page): HTMLElement[] {
    const goTo = (i: number) => (rank: number) => {
        page.timelines[i]?.showRank(rank);
        document.getElementById("timeline")?.scrollIntoView({ behavior: "smooth" });
    };
    const kinds = page.data.traces.map((trace) => panels.loadKinds(trace, page.chunks));
    return [
        overview(page),
        panel("breakdown", "Computing and communication",
            "How the time of all ranks divides between the program's own work and the kinds of MPI calls. Much that is not computing is worth a look.",
            pairLater(page, async (_, i) => panels.breakdown(await kinds[i]!))),
        panel("efficiency", "Efficiencies",
            "How much of what the machine could do was used. Each value is the product of those indented below it: the smallest one is where to begin.",
            pair(page, panels.efficiencies)),
        timelinePanel(page),
        panel("ranks", "Ranks",
            "The time of every rank by kind. Bars of different height in computing mean that work is spread unevenly. Drag to zoom, click to find the rank in the timeline.",
            pairLater(page, async (_, i) => panels.ranksPlot(await kinds[i]!, Math.max(...(await Promise.all(kinds)).map(highest)), goTo(i))),
            pairLater(page, (trace, i) => panels.trafficPlot(trace, page.chunks, goTo(i)))),
        panel("functions", "Functions",
            "Time, calls and bytes of every MPI function. A large deviation between ranks shows who waits for others. Click a name to see its calls.",
            pair(page, (trace) => panels.functionTable(trace, (name) => void search(page, name, true)))),
        panel("waits", "Wait states",
            "Why ranks waited: time in MPI in which nothing could happen, because another rank had not come that far.",
            pair(page, panels.waitsPanel)),
        panel("path", "Critical path",
            "The chain of work and messages that decides how long the program runs: only what is on it makes the run shorter when it gets faster.",
            pair(page, panels.pathPanel)),
        panel("matrix", "Who sends to whom",
            "Each cell is what one rank sent to another. Bands along the diagonal are neighbours; a whole row or column is a rank that talks to all others.",
            pairLater(page, (trace) => panels.matrixPanel(trace, page.chunks))),
        ...(page.data.traces.some((trace) => trace.links) ? [panel("links", "Load of links",
            "How much each link of the network carried, and when. Links that stand out are where messages get in each other's way. " +
            "The slider chooses a time, and so does a click into the diagram.",
            pairLater(page, (trace, i) => linksPanel(trace, page.chunks, () => {
                const { view } = page.timelines[i]!;
                return [view.from * trace.timeline.unit, view.to * trace.timeline.unit];
            })))] : []),
        panel("phases", "Phases between collectives",
            "Time from one collective operation to the next, for every rank. A row that stands out is a slow rank, a column a slow part of the program.",
            pairLater(page, (trace) => panels.phasesPanel(trace, page.chunks))),
    ];
}

/* ---- search ---- */

async function search(page: Page, text: string, forward: boolean): Promise<void> {
    let told = "";
    for (const timeline of page.timelines) {
        const names = timeline.trace.names.map((entry) => entry.name);
        const found = interpret(text, timeline.trace.ranks, names);
        if (found.kind === "rank") {
            timeline.showRank(found.rank);
            told = `rank ${found.rank} is marked in the timeline`;
        } else if (found.kind === "function") {
            told = await findFunction(timeline, names.indexOf(found.name), forward);
        } else if (told === "") {
            told = found.why;
        }
    }
    page.message.textContent = told;
    if (text.trim() !== "") document.getElementById("timeline")?.scrollIntoView({ behavior: "smooth" });
    else page.timelines.forEach((timeline) => timeline.clearMarks());
}

async function findFunction(timeline: Timeline, fn: number, forward: boolean): Promise<string> {
    const { view } = timeline;
    const name = timeline.trace.names[fn]?.name ?? "?";
    const after = timeline.only === fn && timeline.marked ? timeline.marked.start : forward ? view.from - 1 : view.to + 1;
    timeline.only = fn;
    const call = await timeline.store.findCall(fn, view, after, forward);
    if (call) timeline.showCall(call);
    else timeline.redraw();
    return call ? `only ${name} is shown: a call of rank ${call.rank} is marked; Enter finds the next, Shift+Enter the one before, Escape ends`
        : `only ${name} is shown; there is no call of it ${forward ? "behind" : "before"} this`;
}

function searchBox(page: Page): HTMLElement {
    const names = [...new Set(page.data.traces.flatMap((trace) => trace.names.map((entry) => entry.name)))].sort();
    const input = el("input", {
        type: "search", id: "search", placeholder: "rank or function", list: "names", "aria-label": "search for a rank or a function",
        autocomplete: "off",
    });
    input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") void search(page, input.value, !event.shiftKey);
        else if (event.key === "Escape") {
            input.value = "";
            void search(page, "", true);
            input.blur();
        }
    });
    input.addEventListener("search", () => {
        if (input.value === "") void search(page, "", true);
    });
    document.addEventListener("keydown", (event) => {
        const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
        if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        input.focus();
        input.select();
    });
    return el("div", { class: "search", role: "search" }, input,
        el("datalist", { id: "names" }, ...names.map((name) => el("option", { value: name }))));
}

/* ---- the page ---- */

function header(page: Page): HTMLElement {
    const title = page.data.traces.map((trace) => trace.name).join(" and ");
    document.title = `Orrery: ${title}`;
    return el("header", {}, el("h1", {}, "Orrery ", el("span", {}, title)), searchBox(page),
        button("light / dark", "switch between light and dark colours", switchTheme), page.message);
}

function contents(sections: readonly HTMLElement[]): HTMLElement {
    return el("nav", { "aria-label": "panels" }, ...sections.map((section) =>
        el("a", { href: `#${section.id}` }, section.querySelector("h2")?.textContent ?? "")));
}

function start(): void {
    const root = document.getElementById("page")!;
    try {
        const data = readData(document.getElementById("data")?.textContent ?? "");
        const page: Page = { data, chunks: new PageChunks(), timelines: [], message: el("p", { class: "status found", role: "status" }) };
        const sections = build(page);
        root.replaceChildren(header(page), contents(sections), el("main", {}, ...sections),
            el("footer", {}, `made by ${data.generator}`));
        watchTheme();
        Object.assign(window, { orreryReport: page }); /* for scripts that inspect the page */
    } catch (reason) {
        root.replaceChildren(el("p", { class: "warning" }, `This report cannot be shown: ${String(reason)}`));
    }
}

start();
