// Drives the dashboard; `.ci/dashboard` calls this in an empty folder. Takes the browser, the folder with puppeteer-core and axe-core, the
// program, and optionally a folder for screenshots.
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { axeOf } from "./axe.mjs";

const [, , executablePath, folder, program, pictures] = process.argv;
const require = createRequire(`${folder}/`);
const puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")))).default;
const axe = axeOf(require);
const PATIENCE = 60000;
const NAME = "<script>document.title='x'</script>";
/** Text of a hostile venue: the reason of refusals, and the name of an unknown trade. */
const MARKUP = "<img src=x onerror=document.title='x'><script>document.title='x'</script>";
/** Per-bot limits. */
const OWN = [[NAME, "max_open_trades = 2\nmax_loss_streak = 90"], ["second", "max_trades_per_day = 900\ndaily_loss_limit = 1000"]];

const fail = (text) => { throw new Error(text); };
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const until = async (what, holds, patience = PATIENCE) => {
  const begin = Date.now();
  let last;
  while (Date.now() - begin < patience) {
    try {
      last = await holds();
      if (last) return last;
    } catch (error) {
      last = error.message;
    }
    await pause(200);
  }
  return fail(`timeout after ${patience / 1000} s: ${what} (${last})`);
};

// ---- an attack
const ATTACK = 40000;
const memoryOf = (child) => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1024);
const sorted = (values) => [...values].sort((a, b) => a - b);
const middleOf = (values) => sorted(values)[values.length >> 1];
const spread = (values) => `${middleOf(values)} ms (at most ${sorted(values).at(-1)}, of ${values.length})`;

/** A thousand silent connections, readers that do not read, endless bodies, and forbidden requests. */
const attack = async (address) => {
  const [host, port] = address.split(":");
  const end = Date.now() + ATTACK;
  const counts = { idle: 0, slow: 0, large: 0, asked: 0 };
  const quiet = () => {};
  const open = (greeting) => {
    const socket = connect(Number(port), host);
    socket.on("error", quiet);
    if (greeting) socket.write(greeting);
    return socket;
  };
  const sockets = [];
  const again = async (ms, act) => { while (Date.now() < end) { await act(); await pause(ms); } };
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const ask = (method, path, headers, body) => new Promise((resolve) => {
    const asked = request({ host, port, method, path, headers, agent, timeout: 3000 }, (answer) => { answer.resume(); answer.on("end", resolve); answer.on("error", resolve); });
    asked.on("error", resolve);
    asked.on("timeout", () => asked.destroy());
    asked.on("close", resolve);
    asked.end(body);
  });
  await Promise.all([
    again(5000, () => { for (let i = 0; i < 125; i += 1) { counts.idle += 1; sockets.push(open()); } }),
    again(1000, () => { counts.slow += 1; const one = open(`GET /page.js HTTP/1.1\r\nHost: ${address}\r\n\r\n`.repeat(50)); one.pause(); sockets.push(one); }),
    again(250, () => { counts.large += 1; const one = open(`POST /api/orders HTTP/1.1\r\nHost: ${address}\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`); one.write("x".repeat(200000)); sockets.push(one); }),
    ...[["GET", "/../../etc/passwd"], ["GET", "/api/state"], ["POST", "/api/session"], ["GET", "/%2e%2e/run.db"]].map(([method, path]) => again(10, async () => {
      counts.asked += 1;
      await ask(method, path, { Host: counts.asked % 3 ? address : "evil.example", Origin: "http://evil.example", Cookie: "candlewick=replayed" }, method === "POST" ? '{"token":"guessed"}' : undefined);
    })),
  ]);
  for (const socket of sockets) socket.destroy();
  agent.destroy();
  return `${counts.idle} idle connections, ${counts.slow} stalled readers, ${counts.large} endless bodies, ${counts.asked} forbidden requests`;
};

// ---- a hostile venue
/** Relays everything to a venue except opens, which are refused with markup. The third open is lost, so that its trade is searched in a list whose ids
 * are markup. */
