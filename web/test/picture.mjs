/* A picture of the timeline of a report: node picture.mjs CHROMIUM PAGE.html FILE.png. */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve("package.json")));
const { chromium } = require("playwright-core");
const [executablePath, html, png] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
await page.goto(pathToFileURL(html).href);
await page.waitForFunction(() => window.orreryReport?.timelines.every((timeline) => !timeline.store.isLoading));
await page.locator('[data-key=messages]').uncheck(); /* many lines make a large file */
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.locator("#timeline").screenshot({ path: png });
await browser.close();
