// Checks HTML reports in a headless browser; `.ci/page` makes the reports and calls this.
// Takes the browser, the folder with puppeteer-core and axe-core, the name of a check, and its files.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { axeOf } from "./axe.mjs";

const [, , executablePath, folder, check, ...files] = process.argv;
const require = createRequire(`${folder}/`);
const puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")))).default;
const axe = axeOf(require);
const SIZES = [1400, 820, 390];
const THEMES = ["light", "dark"];

const fail = (text) => { throw new Error(text); };
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"] });

// Opens a page and collects its console output and requests.
const open = async (file, width = 1400, theme = "light", setUp = async () => {}) => {
  const page = await browser.newPage();
  const said = [];
  const asked = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) asked.push(request.url()); });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await setUp(page);
  await page.goto(pathToFileURL(file).href);
  return { page, said, asked, ready: () => page.waitForSelector("html[data-ready]", { timeout: 30000 }) };
};
const hold = async (what, opened) => {
  await opened.ready().catch(() => fail(`${what} is not fully drawn: ${opened.said}`));
  if (opened.said.length > 0) fail(`${what} logs to the console: ${opened.said}`);
  if (opened.asked.length > 0) fail(`${what} requests ${opened.asked}`);
};
// Number of coloured pixels of a chart; text and grid are grey.
const inkOf = (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let i = 0; i < data.length; i += 4) {
    const colours = [data[i], data[i + 1], data[i + 2]];
    if (data[i + 3] > 100 && Math.max(...colours) - Math.min(...colours) > 40) ink += 1;
  }
  return ink;
};

