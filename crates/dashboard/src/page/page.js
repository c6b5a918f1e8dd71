/* global Chart, byId, format, listen, make */
// Sets up the page: state, views and user requests.
import { clock } from "./clock.js";
import { Connection, ask, signIn } from "./connection.js";
import { JournalLines } from "./journal_lines.js";
import { KnownTrades } from "./known_trades.js";
import { Table } from "./lists.js";
import { EdgeChart, EquityChart, LivePrices, LiveWindow } from "./live_charts.js";
import { listenToOrders } from "./orders.js";
import { PHASES, Views, priceOf, set, stateOf } from "./views.js";

const root = document.documentElement;

// ---- the theme
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
const shown = { state: null, bot: 0, whose: null };
const known = new KnownTrades(ask);
const charts = { all: [], prices: null, equity: null, edge: null, window: null };
const showTheme = () => {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  for (const chart of charts.all) chart.redraw();
};
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
dark.addEventListener("change", showTheme);

// ---- announcements and problems
let saidUntil = 0;
let saying = "";
const say = (text) => {
  saying = text;
  saidUntil = performance.now() + 12000;
  set("spoken", text);
  showBanner();
};
const showBanner = () => {
  const { state } = shown;
  const trouble = connection?.trouble();
  const words = [];
  if (trouble) words.push(trouble);
  else if (state?.problem) words.push(`The journal cannot be read: ${state.problem}.`);
  else if (state?.recent && state.reading) words.push(`Reading older entries: ${format.many(state.reading[0])} of ${format.many(state.reading[1])}. Curves, older candles and rejections follow.`);
  else if (state?.reading) words.push(`Reading the journal: ${format.many(state.reading[0])} of ${format.many(state.reading[1])} lines.`);
  else if (state?.phase === "not_running") words.push("No bot is running. The page shows the journal.");
  else if (state?.phase === "silent") words.push(`A process holds the journal but does not respond: ${state.holder ?? "unknown"}.`);
  else if (state?.troubles.length) words.push(`Venue problem: ${state.troubles.join("; ")}.`);
  byId("banner").className = state?.troubles.length ? "bad" : "";
  if (performance.now() < saidUntil) words.push(saying);
  byId("banner").hidden = words.length === 0;
  set("banner", words.join(" "));
  root.dataset.old = trouble ? "yes" : "no";
};

// ---- explanations
/** Shows a report: its sentences wrap, its tables scroll. Blocks are separated by an empty line; the heading of a table has columns. */
const showReport = (text) => {
  const place = byId("told-text");
  place.replaceChildren();
  for (const block of text.split(/\n{2,}/)) {
    const part = make(place, "pre", block);
    if (/\S {2,}\S/.test(block.split("\n")[0])) {
      part.className = "table";
      part.tabIndex = 0;
    }
  }
};
const tell = async (title, path) => {
  set("told-title", title);
  showReport("Reading the journal…");
  byId("told").showModal();
  try {
    showReport((await ask(path)).text);
  } catch (error) {
    showReport(error.message);
  }
};
const explain = (intent) => tell(`Trade #${intent}`, `/api/trades/${intent}`);
byId("why-at").addEventListener("input", () => { shown.isAsked = true; });
byId("why-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const at = Date.parse(`${byId("why-at").value}Z`);
  if (Number.isFinite(at)) tell(`Why no trade at ${format.second(at)} UTC`, `/api/why?at=${at}`);
});