const hostileVenue = (base) => new Promise((resolve) => {
  const refused = (path) => ({ statusCode: 400, status: "error", timestamp: new Date().toISOString(), path, data: { message: MARKUP, error: MARKUP, statusCode: 400 } });
  const listed = (text) => JSON.stringify({ ...JSON.parse(text), data: JSON.parse(text).data.map((row) => ({ ...row, id: `${MARKUP}${row.id}` })) });
  let opens = 0;
  const server = createServer((asked, answer) => {
    const path = new URL(asked.url, base).pathname;
    const say = (status, type, text) => { answer.writeHead(status, { "content-type": type ?? "application/json" }); answer.end(text); };
    if (asked.method === "POST" && path.startsWith("/token/trades/open")) {
      opens += 1;
      if (opens === 3) {
        asked.socket.destroy();
        return;
      }
      asked.resume();
      asked.on("end", () => say(400, null, JSON.stringify(refused(path))));
      return;
    }
    const passed = request(new URL(asked.url, base), { method: asked.method, headers: { ...asked.headers, host: new URL(base).host } }, (got) => {
      const parts = [];
      got.on("data", (part) => parts.push(part));
      got.on("end", () => {
        const text = Buffer.concat(parts).toString();
        say(got.statusCode, got.headers["content-type"], asked.method === "GET" && path === "/token/trades" && got.statusCode === 200 ? listed(text) : text);
      });
    });
    passed.on("error", () => say(502, null, "{}"));
    asked.pipe(passed);
  });
  server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } }));
});

// ---- the programs
const children = new Set();
const environment = { ...process.env };
const start = (...words) => {
  const child = spawn(program, words, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.on("exit", () => children.delete(child));
  child.said = "";
  child.stderr.on("data", (bytes) => { child.said = (child.said + bytes).slice(-2000); });
  child.lines = [];
  createInterface({ input: child.stdout }).on("line", (line) => child.lines.push(line));
  return child;
};
const firstOf = (child) => until("a first line", () => child.lines[0] ?? (child.exitCode === null ? null : fail(child.said)));
const killed = (child) => new Promise((resolve) => {
  child.on("exit", resolve);
  child.kill("SIGKILL");
});
const told = (...words) => JSON.parse(execFileSync(program, [...words, "--json", "--quiet", "--config", "bot.toml"], { env: environment }).toString());

execFileSync(program, ["data", "generate", "--symbol", "BTCUSDT", "--interval", "5s", "--days", "2", "--seed", "1", "--quiet"]);
const sandbox = start("sandbox", "--listen", "127.0.0.1:0", "--data", "BTCUSDT_5s.csv", "--json");
const { base_url: base, token, api_key: key } = JSON.parse(await firstOf(sandbox));
Object.assign(environment, { CANDLEWICK_BROKER__API_TOKEN: token, CANDLEWICK_BROKER__API_KEY: key });
const bot = (name, params) => `[[bots]]\nname = ${JSON.stringify(name)}\nsymbol = "BTCUSDT"\ninterval = "5s"\nstrategy = "coin"\nclose_type = "00:15"\nparams = ${params}\n`;
writeFileSync("bot.toml", `[broker]\nbase_url = "${base}"\nprice_url = "${base}"\nrequests_per_second = 20\n[journal]\nurl = "sqlite://run.db"\n${
  bot(NAME, "{ seed = 1, share = 0.6 }")}${bot("second", "{ seed = 2, share = 0.9 }")}[risk]\nmax_drawdown_percent = 20\nallow_opposite = true\nallow_duplicate = true\ncooldown_after_loss_s = 0\ncooldown_after_losses = 0\nmax_loss_streak = 0\nmax_open_trades_per_symbol = 6\nmax_trades_per_hour = 500\n${
  OWN.map(([name, limits]) => `[risk.bots.${JSON.stringify(name)}]\n${limits}\n`).join("")}`);
const live = () => start("live", "--config", "bot.toml");
const dashboard = (...words) => start("dashboard", "--config", "bot.toml", "--json", ...words);

let trading = live();
const serving = dashboard();
const { link, address } = JSON.parse(await firstOf(serving));
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] });

