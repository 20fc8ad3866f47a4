/*
 * Heat maps: a table of numbers as colours, with axes, and a text for what is under the pointer. The scale varies only
 * in lightness, from the background to a dark (or, on a dark background, bright) colour, so that everyone can read it.
 */

import { el, fitCanvas } from "./dom";
import { parseColour, pixel } from "./kinds";
import { ticks } from "./format";
import { colour, isDark, onTheme } from "./theme";

export interface Heat {
    readonly rows: number;
    readonly columns: number;
    readonly values: Float32Array; /* by rows; NaN or 0: nothing */
    readonly label: string;
    readonly rowLabel: string;
    readonly columnLabel: string;
    readonly rowName: (row: number) => string;
    readonly columnName: (column: number) => string;
    readonly valueName: (value: number) => string;
    readonly isLog: boolean;
    readonly isSquare: boolean;
}

/* Stops of a scale after viridis, from little to much. */
const STOPS_LIGHT: readonly string[] = ["#e4f0d0", "#a8db34", "#35b779", "#26828e", "#3e4a89", "#440154"];
const STOPS_DARK: readonly string[] = ["#31225a", "#3e4a89", "#26828e", "#35b779", "#a8db34", "#fde725"];

export function scaleColours(dark: boolean): Uint32Array {
    const stops = (dark ? STOPS_DARK : STOPS_LIGHT).map(parseColour);
    const colours = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
        const at = (i / 255) * (stops.length - 1);
        const low = Math.min(stops.length - 2, Math.floor(at));
        const a = stops[low]!;
        const b = stops[low + 1]!;
        const mix = (k: 0 | 1 | 2) => Math.round(a[k] + (b[k] - a[k]) * (at - low));
        colours[i] = pixel(mix(0), mix(1), mix(2));
    }
    return colours;
}

