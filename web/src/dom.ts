/* Creates elements of the page in one expression. */

export type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string | boolean> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === false) continue;
        element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children) if (child) element.append(child);
    return element;
}

export function table(head: string[], rows: Child[][], caption?: string): HTMLTableElement {
    const result = el("table", {});
    if (caption) result.append(el("caption", {}, caption));
    result.append(el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))));
    const body = el("tbody");
    for (const row of rows) {
        const [first, ...rest] = row;
        body.append(el("tr", {}, el("th", { scope: "row" }, first ?? ""), ...rest.map((cell) => el("td", {}, cell ?? ""))));
    }
    result.append(body);
    return result;
}

/* A panel with a title, a sentence for newcomers, and what it shows. */
export function panel(id: string, title: string, about: string, ...children: Child[]): HTMLElement {
    return el("section", { class: "panel", id, "aria-labelledby": `${id}-title` },
        el("h2", { id: `${id}-title` }, title), el("p", { class: "about" }, about), ...children);
}

/* A canvas with the size of its box, in pixels of the screen. */
export function fitCanvas(canvas: HTMLCanvasElement): { width: number; height: number; ratio: number } {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const box = canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio));
    const height = Math.max(1, Math.round(box.height * ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    return { width, height, ratio };
}
