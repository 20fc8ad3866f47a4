/* Bundles the unit tests: node units.mjs FOLDER. */
import { createRequire } from "node:module";
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(pathToFileURL(resolve("package.json")));
await require("esbuild").build({
    entryPoints: readdirSync(here).filter((name) => name.endsWith(".test.ts")).map((name) => join(here, name)),
    outdir: process.argv[2],
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    nodePaths: [resolve("node_modules")],
    logLevel: "error",
});