const checks = {
  // The checks detect console output, requests and violations.
  async loud(file) {
    const { page, said, asked } = await open(file);
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (said.length === 0 || asked.length !== 1) fail(`not detected: ${said} ${asked}`);
    if (!(await axe.names(page)).includes("image-alt")) fail("axe does not detect a missing alternative text");
  },

  // All charts drawn, nothing cut off and no serious axe violation, at each width, light and dark.
  async whole(file, charts, verdict) {
    for (const width of SIZES) {
      for (const theme of THEMES) {
        const what = `${file} at ${width} px, ${theme}`;
        const opened = await open(file, width, theme);
        await hold(what, opened);
        const { page } = opened;
        const ink = await page.$$eval("[data-chart] canvas", (all, source) => all.map(new Function(`return ${source}`)()), inkOf.toString());
        if (ink.length !== Number(charts) || ink.some((count) => count < 200)) fail(`${what} has charts with ${ink} coloured pixels instead of ${charts} charts`);
        if (verdict && await page.$eval("#verdict h2", (heading) => heading.textContent) !== verdict) fail(`the verdict of ${what} is not ${verdict}`);
        const isOff = await page.evaluate(() => globalThis.candlewick.charts.flatMap(({ views }) => views)
          .some(({ y, low, high, top, bottom }) => Math.abs(y(low) - bottom) > 0.01 || Math.abs(y(high) - top) > 0.01));
        if (isOff) fail(`${what} has a pane with a wrong scale`);
        const cut = await page.evaluate(() => {
          const isCut = (one) => { const box = one.getBoundingClientRect(); return box.width > 0 && (box.left < -0.5 || box.right > innerWidth + 0.5); };
          const all = [...document.querySelectorAll("body *")].filter((one) => !one.closest(".unseen") && isCut(one));
          const hidden = [...document.querySelectorAll(".list td:not(.reason)")].filter((one) => one.scrollWidth > one.clientWidth + 1);
          const scrolls = [...document.querySelectorAll(".wide, .list")].filter((one) => one.scrollWidth > one.clientWidth + 1);
          return [...all, ...hidden, ...scrolls].map((one) => one.outerHTML.slice(0, 120));
        });
        if (cut.length > 0) fail(`${what} is cut off: ${cut.slice(0, 3).join("\n")}`);
        const serious = await axe.serious(page);
        if (serious) fail(`${what}, axe: ${serious}`);
        await page.close();
      }
    }
  },

  // Wheel, drag, touch and keys move through time; the list sorts, filters and links to the chart; the page prints completely.
  async used(file) {
    const opened = await open(file);
    await hold(file, opened);
    const { page } = opened;
    const span = () => page.evaluate(() => [globalThis.candlewick.view.from, globalThis.candlewick.view.to]);
    const [from, to] = await span();
    const length = ([from, to]) => to - from;
    const expect = async (what, holds) => {
      const now = await span();
      if (!holds(now)) fail(`${what}: ${new Date(now[0]).toISOString()} to ${new Date(now[1]).toISOString()}`);
    };
    const canvas = await page.$("[data-chart=equity] canvas");
    await canvas.scrollIntoView();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const box = await canvas.boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + 100];
    await page.mouse.move(x, y);
    const tip = await page.$eval("[data-chart=equity] .tip", (tip) => tip.hidden || tip.textContent);
    if (!/UTC.*balance/.test(tip)) fail(`the tip shows ${tip}`);
    await page.mouse.wheel({ deltaY: -800 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await expect("the wheel does not zoom", (now) => length(now) < (to - from) * 0.5);
    const zoomed = await span();
    await page.mouse.down();
    await page.mouse.move(x + 150, y, { steps: 5 });
    await page.mouse.up();
    await expect("dragging does not move", (now) => now[0] < zoomed[0] && Math.abs(length(now) - length(zoomed)) < 1000);
    await page.mouse.click(x, y, { count: 2 });
    await expect("a double click does not show all", (now) => now[0] === from && now[1] === to);
    await canvas.focus();
    await page.keyboard.press("+");
    await expect("+ does not zoom", (now) => length(now) < (to - from) * 0.6);
    await page.keyboard.press("ArrowRight");
    const spoken = await page.$eval("[data-chart=equity] [role=status]", (status) => status.textContent);
    if (!/UTC.*balance/.test(spoken)) fail(`a key announces ${spoken}`);
    await page.keyboard.press("0");
    await expect("0 does not show all", (now) => now[0] === from && now[1] === to);

    const rows = () => page.$$eval("#rows tbody tr:not(.space)", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const trades = await page.evaluate(() => globalThis.candlewick.trades.length);
    if (trades < 100 || (await rows()).length > 60) fail(`${(await rows()).length} of ${trades} trades have a row`);
    await page.select("#filter-result", "lost");
    await page.click("#rows th.close button");
    const lost = await page.evaluate(() => globalThis.candlewick.list.found.map(({ outcome, close }) => [outcome, close]));
    const expected = await page.evaluate(() => globalThis.candlewick.trades.filter(({ result }) => result === "LOST").length);
    if (lost.length !== expected || lost.some(([outcome]) => outcome !== "lost")) fail("the filter shows other trades");
    if (lost.some(([, close], i) => i > 0 && close < lost[i - 1][1])) fail("the list is not sorted");
    await page.$eval("#rows", (list) => { list.scrollTop = list.scrollHeight; });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const end = await page.$$eval("#rows tr[aria-rowindex]", (all) => Number(all[all.length - 1].getAttribute("aria-rowindex")));
    if (end !== expected + 1) fail(`the list ends with row ${end} of ${expected + 1}`);
    await page.$$eval("#rows td.decided button", (all) => all[all.length - 1].click());
    const last = await page.evaluate(() => globalThis.candlewick.list.found.at(-1).at);
    await expect("a trade of the list is not shown in the chart", (now) => now[0] < last && last < now[1] && length(now) < (to - from) / 2);
    const sheets = Buffer.from(await page.pdf({ format: "a4" })).toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
    if (sheets < 5 || sheets > 20) fail(`it prints on ${sheets} sheets`);
    if (opened.said.length > 0) fail(`${file} logs to the console: ${opened.said}`);

    const touched = await open(file, 390, "light", (page) => page.setViewport({ width: 390, height: 800, hasTouch: true, isMobile: true }));
    await hold(`${file}, touched`, touched);
    const session = await touched.page.createCDPSession();
    const chart = await touched.page.$("[data-chart=equity] canvas");
    await chart.scrollIntoView();
    const at = await chart.boundingBox();
    const touch = (type, ...xs) => session.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x: at.x + x, y: at.y + 80, id })) });
    await touch("touchStart", 150, 200);
    for (const apart of [10, 30, 50, 70]) await touch("touchMove", 150 - apart, 200 + apart);
    await touch("touchEnd");
    const pinched = await touched.page.evaluate(() => globalThis.candlewick.view.to - globalThis.candlewick.view.from);
    if (pinched > (to - from) * 0.7) fail("two fingers do not zoom");
  },

  // Drawn without console output or requests.
  async quiet(...files) {
    for (const file of files) {
      const opened = await open(file);
      await hold(file, opened);
      await opened.page.close();
    }
  },
};

try {
  await checks[check](...files);
} catch (error) {
  console.error(`page: ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