const checks = async () => {
  const page = await browser.newPage();
  const [said, asked] = [[], []];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith(`http://${address}/`) && !request.url().startsWith("data:")) asked.push(request.url()); });
  await page.setViewport({ width: 1400, height: 900 });
  await page.goto(link);
  const look = (text) => page.evaluate((source) => new Function("shown", "charts", "known", `return ${source}`)(globalThis.candlewick.shown, globalThis.candlewick.charts, globalThis.candlewick.known), text);
  const waitFor = (what, text) => until(what, () => look(text));
  const press = (selector) => page.$eval(selector, (one) => one.click());
  const texts = (selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));

  console.log("- a candle arrives, a trade opens, counts down and settles");
  await waitFor("the page is drawn", "document.documentElement.dataset.ready === 'yes'");
  if (page.url().includes("token")) fail("the token remains in the address");
  await page.evaluate(() => { globalThis.sameDocument = true; });
  const bars = await waitFor("candles are drawn", "charts.prices.bars?.time.length");
  await waitFor("a candle arrives", `charts.prices.bars.time.length > ${bars}`);
  const readings = [];
  await until("a trade counts down", async () => {
    const [text] = await texts("[data-closes]");
    if (/^0:\d\d$/.test(text ?? "")) readings.push(Number(text.slice(2)));
    return readings.length > 1 && readings.at(-1) < readings[0];
  });
  await waitFor("a trade settles", "shown.state.run.settled > 0");

  console.log("- figures equal the journal");
  await until("figures equal the journal", async () => {
    const before = await look("shown.state.run.seq");
    const [status, trades] = [told("status"), told("trades")];
    const rows = await look("known.list().map((one) => [one.intent_id, one.result, one.pnl]).sort((a, b) => a[0] - b[0])");
    const state = await look("shown.state.run");
    if (state.seq !== before) return null; // the journal has grown meanwhile
    const theirs = (trades.trades ?? trades).map((one) => [one.intent_id, one.result, one.pnl]);
    const pairs = [[state.money.equity, status.equity], [state.money.free, status.balance], [state.settled, status.settled], [rows, theirs]];
    const text = (value) => JSON.stringify(value);
    return pairs.every(([one, other]) => text(one) === text(other)) || (status.entries === state.seq && fail(text(pairs)));
  });
  const cells = await texts("#bot-list td:first-child");
  if (cells[0] !== NAME || await page.title() === "x" || !(await page.title()).includes("Candlewick")) fail(`a name ran as a script: ${cells} ${await page.title()}`);

  console.log("- per-bot limits are bars with the figures of the journal");
  await until("limits of single bots", async () => {
    const [state, rows] = [await look("shown.state.run"), await texts("#limit-list dt")];
    const own = state.limits.filter((limit) => limit.bot !== null);
    const expected = [[NAME, "max_open_trades", 2], [NAME, "max_loss_streak", 90], ["second", "max_trades_per_day", 900], ["second", "daily_loss_limit", 1000]];
    const found = own.map(({ bot: whose, name, most }) => [whose, name, most]);
    if (JSON.stringify(found) !== JSON.stringify(expected)) fail(JSON.stringify(found));
    if (rows.filter((row) => row.startsWith(`${NAME}: `)).length !== 2 || (await page.$$("#limit-list svg")).length !== state.limits.length) fail(rows);
    const trades = told("trades");
    const today = (trades.trades ?? trades).filter((one) => one.bot === "second" && !["rejected", "not_sent", "not_opened"].includes(one.state)).length;
    return (await look("shown.state.run.seq")) === state.seq && own[2].value === today;
  });

  console.log("- after any gap, lists are complete, up to date and bounded");
  const holes = await page.evaluate(async () => {
    const [{ KnownTrades }, { JournalLines }] = [await import("/known_trades.js"), await import("/journal_lines.js")];
    const problems = [];
    const trade = (intent, state) => ({ intent_id: intent, state, result: state === "open" ? null : "WON" });
    const all = [];
    const grow = (count, state = "settled") => { for (let i = 0; i < count; i += 1) all.push(trade(all.length + 1, state)); };
    const list = new KnownTrades(async (path) => {
      const asked = new URL(path, location.origin).searchParams;
      const trades = all.slice(0, Number(asked.get("before") ?? 1e9) - 1).slice(-Number(asked.get("limit"))).reverse();
      return { trades, before: trades.length > 0 && trades.at(-1).intent_id > 1 ? trades.at(-1).intent_id : null };
    });
    const check = (what, least) => {
      const ids = list.list().map((one) => one.intent_id);
      const isWhole = ids[0] === all.length && ids.every((id, place) => id === all.length - place);
      const isAll = ids.length === all.length ? !list.hasEarlier() : list.before === ids.at(-1);
      if (!isWhole || !isAll || ids.length < least || ids.length > 1000) problems.push(`${what}: ${ids.length} trades from ${ids[0]} to ${ids.at(-1)}, then ${list.before}`);
    };
    const refresh = () => list.refresh(all.filter(({ state }) => state === "open"));
    grow(1, "open");
    await refresh();
    grow(59);
    await refresh();
    grow(300);
    await refresh();
    check("300 missed", 360);
    all[0] = trade(1, "settled");
    await refresh();
    if (list.list().at(-1).state !== "settled") problems.push("the first trade has ended but is shown as open");
    grow(5000);
    await Promise.all([refresh(), refresh(), refresh()]);
    check("5,000 missed", 60);
    for (let i = 0; i < 20; i += 1) {
      grow(70);
      await refresh();
      await list.earlier();
    }
    check("earlier ones requested", 1000);

    const lines = new JournalLines(document.createElement("ol"), document.createElement("button"));
    const line = (seq) => ({ seq, kind: "note", at: 0, text: "" });
    const page = (from, count) => Array.from({ length: count }, (_, i) => line(from + i));
    lines.take({ missed: 0, lines: page(100000, 100) });
    for (let i = 1; i < 30; i += 1) lines.take({ missed: 7, lines: page(100000 + i * 107, 100) });
    if (lines.shown.size !== 400 || lines.list.childElementCount !== 400) problems.push(`${lines.shown.size} lines are retained`);
    while (!lines.button.hidden) {
      const before = lines.before();
      lines.takeEarlier({ lines: page(before - 100, 100).reverse(), before: before - 100 });
    }
    for (let i = 30; i < 60; i += 1) lines.take({ missed: 7, lines: page(100000 + i * 107, 100) });
    const numbers = [...lines.list.children].map((one) => Number(one.dataset.seq));
    if (lines.shown.size !== 2000 || numbers.length !== 2000) problems.push(`${lines.shown.size} requested lines are retained`);
    if (numbers.some((seq, place) => place > 0 && seq >= numbers[place - 1]) || lines.before() !== Math.ceil(numbers.at(-1))) problems.push(`lines are out of order, or continue before ${lines.before()}`);
    return problems;
  });
  if (holes.length > 0) fail(holes.join("; "));

  console.log("- a trade and a moment are explained");
  await press("#trade-list tbody tr:last-child td:first-child button");
  await until("an explanation", async () => /decision/.test(await page.$eval("#told-text", (one) => one.textContent)));
  await press("#told-close");
  await press("#why-form button");
  await until("a reason", async () => /BTCUSDT|candle/.test(await page.$eval("#told-text", (one) => one.textContent)));
  await press("#told-close");

  console.log("- halt: no new open; resume");
  await page.keyboard.press("Escape");
  await page.focus("#halt");
  await page.keyboard.press("Enter");
  await page.keyboard.type("a look at the page");
  await page.keyboard.press("Enter");
  // The bot reports its phase at once; journal lines are read four times a second. `halted` comes from the line of the halt itself: with it
  // the page has all earlier lines, and so every decision.
  await waitFor("it is halted", "shown.state.phase === 'halted' && shown.state.reason === 'a look at the page' && shown.state.halted");
  const intents = await look("shown.state.run.intents");
  const close = await look("shown.state.run.feeds[0].last_close");
  await waitFor("new candles arrive", `shown.state.run.feeds[0].last_close >= ${close} + 15000`);
  if (await look("shown.state.run.intents") !== intents) fail("a trade was opened while halted");
  await press("#resume");
  await press("#confirm-yes");
  await waitFor("it opens trades again", `shown.state.phase === 'trading' && shown.state.run.intents > ${intents}`);

  console.log(`- attacked for ${ATTACK / 1000} s: the bot opens without delay or memory growth, and the page continues`);
  const opened = (after) => {
    const trades = told("trades");
    return (trades.trades ?? trades).filter((one) => one.intent_id > after && one.open_time !== null).map((one) => one.request_time - one.decision_time);
  };
  const before = { delays: opened(0), memory: memoryOf(trading), served: memoryOf(serving), intents: await look("shown.state.run.intents"), close: await look("shown.state.run.feeds[0].last_close"), backfilled: await look("shown.state.run.feeds[0].backfilled") };
  const attacks = await attack(address);
  const after = { delays: opened(before.intents), memory: memoryOf(trading), served: memoryOf(serving) };
  const feed = await look("shown.state.run.feeds[0]");
  console.log(`  decision to order: ${spread(before.delays)} before, ${spread(after.delays)} during the attack; memory of the bot: ${before.memory} and ${after.memory} MB, of the dashboard: ${before.served} and ${after.served} MB; ${attacks}`);
  if (after.delays.length < 3) fail(`the bot hardly traded during the attack: ${JSON.stringify(await look("shown.state.run.refusals"))}`);
  if (middleOf(after.delays) > middleOf(before.delays) + 150) fail("opens were delayed during the attack");
  if (after.memory > before.memory * 1.1 + 8) fail("the bot's memory grew during the attack");
  if (after.served > before.served * 1.2 + 32) fail("the dashboard's memory grew during the attack");
  if (feed.last_close < before.close + ATTACK * 0.8) fail("the page stopped during the attack");
  if (feed.backfilled > before.backfilled) fail(`candles were late during the attack: ${JSON.stringify(feed)}`);

  console.log("- layout: nothing cut off, no serious axe violation");
  if (pictures) mkdirSync(pictures, { recursive: true });
  for (const width of [1400, 820, 390]) {
    for (const theme of ["light", "dark"]) {
      const what = `${width} px, ${theme}`;
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await pause(400);
      const cut = await page.evaluate(() => {
        const scrolls = (one) => one && one !== document.body && (/auto|scroll/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
        const isCut = (one) => {
          const box = one.getBoundingClientRect();
          const most = Math.min(innerWidth, one.closest("section")?.getBoundingClientRect().right ?? innerWidth);
          return box.width > 0 && (box.left < -0.5 || box.right > innerWidth + 0.5 || (box.right > most + 0.5 && !scrolls(one)));
        };
        return [...document.querySelectorAll("body *")].filter((one) => !one.closest(".unseen, dialog") && isCut(one)).map((one) => one.outerHTML.slice(0, 140));
      });
      // The list is hidden while the bot does not respond, as on a loaded machine.
      const widths = () => page.$$eval("#limit-list dd.bar", (all) => all.map((one) => one.getBoundingClientRect().width));
      const areUnseen = (all) => all.length === 0 || all.some((length) => length < 60);
      let bars = await widths();
      for (let tries = 0; tries < 40 && areUnseen(bars); tries++) {
        await pause(250);
        bars = await widths();
      }
      if (areUnseen(bars)) fail(`${what}: the bars of limits are not visible: ${bars}`);
      if (pictures) await page.screenshot({ path: `${pictures}/dashboard-${width}-${theme}.png`, fullPage: true });
      // No name overlaps its neighbour, and no column of these lists is hidden.
      cut.push(...await page.evaluate(() => [
        ...[...document.querySelectorAll("td")].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => `overflowing cell: ${one.textContent}`),
        ...["bot-list", "trade-list"].map((id) => document.getElementById(id)).filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => `needs horizontal scrolling: #${one.id}`),
      ]));
      if (cut.length > 0) fail(`${what} is cut off: ${cut.slice(0, 3).join("\n")}`);
      const serious = await axe.serious(page);
      if (serious) fail(`${what}, axe: ${serious}`);
    }
  }
  await page.setViewport({ width: 1400, height: 900 });

  console.log("- the bot is killed and restarted: the page continues");
  await killed(trading);
  await waitFor("no bot runs", "['not_running', 'silent'].includes(shown.state.phase) && !document.getElementById('banner').hidden");
  const seq = await look("shown.state.run.seq");
  trading = live();
  await waitFor("it trades again", `shown.state.phase === 'trading' && shown.state.run.runs === 2 && shown.state.run.seq > ${seq}`);
  if (!await page.evaluate(() => globalThis.sameDocument)) fail("the page was reloaded");
  if (said.length > 0) fail(`the page logs to the console: ${said}`);
  if (asked.length > 0) fail(`the page requests ${asked}`);

  console.log("- the page is killed: trading continues");
  await killed(serving);
  await waitFor("the page says that it is old", "document.getElementById('banner').textContent.includes('does not respond')");
  const { entries } = told("status");
  await until("the bot continues trading", () => { const now = told("status"); return now.bot?.phase === "trading" && now.entries > entries + 3; });

  console.log("- a new dashboard at the same address: the old cookie is invalid, the new link signs in, and the page continues");
  const again = dashboard("--listen", address, "--read-only");
  const { link: next } = JSON.parse(await firstOf(again));
  await until("not signed in", async () => /Not signed in/.test(await page.$eval("#banner", (one) => one.textContent)));
  const other = await browser.newPage();
  await other.goto(next);
  await waitFor("the page reconnects", `document.getElementById('banner').hidden && shown.state.read_only && document.getElementById('halt').hidden`);
  if (!await page.evaluate(() => globalThis.sameDocument)) fail("the page was reloaded");

  await checkMarkup();
};

