/* The search: for a rank by its number, or a function by a part of its name. */

export type Found = { kind: "rank"; rank: number } | { kind: "function"; name: string } | { kind: "none"; why: string };

export function interpret(text: string, ranks: number, functions: readonly string[]): Found {
    const words = text.trim();
    if (words === "") return { kind: "none", why: "" };
    const number = /^(?:rank\s*)?([\d,]+)$/i.exec(words);
    if (number) {
        const rank = Number(number[1]!.replaceAll(",", ""));
        return rank < ranks ? { kind: "rank", rank } : { kind: "none", why: `there are ranks 0 to ${ranks - 1}` };
    }
    const low = words.toLowerCase().replace(/^mpi_/, "");
    const plain = (name: string) => name.toLowerCase().replace(/^mpi_/, "");
    const name = functions.find((fn) => plain(fn) === low) ?? functions.find((fn) => plain(fn).startsWith(low)) ??
        functions.find((fn) => plain(fn).includes(low));
    return name ? { kind: "function", name } : { kind: "none", why: `no function of the trace is called "${words}"` };
}
