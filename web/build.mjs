/*
 * Bundles the front end into one page: node build.mjs OUTPUT. The packages are in node_modules of the current folder,
 * which need not be that of the sources.
 */
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const packages = resolve("node_modules");
const require = createRequire(pathToFileURL(join(packages, "..", "package.json")));
const esbuild = require("esbuild");
const [output] = process.argv.slice(2);
if (!output) {
    console.error("usage: node build.mjs OUTPUT");
    process.exit(2);
}

const result = await esbuild.build({
    entryPoints: [join(here, "src/main.ts")],
    bundle: true,
    minify: true,
    write: false,
    outdir: "bundle",
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "inline",
    nodePaths: [packages],
});
const text = (end) => result.outputFiles.find((file) => file.path.endsWith(end)).text;
/* A script must not contain the tag that ends it. */
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const page = readFileSync(join(here, "src/index.html"), "utf8")
    .replace("<!--orrery:style-->", () => text(".css"))
    .replace("<!--orrery:script-->", () => script);
writeFileSync(output, page);