/** Runs another bot whose venue sends markup in every text. */
const checkMarkup = async () => {
  console.log("- scripts in venue texts (reason of a refusal, name of a trade) are shown as text");
  const venue = await hostileVenue(base);
  writeFileSync("harm.toml", `[broker]\nbase_url = "${venue.url}"\nprice_url = "${venue.url}"\nrequests_per_second = 20\n[journal]\nurl = "sqlite://harm.db"\n${bot("harmed", "{ seed = 3, share = 0.9 }")}stake = { kind = "fixed", amount = 7 }\n[risk]\nrefused_by_venue_pause_s = 1\nmax_open_trades_per_symbol = 6\nallow_opposite = true\nallow_duplicate = true\n`);
  const [trading, serving] = [start("live", "--config", "harm.toml"), start("dashboard", "--config", "harm.toml", "--json")];
  const { link, address } = JSON.parse(await firstOf(serving));
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (asked) => { if (new URL(asked.url()).pathname === "/x") said.push(`it requests ${asked.url()}`); });
  await page.setViewport({ width: 1400, height: 900 });
  await page.goto(link);
  const text = (selector) => page.$eval(selector, (one) => one.textContent);
  const shows = (what, selector, expected, patience) => until(what, async () => (await text(selector)).includes(expected), patience);
  await shows("the reason of a refusal among the journal's lines", "#lines", `"rejection":{"refused":{"reason":"other","text":"${MARKUP}"}}`);
  const first = "#trade-list button[aria-label='Explain trade 1']";
  await until("a refused trade in the list", () => page.$(first));
  await page.$eval(first, (one) => one.click());
  await shows("the reason in an explanation", "#told-text", MARKUP);
  await page.$eval("#told-close", (one) => one.click());
  // An unexplained trade is reported once no intent in doubt can have made it.
  await shows("the name of a trade among the alarms", "#note-list", `trade ${MARKUP}`, 3 * PATIENCE);
  const made = await page.evaluate(() => [...document.querySelectorAll("img, script:not([src])")].map((one) => one.outerHTML));
  if (made.length > 0) fail(`a venue's text became markup: ${made}`);
  if (await page.title() === "x") fail("a venue's text ran as a script");
  if (said.length > 0) fail(`with markup from a venue, the page at ${address} logs: ${said}`);
  await page.close();
  await Promise.all([killed(trading), killed(serving)]);
  venue.close();
};

try {
  await checks();
  console.log("dashboard: all checks passed");
} catch (error) {
  console.error(`dashboard: ${error.message}`);
  for (const child of children) if (child.said) console.error(child.said);
  process.exitCode = 1;
} finally {
  await browser.close();
  for (const child of children) child.kill("SIGKILL");
}