// ---- trades
const tradeTable = new Table(byId("trade-list"), "Trades", [
  { name: "trade" }, { name: "decided, UTC" }, { name: "bot", className: "bot" }, { name: "symbol" }, { name: "direction" }, { name: "stake", className: "number" },
  { name: "open", className: "number" }, { name: "close", className: "number" }, { name: "payout", className: "number" }, { name: "result" },
  { name: "profit", className: "number" }, { name: "" },
], "No trades yet.");
const chartTrade = (trade) => {
  const bot = shown.contents.bots.findIndex(({ name }) => name === trade.bot);
  return {
    bot, decided: trade.decision_time, opened: trade.open_time, closes: trade.close_time, closed: trade.result === null ? null : trade.close_time,
    side: trade.direction, amount: trade.amount, open: trade.open_price, close: trade.close_price, payout: trade.payout, result: trade.result,
    pnl: trade.pnl, reason: trade.reason, at: trade.open_time ?? trade.decision_time,
    outcome: trade.result === null ? "open" : trade.result.toLowerCase(),
  };
};
const lookAt = (trade) => {
  const place = shown.contents.bots.findIndex(({ name }) => name === trade.bot);
  if (place < 0 || !charts.prices) return;
  chooseSeries(shown.contents.bots[place].series);
  const [from, to] = [trade.decision_time, trade.close_time ?? trade.decision_time];
  const room = Math.max(charts.prices.series.levels[0].length * 60, (to - from) * 3);
  charts.window.show((from + to) / 2 - room / 2, (from + to) / 2 + room / 2);
  byId("prices").scrollIntoView({ block: "start" });
};
const showTrades = () => {
  const decimals = shown.state.run.money.decimals;
  const trades = known.list();
  tradeTable.show(trades.map((trade) => ({
    key: trade.intent_id,
    cells: [
      { text: `#${trade.intent_id}`, press: () => explain(trade.intent_id), label: `Explain trade ${trade.intent_id}` }, format.second(trade.decision_time), trade.bot,
      trade.symbol, trade.direction === "BUY" ? "▲ BUY" : "▼ SELL", format.fixed(trade.amount, decimals), priceOf(trade.open_price), priceOf(trade.close_price),
      trade.payout === null ? "" : `${trade.payout} %`,
      { text: trade.result?.toLowerCase() ?? stateOf(trade, shown.state.run), className: trade.result?.toLowerCase() ?? "" },
      { text: trade.pnl === null ? "" : format.signed(trade.pnl, decimals), className: trade.pnl > 0 ? "won" : trade.pnl < 0 ? "lost" : "" },
      { text: "show", press: () => lookAt(trade), label: `Show trade ${trade.intent_id} in the chart` },
    ],
  })));
  byId("earlier-trades").hidden = !known.hasEarlier();
  charts.prices?.setTrades(trades.map(chartTrade).filter(({ bot }) => bot >= 0));
};
const fetchTrades = () => known.refresh(shown.state.run.open).then(showTrades);
byId("earlier-trades").addEventListener("click", () => known.earlier().then(showTrades).catch((error) => say(error.message)));

// ---- the journal's lines
const journal = new JournalLines(byId("lines"), byId("earlier-lines"));
byId("earlier-lines").addEventListener("click", async () => {
  const before = journal.before();
  try {
    journal.takeEarlier(await ask(`/api/lines?limit=100${before ? `&before=${before}` : ""}`));
  } catch (error) {
    say(error.message);
  }
});

// ---- the charts
const chooseSeries = (number) => {
  charts.prices.choose(number);
  const select = byId("controls").querySelector("select");
  if (select) select.value = String(number);
  showTrades();
  charts.window.changed();
};
const chooseBot = (place) => {
  shown.bot = place;
  const bot = shown.state.run.bots[place];
  if (!bot) return;
  set("edge-title", `Edge of ${bot.name}`);
  set("verdict-words", bot.words ?? "");
  charts.edge.refresh(place).catch(() => {});
};
const contentsOf = (run) => {
  const series = run.feeds.map((feed) => ({ name: feed.name, decimals: feed.decimals, levels: feed.levels.map((level) => ({ ...level })) }));
  const bots = run.bots.map(({ name, symbol, interval }) => ({ name, series: run.feeds.findIndex((feed) => feed.symbol === symbol && feed.interval === interval) }));
  return { series, bots, money: run.money.decimals };
};
// Selection of one bot or all, if there are several.
const chooseAmong = (place, label, run, choose) => {
  if (run.bots.length < 2) return;
  const select = make(byId(place), "select");
  select.setAttribute("aria-label", label);
  select.add(new Option("all bots", ""));
  for (const [number, { name }] of run.bots.entries()) select.add(new Option(name, String(number)));
  select.addEventListener("change", () => choose(select.value === "" ? null : Number(select.value)));
};
const makeCharts = (run) => {
  chooseAmong("equity-controls", "Equity of", run, (place) => {
    shown.whose = place;
    charts.equity.refresh(place).catch(() => {});
  });
  chooseAmong("trade-controls", "Trades of", run, (place) => {
    known.of(place === null ? null : run.bots[place].name);
    fetchTrades().catch((error) => say(error.message));
  });
  shown.contents = contentsOf(run);
  charts.equity = new EquityChart(byId("equity-chart"), run.money.decimals);
  charts.edge = new EdgeChart(byId("edge-chart"));
  charts.all = [charts.equity.chart, charts.edge.chart];
  if (shown.contents.series.length === 0) return;
  charts.window = new LiveWindow(0, 1);
  charts.prices = new LivePrices(shown.contents, () => charts.window.changed(), charts.window);
  const chart = new Chart(byId("prices-chart"), {
    axis: { kind: "time", from: 0, to: 1, title: "" },
    panes: [{ title: "Candles and trades", height: 320, decimals: shown.contents.series[0].decimals, unit: "", layers: [{ kind: "prices" }] }],
  }, { columns: (column) => column, prices: charts.prices, window: charts.window });
  listen(chart);
  charts.all.push(chart);
  const place = byId("controls");
  if (shown.contents.series.length > 1) {
    const select = make(place, "select");
    select.setAttribute("aria-label", "Prices");
    for (const [number, { name }] of shown.contents.series.entries()) select.add(new Option(name, String(number)));
    select.addEventListener("change", () => chooseSeries(Number(select.value)));
  }
  for (const [text, label, press] of [
    ["Newest", "Newest candles", () => charts.window.show(charts.window.max - charts.prices.series.levels[0].length * 90, charts.window.max)],
    ["+", "Zoom in", () => charts.window.scale(0.4)], ["−", "Zoom out", () => charts.window.scale(2.5)],
    ["←", "Earlier", () => charts.window.move(-0.5)], ["→", "Later", () => charts.window.move(0.5)],
  ]) {
    const button = make(place, "button", text);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.addEventListener("click", press);
  }
  charts.window.listeners.push(() => {
    const seen = charts.prices.bars ? ` · bars of ${format.length(charts.prices.bars.length)}` : "";
    set("prices-status", `${charts.prices.series.name} · ${format.second(charts.window.from)} to ${format.second(charts.window.to)} UTC${seen}`);
  });
};
const growPrices = (run) => {
  const { series } = shown.contents;
  const levels = run.feeds.map(({ levels }) => levels);
  series.forEach((one, i) => one.levels.forEach((level, j) => Object.assign(level, levels[i]?.[j] ?? {})));
  run.feeds.forEach(({ decimals }, i) => { if (series[i]) series[i].decimals = decimals; });
  const times = series.flatMap((one) => one.levels.map(({ from }) => from)).filter((from) => from !== null);
  if (times.length === 0) return;
  const length = series[0].levels[0].length;
  const closes = run.open.map(({ close_time: close }) => close ?? 0);
  const ends = run.feeds.map(({ last_close: last }) => last ?? 0);
  charts.window.limit === undefined || (charts.window.least = length * 10);
  charts.window.grow(Math.min(...times), Math.max(...ends, ...closes) + length * 3, length * 90);
};

