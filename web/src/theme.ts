/* Light and dark: as the system prefers, until the user switches. */

export type Listener = () => void;

const listeners: Listener[] = [];
const colours = new Map<string, string>(); /* of the theme: to ask for styles is slow */

export function isDark(): boolean {
    const chosen = document.documentElement.dataset["theme"];
    if (chosen) return chosen === "dark";
    return matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
}

/* The value of a colour of style.css. */
export function colour(name: string): string {
    let value = colours.get(name);
    if (value === undefined) {
        value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
        colours.set(name, value);
    }
    return value;
}

export function onTheme(listener: Listener): void {
    listeners.push(listener);
}

export function notifyTheme(): void {
    colours.clear();
    for (const listener of listeners) listener();
}

export function switchTheme(): void {
    document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
    notifyTheme();
}

export function watchTheme(): void {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", notifyTheme);
    /* Paper is white: canvases are redrawn for it. */
    let before: string | undefined;
    addEventListener("beforeprint", () => {
        before = document.documentElement.dataset["theme"];
        document.documentElement.dataset["theme"] = "light";
        notifyTheme();
    });
    addEventListener("afterprint", () => {
        if (before) document.documentElement.dataset["theme"] = before;
        else delete document.documentElement.dataset["theme"];
        notifyTheme();
    });
}
