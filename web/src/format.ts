/* Numbers as text for people, as the commands print them. */

const TIME_UNITS: readonly [number, string][] = [
    [1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"], [1e-12, "ps"],
];
const BYTE_UNITS: readonly [number, string][] = [
    [2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"],
];
const COUNT_UNITS: readonly [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

function digits(value: number, significant: number): string {
    return String(Number(value.toPrecision(significant)));
}

function withUnit(value: number, units: readonly [number, string][], significant: number): string {
    const size = Math.abs(value);
    for (const [factor, unit] of units) {
        if (size >= factor * 0.99995) return `${digits(value / factor, significant)} ${unit}`.trimEnd();
    }
    const [factor, unit] = units[units.length - 1]!;
    return `${digits(value / factor, significant)} ${unit}`.trimEnd();
}

/* Seconds. */
export function formatTime(seconds: number, significant = 4): string {
    return seconds === 0 ? "0 s" : withUnit(seconds, TIME_UNITS, significant);
}

export function formatBytes(bytes: number): string {
    return bytes === 0 ? "0 B" : withUnit(bytes, BYTE_UNITS, 4);
}

export function formatRate(bytesPerSecond: number): string {
    return `${formatBytes(bytesPerSecond)}/s`;
}

export function formatCount(count: number): string {
    return Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/* Short, for axes: 12k. */
export function formatShort(count: number): string {
    return count === 0 ? "0" : withUnit(count, COUNT_UNITS, 3).replace(" ", "");
}

export function formatShare(share: number): string {
    const percent = share * 100;
    if (percent > 0 && percent < 0.1) return "<0.1%";
    return `${percent.toFixed(percent < 10 ? 1 : 0)}%`;
}

/* "+12%", "-3.4%", "same": how b differs from a. */
export function formatChange(a: number, b: number): string {
    if (a === b) return "same";
    if (a === 0) return "new";
    const change = (b - a) / Math.abs(a);
    if (Math.abs(change) < 0.0005) return "same";
    return `${change > 0 ? "+" : "-"}${formatShare(Math.abs(change))}`;
}

/* The ticks of an axis: multiples of 1, 2 or 5 times a power of ten. */
export function ticks(from: number, to: number, most: number): number[] {
    const span = to - from;
    if (!(span > 0) || most < 1) return [];
    const raw = span / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw * 0.9999) ?? 10 * power;
    const found: number[] = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) found.push(i * step + 0); /* never -0 */
    return found;
}
