/* The binary parts of the page: base64 of deflated bytes in script elements (src/report/chunk.h). */

export interface ChunkSource {
    load(chunk: number): Promise<Uint8Array>;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class PageChunks implements ChunkSource {
    async load(chunk: number): Promise<Uint8Array> {
        const element = document.getElementById(`chunk-${chunk}`);
        if (!element) throw new Error(`the page has no chunk ${chunk}`);
        return inflate(fromBase64(element.textContent ?? ""));
    }
}

/* The numbers of a chunk; copied, as the bytes may not be aligned. */
export async function loadFloats(source: ChunkSource, chunk: number): Promise<Float32Array> {
    const bytes = await source.load(chunk);
    return new Float32Array(bytes.slice().buffer);
}
