/*
 * Kinds of what a rank does, in the order of the data (src/report/kind.h), with their colours. The colour-blind can
 * distinguish the colours (after Okabe and Ito), which also differ in lightness, for prints in grey.
 */

export interface Kind {
    readonly name: string;
    readonly about: string;
    readonly light: string;
    readonly dark: string;
}

export const KINDS: readonly Kind[] = [
    { name: "compute", about: "the program's own work, outside of MPI", light: "#dfe3e8", dark: "#3f4855" },
    { name: "send", about: "sending messages to one rank", light: "#0072b2", dark: "#3d9be0" },
    { name: "receive", about: "receiving messages, or looking for one", light: "#56b4e9", dark: "#8fd0f7" },
    { name: "wait", about: "waiting for requests, or testing them", light: "#e69f00", dark: "#f5b942" },
    { name: "collective", about: "operations of all ranks of a communicator", light: "#009e73", dark: "#1fc796" },
    { name: "barrier", about: "waiting until all ranks have come", light: "#d55e00", dark: "#f07a2a" },
    { name: "one-sided", about: "memory of other ranks (windows)", light: "#cc79a7", dark: "#e39cc4" },
    { name: "file", about: "reading and writing files", light: "#8c6d31", dark: "#c2a25c" },
    { name: "other", about: "other MPI functions", light: "#5f5f7a", dark: "#74748c" },
];

export const COMPUTE = 0;

/* Of src/report/grid.h. */
export const GRID_SHARES = 31;

export function kindColour(kind: number, dark: boolean): string {
    const found = KINDS[kind] ?? KINDS[KINDS.length - 1]!;
    return dark ? found.dark : found.light;
}

export function parseColour(text: string): [number, number, number] {
    const value = parseInt(text.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
}

/* A pixel as in ImageData, in a Uint32Array on a little-endian computer. */
export function pixel(r: number, g: number, b: number): number {
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/* The colour of `kind` that takes a share of the time, the rest of which is computing. */
export function blend(kind: number, share: number, dark: boolean): number {
    const a = parseColour(kindColour(COMPUTE, dark));
    const b = parseColour(kindColour(kind, dark));
    const mix = (i: 0 | 1 | 2) => Math.round(a[i] + (b[i] - a[i]) * share);
    return pixel(mix(0), mix(1), mix(2));
}

/* The colours of the 256 values of a cell of a grid, on a background. */
export function cellColours(dark: boolean, ground: string): Uint32Array {
    const colours = new Uint32Array(256);
    colours[0] = pixel(...parseColour(ground));
    for (let kind = 1; kind < KINDS.length; kind++) {
        for (let share = 0; share < GRID_SHARES; share++) {
            colours[1 + (kind - 1) * GRID_SHARES + share] = blend(kind, share / (GRID_SHARES - 1), dark);
        }
    }
    return colours;
}
