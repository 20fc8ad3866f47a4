/*
 * Pages in a real Chromium: node browser.mjs CHROMIUM FOLDER. FOLDER has one.html, two.html and large.html; screenshots and a
 * PDF are written there. Prints TAP. Waits for conditions, never for a time.
 */
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve("package.json")));
const { chromium } = require("playwright-core");
const [executablePath, folder] = process.argv.slice(2);
const LIMIT = 120_000; /* for hangs */
const FRAME = 50; /* ms */

let count = 0;
function ok(isGood, name, why = "") {
    console.log(`${isGood ? "ok" : "not ok"} ${++count} - ${name}`);
    if (!isGood) console.log(`# ${why}`);
}

/* Opens a page, and collects its requests and errors. */
async function open(browser, name, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
    const seen = { requests: [], complaints: [] };
    page.setDefaultTimeout(LIMIT);
    page.on("request", (request) => seen.requests.push(request.url()));
    page.on("pageerror", (error) => seen.complaints.push(error.message));
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) seen.complaints.push(message.text());
    });
    await page.goto(pathToFileURL(join(folder, name)).href);
    await page.waitForFunction(() => window.orreryReport && !document.querySelector(".later")?.textContent?.startsWith("loading"));
    await settle(page);
    return { page, seen };
}

