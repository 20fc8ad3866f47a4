/*
 * How smooth the timeline of a page is: node frames.mjs CHROMIUM PAGE, in the folder with node_modules. Zooms into some
 * points and out again by the wheel, and prints the times of frames: of drawing alone, and from frame to frame with all
 * that the browser does. Run it on an idle computer.
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve("package.json")));
const { chromium } = require("playwright-core");
const [executablePath, file] = process.argv.slice(2);
const STEPS = 60; /* in, and as many out */
const POINTS = [[0.5, 0.5], [0.2, 0.3], [0.8, 0.9]];

function describe(name, times) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
    const slow = sorted.filter((time) => time > 50).length;
    console.log(`${name}: ${sorted.length} frames, median ${at(0.5)} ms, 95% ${at(0.95)} ms, longest ${at(1)} ms, ` +
        `${((100 * slow) / Math.max(1, sorted.length)).toFixed(1)}% above 50 ms`);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1500, height: 950 } });
page.setDefaultTimeout(600_000);
const start = Date.now();
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForFunction(() => window.orreryReport?.timelines.every((timeline) => !timeline.store.isLoading));
console.log(`shown after ${((Date.now() - start) / 1000).toFixed(1)} s`);
const canvas = page.locator(".timeline-canvas").first();
await canvas.scrollIntoViewIfNeeded();
const box = await canvas.boundingBox();
await page.evaluate(() => {
    window.gaps = [];
    let before = performance.now();
    const tick = (now) => {
        window.gaps.push(now - before);
        before = now;
        requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    window.orreryReport.timelines[0].frames.times.length = 0;
});
for (const [x, y] of POINTS) {
    await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
    for (let i = 0; i < 2 * STEPS; i++) {
        await page.mouse.wheel(0, i < STEPS ? -30 : 30);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
}
describe("drawing", await page.evaluate(() => window.orreryReport.timelines[0].frames.times));
describe("from frame to frame", await page.evaluate(() => window.gaps));
await browser.close();