/* The range of the values. */
export function rangeOf(values: Float32Array): [number, number] {
    let least = Infinity;
    let most = -Infinity;
    for (const value of values) {
        if (!(value > 0)) continue;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    return least <= most ? [least, most] : [0, 0];
}

/* The position of a value on the scale, from 0 to 255. */
export function onScale(value: number, least: number, most: number, isLog: boolean): number {
    if (most <= least) return 255;
    const share = isLog ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
    return Math.round(255 * Math.min(1, Math.max(0, share)));
}

const LEFT = 78;
const BOTTOM = 38;
const TOP = 9;

export class HeatMap {
    readonly element: HTMLElement;
    private readonly canvas: HTMLCanvasElement;
    private readonly tip: HTMLElement;
    private readonly legend: HTMLElement;
    private at: [number, number] | undefined;

    constructor(private heat: Heat) {
        this.canvas = el("canvas", { class: heat.isSquare ? "heat square" : "heat", tabindex: "0", role: "img" });
        this.tip = el("p", { class: "status", "aria-live": "polite" });
        this.legend = el("div", { class: "legend scale" });
        this.element = el("div", { class: "heat-box" }, this.canvas, this.legend, this.tip);
        this.canvas.addEventListener("pointermove", (event) => this.hover(event.offsetX, event.offsetY));
        this.canvas.addEventListener("keydown", (event) => this.pressed(event));
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        onTheme(() => this.draw());
        this.set(heat);
    }

    set(heat: Heat): void {
        this.heat = heat;
        this.canvas.setAttribute("aria-label", `${heat.label}: ${heat.rows} rows, ${heat.columns} columns; arrow keys read values`);
        this.tip.textContent = "Point at a cell, or use the arrow keys, to read its value.";
        this.draw();
    }

    private hover(x: number, y: number): void {
        const { width, height } = this.box;
        const column = Math.floor(((x - LEFT) / width) * this.heat.columns);
        const row = Math.floor(((y - TOP) / height) * this.heat.rows);
        if (column >= 0 && column < this.heat.columns && row >= 0 && row < this.heat.rows) this.read(row, column);
    }

    private pressed(event: KeyboardEvent): void {
        const moves: Record<string, [number, number]> = {
            ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
        };
        const move = moves[event.key];
        if (!move) return;
        event.preventDefault();
        const [row, column] = this.at ?? [0, 0];
        this.read(Math.min(this.heat.rows - 1, Math.max(0, row + move[0])),
            Math.min(this.heat.columns - 1, Math.max(0, column + move[1])));
    }

    private read(row: number, column: number): void {
        const { heat } = this;
        const value = heat.values[row * heat.columns + column]!;
        this.at = [row, column];
        this.tip.textContent = `${heat.rowName(row)}, ${heat.columnName(column)}: ${value > 0 ? heat.valueName(value) : "nothing"}`;
        this.draw();
    }

    private get box(): { width: number; height: number } {
        return {
            width: Math.max(1, this.canvas.clientWidth - LEFT - 8),
            height: Math.max(1, this.canvas.clientHeight - BOTTOM - TOP),
        };
    }

    private draw(): void {
        const { heat, canvas } = this;
        if (canvas.clientWidth === 0 || heat.rows === 0 || heat.columns === 0) return;
        const { width, height, ratio } = fitCanvas(canvas);
        const context = canvas.getContext("2d")!;
        const box = this.box;
        const [least, most] = rangeOf(heat.values);
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.fillStyle = colour("panel");
        context.fillRect(0, 0, width, height);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.imageSmoothingEnabled = false;
        context.drawImage(this.picture(least, most), LEFT, TOP, box.width, box.height);
        this.axes(context, box);
        this.legend.replaceChildren(
            heat.valueName(least), el("span", { class: isDark() ? "ramp dark" : "ramp", "aria-hidden": "true" }),
            heat.valueName(most), heat.isLog ? " (logarithmic)" : "");
        if (this.at) {
            context.strokeStyle = colour("mark");
            context.lineWidth = 2;
            context.strokeRect(LEFT + (this.at[1] / heat.columns) * box.width - 1, TOP + (this.at[0] / heat.rows) * box.height - 1,
                box.width / heat.columns + 2, box.height / heat.rows + 2);
        }
    }

    private picture(least: number, most: number): HTMLCanvasElement {
        const { heat } = this;
        const picture = document.createElement("canvas");
        picture.width = heat.columns;
        picture.height = heat.rows;
        const image = new ImageData(heat.columns, heat.rows);
        const pixels = new Uint32Array(image.data.buffer);
        const colours = scaleColours(isDark());
        const ground = pixel(...parseColour(colour("plot-ground")));
        heat.values.forEach((value, i) => {
            pixels[i] = value > 0 ? colours[onScale(value, least, most, heat.isLog)]! : ground;
        });
        picture.getContext("2d")!.putImageData(image, 0, 0);
        return picture;
    }

    private axes(context: CanvasRenderingContext2D, box: { width: number; height: number }): void {
        const { heat } = this;
        context.fillStyle = colour("soft");
        context.strokeStyle = colour("line");
        context.lineWidth = 1;
        context.font = "12px system-ui, sans-serif";
        context.strokeRect(LEFT - 0.5, TOP - 0.5, box.width + 1, box.height + 1);
        context.textAlign = "center";
        context.textBaseline = "top";
        const whole = (value: number) => value % 1 === 0;
        for (const column of ticks(0, heat.columns - 1 || 1, Math.max(1, box.width / 70)).filter(whole)) {
            if (column >= heat.columns) continue;
            context.fillText(shortName(heat.columnName(column)), LEFT + ((column + 0.5) / heat.columns) * box.width, TOP + box.height + 5);
        }
        context.fillText(heat.columnLabel, LEFT + box.width / 2, TOP + box.height + 21);
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (const row of ticks(0, heat.rows - 1 || 1, Math.max(1, box.height / 30)).filter(whole)) {
            if (row >= heat.rows) continue;
            context.fillText(shortName(heat.rowName(row)), LEFT - 6, TOP + ((row + 0.5) / heat.rows) * box.height);
        }
        context.save();
        context.translate(10, TOP + box.height / 2);
        context.rotate(-Math.PI / 2);
        context.textAlign = "center";
        context.fillText(heat.rowLabel, 0, 0);
        context.restore();
    }
}

/* The number in "from rank 12", or "from ranks 12 to 15". */
function shortName(text: string): string {
    return /[\d,]+/.exec(text)?.[0] ?? text;
}