/* Waits until all that is in view is loaded and drawn. */
async function settle(page) {
    await page.waitForFunction(() => window.orreryReport.timelines.every((timeline) => !timeline.store.isLoading));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

const view = (page, i = 0) => page.evaluate((k) => {
    const { from, to, first, last } = window.orreryReport.timelines[k].view;
    return { from, to, first, last, time: to - from, ranks: last - first };
}, i);
const status = (page) => page.locator(".timeline .status").first().textContent();

async function middle(page) {
    const box = await page.locator(".timeline-canvas").first().boundingBox();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function testPanels(page, seen) {
    ok(seen.complaints.length === 0, "the page has no errors", seen.complaints.join("; "));
    ok(seen.requests.every((url) => url.startsWith("file:")), "it loads nothing but itself", seen.requests.join(" "));
    const titles = await page.locator("section.panel h2").allTextContents();
    ok(titles.length >= 10, `there are ${titles.length} panels`, titles.join(", "));
    const words = await page.locator("#overview .lead").first().textContent();
    ok(/ran for .* with 16 ranks/.test(words), "the overview says what ran", words);
    const abouts = await page.locator("section.panel > p.about").count();
    ok(abouts === titles.length, "each panel says what it shows");
    const nameless = await page.evaluate(() => [...document.querySelectorAll("canvas, button, input, select, section")].filter(
        (element) => !(element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.closest("label") ||
            element.textContent.trim() || element.closest(".uplot"))).map((element) => element.outerHTML.slice(0, 80)));
    ok(nameless.length === 0, "controls and pictures have names", nameless.join("; "));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    ok(wide <= 0, "nothing sticks out to the right", `${wide} pixels`);
}

async function testOverlays(page) {
    const known = await page.evaluate(() => {
        const { timeline } = window.orreryReport.data.traces[0];
        return [timeline.messages.all, timeline.messages.kept, timeline.path?.count ?? 0];
    });
    ok(known[0] === 16 * 2 * 40 && known[1] === known[0], "all messages are there", known.join(" "));
    ok(known[2] > 1, "so is the critical path", known.join(" "));
    const said = await status(page);
    ok(/1,280 messages/.test(said), "messages are drawn", said);
}

async function testMouse(page) {
    const canvas = page.locator(".timeline-canvas").first();
    await canvas.scrollIntoViewIfNeeded();
    const before = await view(page);
    const { x, y } = await middle(page);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -100);
    await settle(page);
    const zoomed = await view(page);
    ok(zoomed.time < before.time * 0.9 && zoomed.ranks === before.ranks, "the wheel zooms time", JSON.stringify(zoomed));
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Shift");
    await settle(page);
    const fewer = await view(page);
    ok(fewer.ranks < before.ranks * 0.9, "with Shift it zooms ranks", JSON.stringify(fewer));
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 150, y - 20, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    const moved = await view(page);
    ok(moved.from > fewer.from && Math.abs(moved.time - fewer.time) < 1, "dragging moves", JSON.stringify(moved));
    await page.mouse.move(x, y);
    await page.waitForFunction(() => document.querySelector(".tip:not([hidden])")?.textContent?.startsWith("rank"));
    ok(true, "the pointer reads a call or computing");
    await page.getByRole("button", { name: "show all" }).click();
    await settle(page);
    ok((await view(page)).time === before.time, "a button shows all");
    await page.keyboard.down("Shift");
    await page.mouse.move(x - 100, y - 60);
    await page.mouse.down();
    await page.mouse.move(x + 100, y + 60, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await settle(page);
    const boxed = await view(page);
    ok(boxed.time < before.time / 2 && boxed.ranks < before.ranks / 2, "dragging with Shift zooms into a box", JSON.stringify(boxed));
}

async function testKeys(page) {
    await page.locator(".timeline-canvas").first().focus();
    await page.keyboard.press("0");
    await settle(page);
    const all = await view(page);
    for (const key of ["+", "+", "+", "]", "]"]) await page.keyboard.press(key);
    await settle(page);
    const near = await view(page);
    ok(near.time < all.time / 3 && near.ranks < all.ranks / 2, "+ and ] zoom", JSON.stringify(near));
    for (const key of ["ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
    await settle(page);
    const moved = await view(page);
    ok(moved.from > near.from && moved.first > near.first, "arrows move", JSON.stringify(moved));
    const drawn = await page.evaluate(() => window.orreryReport.timelines[0].showsMessages);
    await page.keyboard.press("m");
    ok((await page.evaluate(() => window.orreryReport.timelines[0].showsMessages)) === !drawn, "m switches messages");
    await page.keyboard.press("m");
    await page.keyboard.press("0");
    await settle(page);
}

async function testSearch(page) {
    await page.locator("h1").click();
    await page.keyboard.press("/");
    ok(await page.evaluate(() => document.activeElement?.id === "search"), "/ goes to the search");
    await page.keyboard.type("rank 11");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".found")?.textContent?.includes("rank 11"));
    await settle(page);
    const { first, last } = await view(page);
    ok(first <= 11 && last >= 12, "a rank is found");
    await page.locator("#search").fill("waitall");
    await page.locator("#search").press("Enter");
    await page.waitForFunction(() => document.querySelector(".found")?.textContent?.includes("MPI_Waitall"));
    await settle(page);
    const one = await page.evaluate(() => window.orreryReport.timelines[0].marked?.start);
    await page.locator("#search").press("Enter");
    await page.waitForFunction((start) => (window.orreryReport.timelines[0].marked?.start ?? 0) > start, one);
    ok(true, "a function is found, and the next call of it");
    await page.screenshot({ path: join(folder, "search.png") });
    await page.locator("#search").fill("nonsense");
    await page.locator("#search").press("Enter");
    await page.waitForFunction(() => document.querySelector(".found")?.textContent?.includes("no function"));
    ok(true, "what is not there is said");
    await page.locator("#search").press("Escape");
    await page.waitForFunction(() => window.orreryReport.timelines[0].only === -1);
    ok(true, "Escape ends a search");
}

/* The colour of a pixel in the middle of the timeline's frame, and of the page. */
const colours = (page) => page.evaluate(() => {
    const canvas = document.querySelector(".timeline-canvas");
    const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, -4, 4 - canvas.height);
    const data = copy.getImageData(0, 0, 1, 1).data;
    return [[...data.slice(0, 3)].join(), getComputedStyle(document.body).backgroundColor];
});

async function testTheme(page) {
    const light = await colours(page);
    await page.getByRole("button", { name: /switch between light and dark/ }).click();
    await settle(page);
    const dark = await colours(page);
    ok(light[0] !== dark[0] && light[1] !== dark[1], "the theme is switched, canvases too", `${light} ${dark}`);
    await page.screenshot({ path: join(folder, "dark.png"), fullPage: true });
    await page.getByRole("button", { name: /switch between light and dark/ }).click();
    await settle(page);
    ok((await colours(page)).join() === light.join(), "and back");
}

async function testHeat(page) {
    await page.locator("#phases canvas.heat").focus();
    await page.keyboard.press("ArrowRight");
    const phase = await page.locator("#phases .status").textContent();
    ok(/rank 0, phase 1 \(until MPI_\w+\): \d/.test(phase), "the arrow keys read the phases", phase);
    await page.locator("#matrix canvas.heat").focus();
    await page.keyboard.press("ArrowRight");
    const pair = await page.locator("#matrix .status").textContent();
    ok(/from rank 0, to rank 1: \d/.test(pair), "and the matrix", pair);
    await page.locator("#matrix select").selectOption("messages");
    await page.waitForFunction(() => document.querySelector("#matrix .legend.scale")?.textContent?.includes("messages"));
    ok(true, "the matrix shows another measure");
}

async function testLinks(page) {
    const rows = await page.locator("#links table:not(.u-legend) tbody tr").allTextContents();
    ok(rows.length > 10 && /^[ns]\d+ to [ns]\d+/.test(rows[0]), "links are listed by load", rows.slice(0, 3).join("; "));
    const canvas = page.locator("#links canvas.network");
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width * 0.15, box.y + 18); /* on the first row of the torus */
    const said = await page.locator("#links .status").textContent();
    ok(/: .* \(.*%\), and back/.test(said), "the pointer reads links", said);
    await testLinksOverTime(page, canvas);
}