// ---- state updates
const announce = (state, before) => {
  if (!before) return;
  if (before.phase !== state.phase) set("spoken", `Bot: ${PHASES[state.phase]}.`);
  else if (state.run && before.run && state.run.settled > before.run.settled) set("spoken", `${format.plural(state.run.settled, "trade")} settled.`);
};
const isAnother = (before, after) => {
  const names = (state) => JSON.stringify([state.run.feeds.map(({ name }) => name), state.run.bots.map(({ name }) => name)]);
  return before?.run && after.run && names(before) !== names(after);
};
const views = new Views({ explain, choose: chooseBot });
const onState = (state) => {
  const before = shown.state;
  // Reloads the page if the bots or the journal have changed.
  if (isAnother(before, state) || (before?.run && state.run && state.run.seq < before.run.seq && !state.reading)) return location.reload();
  shown.state = state;
  views.show(state);
  announce(state, before);
  showBanner();
  const { run } = state;
  if (!run) return undefined;
  if (!charts.equity) makeCharts(run);
  const quiet = () => {};
  const key = (name, value) => {
    const text = JSON.stringify(value);
    const isNew = shown[name] !== text;
    shown[name] = text;
    return isNew;
  };
  // Failed requests are repeated with the next state.
  if (key("keyTrades", [run.intents, run.settled, run.open])) fetchTrades().catch(() => { shown.keyTrades = null; });
  if (key("keyEquity", [run.settled, state.generation, state.recent])) {
    charts.equity.refresh(shown.whose).catch(quiet);
    chooseBot(shown.bot);
  }
  if (charts.prices && key("keyFeeds", [run.feeds.map(({ last_close: last, levels }) => [last, levels]), run.refusals, run.open, state.recent])) {
    growPrices(run);
    charts.prices.refresh().catch(quiet);
  }
  if (!shown.isAsked) byId("why-at").value = new Date(Math.ceil(run.last_event / 1000) * 1000).toISOString().slice(0, 19);
  root.dataset.ready = "yes";
  return undefined;
};

let connection = null;
listenToOrders(say);
showTheme();
try {
  await signIn();
} catch (error) {
  say(error.message);
}
connection = new Connection({ state: onState, lines: (news) => journal.take(news), clock: (told) => { clock.set(told); views.tick(); showBanner(); }, lost: say });
setInterval(() => {
  views.tick();
  showBanner();
}, 250);
// For scripts that drive this page.
Object.assign(window, { candlewick: { shown, known, charts, clock, connection } });
