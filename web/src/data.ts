/* The data of a report, as src/report writes it; README.md describes it. "chunk" is always the number of a chunk. */

export const SCHEMA = 1;

export interface FunctionStats {
    name: string;
    kind: number;
    calls: number;
    time: number;
    mean: number;
    rankMean: number;
    rankDeviation: number;
    rankMin: number;
    rankMax: number;
    bytes: number;
    waits: number;
}

export interface Place {
    region: string;
    function: string;
    site: string;
    isCompute: boolean;
    path: number;
    delayDirect: number;
    delayIndirect: number;
    waits: number;
}

export interface Efficiency {
    parallel: number;
    loadBalance: number;
    communication: number;
    serialisation: number;
    transfer: number;
    file: number;
    ideal: number;
    idealWithoutFiles: number;
}

export interface PerRank {
    wait: number;
    sent: number;
    received: number;
    messages: number;
    path: number;
    delayCost: number;
    waitStates: number;
    kinds: number[];
}

export interface Matrix {
    size: number;
    width: number;
    bytes: number;
    messages: number;
    time: number;
}

export interface Phases {
    comm: string;
    ranks: number;
    count: number;
    merged: number;
    rows: number;
    columns: number;
    rowWidth: number;
    columnWidth: number;
    times: number;
    functions: string[];
}

/* The load of links over time. */
export interface Links {
    kind: string;
    nodes: number;
    vertices: number; /* nodes and switches */
    all: number; /* links, each direction by itself */
    used: number;
    bins: number; /* of time */
    interval: number; /* seconds of a bin */
    begin: number; /* of the first bin, in seconds since the start of the timeline */
    most: { name: string; bytes: number; busy: number; peak: number; peakBin: number }[];
    /* chunks of floats: number, x and y of vertices; from, to (indices of these), bytes and bytes per second of links,
     * the busiest first; bytes of the first `seriesCount` of them, bin by bin */
    places: number;
    ends: number;
    series: number;
    seriesCount: number;
    /* values over time, the greatest first: "queue.s0-n3"; a chunk of floats: time, least, greatest value of samples */
    vectors: { name: string; isTime: boolean; rows: number }[];
}

export interface GridLevel {
    group: number;
    rows: number;
    bins: number;
    chunk: number;
}

export interface TimelineData {
    unit: number; /* seconds */
    end: number; /* units */
    grids: GridLevel[];
    /* blocks: chunk, first rank, last rank, calls, from, to */
    calls: { all: number; kept: number; blocks: [number, number, number, number, number, number][] };
    /* blocks: chunk, messages, from, to */
    messages: { all: number; kept: number; blocks: [number, number, number, number][] };
    /* the critical path: rank, from, to, in order of time */
    path?: { chunk: number; count: number };
}

export interface TraceData {
    name: string;
    source: string;
    program: string;
    recorder: string;
    warning: string;
    ranks: number;
    nodes: number;
    events: number;
    lost: number;
    runtime: number;
    compute: number;
    mpi: number;
    file: number;
    wait: number;
    sent: number;
    received: number;
    messages: number;
    collectiveBytes: number;
    rmaBytes: number;
    fileBytes: number;
    calls: number;
    bandwidth: number;
    unmatchedSends: number;
    unmatchedReceives: number;
    requests: number;
    tested: number;
    testsFailed: number;
    overlapped: number;
    exposed: number;
    efficiency: Efficiency;
    names: { name: string; kind: number }[];
    functions: FunctionStats[];
    perRank: PerRank;
    matrix: Matrix;
    phases: Phases[];
    waits: { name: string; time: number; count: number }[];
    path: {
        compute: number;
        mpi: number;
        file: number;
        hops: number;
        delayKnown: number;
        delayUnknown: number;
        places: Place[];
        delays: Place[];
        waits: Place[];
    };
    timeline: TimelineData;
    links?: Links;
}

export interface ReportData {
    schema: number;
    generator: string;
    traces: TraceData[];
}

export function readData(text: string): ReportData {
    const data = JSON.parse(text) as ReportData;
    if (data.schema !== SCHEMA)
        throw new Error(`the data has version ${data.schema}, and this page shows version ${SCHEMA}`);
    return data;
}