/* The slider colours links by what they carried at a time; so do a click into the diagram and what the timeline shows. */
async function testLinksOverTime(page, canvas) {
    const label = page.locator("#links output");
    const whole = await canvas.screenshot();
    await page.locator("#links input[type=range]").focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    const at = await label.textContent();
    ok(/ to /.test(at), "the slider chooses a time", at);
    const then = await canvas.screenshot({ path: join(folder, "links-at.png") });
    ok(!whole.equals(then), "the colours are those of that time");
    const over = await page.locator("#links .plot .u-over").boundingBox();
    await page.mouse.click(over.x + over.width * 0.75, over.y + over.height / 2);
    const clicked = await label.textContent();
    ok(/ to /.test(clicked) && clicked !== at, "a click into the diagram does, too", clicked);
    await page.locator("#links").screenshot({ path: join(folder, "links.png") });
    await page.evaluate(() => window.orreryReport.timelines[0].act("in"));
    await page.getByText("as in the timeline").click();
    ok(/ to /.test(await label.textContent()), "and what the timeline shows", await label.textContent());
    await page.getByText("whole run", { exact: true }).click();
    ok((await label.textContent()) === "the whole run", "and back to all of it");
    await page.evaluate(() => window.orreryReport.timelines[0].act("all"));
}

async function testPrint(page) {
    const path = join(folder, "print.pdf");
    await page.pdf({ path, format: "A4", printBackground: true });
    ok(statSync(path).size > 20_000, "it is printed");
}

async function testSystemDark(browser) {
    const { page } = await open(browser, "one.html", { colorScheme: "dark" });
    const [, ground] = await colours(page);
    const sum = ground.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0);
    ok(sum < 200, "a system that prefers dark gets dark", ground);
    await page.close();
}

async function testTwo(browser) {
    const { page, seen } = await open(browser, "two.html");
    ok(seen.complaints.length === 0, "a page of two traces has no errors", seen.complaints.join("; "));
    ok((await page.locator(".timeline-canvas").count()) === 2, "it has two timelines");
    ok((await page.locator("#overview td").allTextContents()).some((text) => /^[+-]\d/.test(text)), "differences are shown");
    await page.locator(".timeline-canvas").first().focus();
    await page.keyboard.press("+");
    await settle(page);
    const [a, b] = [await view(page, 0), await view(page, 1)];
    const units = await page.evaluate(() => window.orreryReport.timelines.map((timeline) => timeline.trace.timeline.unit));
    ok(Math.abs(a.from * units[0] - b.from * units[1]) < 1e-3 * a.time * units[0], "timelines move together", JSON.stringify([a, b]));
    await page.screenshot({ path: join(folder, "two.png"), fullPage: true });
    await page.close();
}

/* Zooms in and out by the wheel; the time that frames took. */
async function zoomFrames(page, steps) {
    const { x, y } = await middle(page);
    await page.mouse.move(x, y);
    await page.evaluate(() => (window.orreryReport.timelines[0].frames.times.length = 0));
    for (let i = 0; i < steps; i++) {
        await page.mouse.wheel(0, i < steps / 2 ? -60 : 60);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    await settle(page);
    return page.evaluate(() => [...window.orreryReport.timelines[0].frames.times].sort((a, b) => a - b));
}

async function testLarge(browser) {
    const { page, seen } = await open(browser, "large.html");
    ok(seen.complaints.length === 0, "a large page has no errors", seen.complaints.join("; "));
    await page.locator(".timeline-canvas").first().scrollIntoViewIfNeeded();
    await settle(page);
    const afar = await status(page);
    ok(/from afar/.test(afar), "from afar it draws a grid", afar);
    await page.screenshot({ path: join(folder, "large.png") });
    const times = await zoomFrames(page, 40);
    const slow = times[Math.floor(times.length * 0.95)];
    console.log(`# ${times.length} frames, median ${times[times.length >> 1].toFixed(1)} ms, 95% below ${slow.toFixed(1)} ms ` +
        `(aim: ${FRAME} ms, on an idle machine)`);
    const { x, y } = await middle(page);
    await page.mouse.move(x, y);
    for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -60);
    await settle(page);
    const near = await status(page);
    ok(!/from afar/.test(near), "from near it draws calls", near);
    await page.screenshot({ path: join(folder, "large-near.png") });
    await page.close();
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"], timeout: LIMIT });
try {
    const { page, seen } = await open(browser, "one.html");
    await page.screenshot({ path: join(folder, "one.png"), fullPage: true });
    await testPanels(page, seen);
    await testOverlays(page);
    await testMouse(page);
    await testKeys(page);
    await testSearch(page);
    await testTheme(page);
    await testHeat(page);
    await testLinks(page);
    await testPrint(page);
    ok(seen.complaints.length === 0, "there were no errors on the way", seen.complaints.join("; "));
    await page.close();
    await testSystemDark(browser);
    await testTwo(browser);
    await testLarge(browser);
} catch (reason) {
    ok(false, "the browser does what it is asked for", String(reason).replaceAll("\n", "\n# "));
} finally {
    await browser.close();
}
console.log(`1..${count}`);
