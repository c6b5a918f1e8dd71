/* global byId, format, make */
// Tiles, tables and bars of the state. Foreign text is only set as text, never as markup.
import { clock, left, span } from "./clock.js";
import { Table } from "./lists.js";

const SVG = "http:" + "//www.w3.org/2000/svg";
const PHASES = {
  trading: "trading", blocked: "blocked", halted: "halted", suspended: "suspended", stopping: "stopping", silent: "not responding", not_running: "not running",
};
const number = "number";

/** Sets a text if it differs. */
const set = (id, text) => {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text;
};

const sign = (value) => (value > 0 ? "won" : value < 0 ? "lost" : "");
/** A price with eight digits and at least two decimals, without errors of binary fractions. @param {number | null | undefined} value */
const priceOf = (value) => {
  if (value === null || value === undefined) return "";
  const magnitude = value ? Math.floor(Math.log10(Math.abs(value))) : 0;
  return String(Number(value.toFixed(Math.min(Math.max(7 - magnitude, 2), 18))));
};

/** Label of a trade's state. @param {{ state: string, intent_id: number }} trade @param {{ in_doubt: number[] }} run */
const stateOf = (trade, run) => (trade.state !== "in_doubt" ? trade.state.replace("_", " ") : run.in_doubt.includes(trade.intent_id) ? "status unknown" : "sent");

class Views {
  /** @param {{ explain: (intent: number) => void, choose: (bot: number) => void }} on */
  constructor(on) {
    this.on = on;
    this.tiles = new Map();
    const table = (id, label, columns, empty) => new Table(byId(id), label, columns, empty);
    this.open = table("open-list", "Open trades", [
      { name: "trade" }, { name: "bot", className: "bot" }, { name: "symbol" }, { name: "direction" }, { name: "stake", className: number },
      { name: "open price", className: number }, { name: "payout", className: number }, { name: "state" }, { name: "closes", className: "count" },
    ], "No open trades.");
    this.bots = table("bot-list", "Bots", [
      { name: "bot", className: "bot" }, { name: "market" }, { name: "strategy" }, { name: "won", className: number }, { name: "lost", className: number },
      { name: "win rate", className: number }, { name: "break-even", className: number }, { name: "profit", className: number },
      { name: "drawdown", className: number }, { name: "trades/h", className: number }, { name: "verdict", className: "long" },
    ], "The run has no bots.");
    this.refusals = table("refusal-list", "Rejected signals by rule", [{ name: "rule" }, { name: "count", className: number }], "No rejected signals.");
    this.feeds = table("feed-list", "Candles by series", [
      { name: "series" }, { name: "last close, UTC" }, { name: "age", className: number }, { name: "median delay", className: number },
      { name: "90th percentile", className: number }, { name: "on time", className: number }, { name: "backfilled", className: number },
    ], "No candles yet.");
    this.notes = table("note-list", "Alarms and findings", [{ name: "time, UTC" }, { name: "kind" }, { name: "message", className: "long" }], "No alarms or findings.");
    this.troubles = table("trouble-list", "Venue problems", [{ name: "problem", className: "long" }], "Connection OK.");
  }

  show(state) {
    const { run } = state;
    const phase = state.phase === "trading" && state.all_blocked ? "blocked" : state.phase;
    document.title = `${PHASES[phase]} · Candlewick`;
    byId("phase").className = `badge ${phase}`;
    set("phase", PHASES[phase]);
    const what = run ? [run.trading ? `${run.trading} trades` : "", `run ${run.number}`, `${format.many(run.seq)} lines`] : [];
    const next = state.next_entry;
    if (next) what.push(`next scheduled signal: ${next.direction} of ${next.bot} at ${format.second(next.at)} UTC`);
    const why = state.halt ?? (state.reason ? `“${state.reason}”` : "");
    const lasting = state.blocked.filter(({ brief }) => !brief).map(({ text }) => text);
    set("subtitle", [state.journal, ...what, why, ...lasting].filter(Boolean).join(" · "));
    byId("halt").hidden = state.read_only || state.phase === "halted";
    byId("resume").hidden = state.read_only || !(state.halted || state.phase === "halted");
    byId("empty").hidden = Boolean(run || state.reading);
    set("empty-journal", state.journal);
    document.querySelector("main").hidden = !run;
    document.querySelector("nav").hidden = !run;
    if (!run) return;
    this.state = state;
    const { money } = run;
    const amount = (value) => format.fixed(value, money.decimals);
    this.tile("equity", "equity", amount(money.equity));
    this.tile("free", "free", amount(money.free));
    if (money.wallet_difference || this.tiles.has("wallet")) {
      const off = money.wallet_difference ? ` (${format.signed(money.wallet_difference, money.decimals)})` : "";
      this.tile("wallet", "wallet", `${amount(money.wallet)}${off}`, off ? sign(money.wallet_difference) : "");
    }
    this.tile("stakes", "at stake", amount(money.open_stakes));
    this.tile("today", "profit today", format.signed(money.profit_today, money.decimals), sign(money.profit_today));
    this.tile("drawdown", "drawdown", `${format.fixed(money.drawdown_percent, 2)} %`);
    this.tile("settled", "settled trades", format.many(run.settled));
    this.tile("heard", "last venue response", "");
    this.tile("age", "last journal line", "");
    this.showOpen(run, amount);
    this.showBots(run, amount);
    this.showLimits(run, amount);
    this.refusals.show(Object.entries(run.refusals).sort((a, b) => b[1] - a[1]).map(([rule, count]) => ({ key: rule, cells: [rule, format.many(count)] })));
    byId("signal-counts").hidden = state.signals.length === 0;
    const signals = byId("signal-counts").querySelector("p");
    const came = state.signals.map((line) => `${line}.`).join(" ");
    if (signals.textContent !== came) signals.textContent = came;
    this.notes.show([...run.notes].reverse().map(({ seq, at, kind, text }) => ({ key: seq, cells: [format.second(at), kind, text] })));
    this.troubles.show(state.troubles.map((text) => ({ key: text, cells: [{ text, className: "lost" }] })));
    set("blocked", state.blocked.map(({ text }) => `Rejects every signal: ${text}.`).join(" "));
    const counts = Object.entries(run.findings).map(([audit, count]) => `${audit} ${count}`);
    const [low, high] = (state.skew ?? []).map((ms) => (ms === null ? "any" : format.signed(ms, 0)));
    const skew = state.skew ? `Venue clock offset: ${low} to ${high} ms.` : "";
    set("finding-counts", `${format.plural(run.alarms, "alarm")}; audit findings: ${counts.length > 0 ? counts.join(", ") : "none"}. ${skew}`);
    this.tick();
  }

  tile(key, name, text, className = "") {
    let tile = this.tiles.get(key);
    if (!tile) {
      const box = make(byId("tiles"), "div");
      make(box, "dt", name);
      tile = make(box, "dd");
      tile.dataset.tile = key;
      this.tiles.set(key, tile);
    }
    if (text && tile.textContent !== text) tile.textContent = text;
    if (text) tile.className = className;
  }

  showOpen(run, amount) {
    this.open.show(run.open.map((trade) => ({
      key: trade.intent_id,
      cells: [
        { text: `#${trade.intent_id}`, press: () => this.on.explain(trade.intent_id), label: `Explain trade ${trade.intent_id}` },
        trade.bot, trade.symbol, trade.direction === "BUY" ? "▲ BUY" : "▼ SELL", amount(trade.amount), priceOf(trade.open_price),
        trade.payout === null ? "" : `${trade.payout} %`,
        { text: stateOf(trade, run), className: run.in_doubt.includes(trade.intent_id) ? "lost" : "" }, this.countdown(trade),
      ],
    })));
    const doubts = run.in_doubt.length;
    const words = [doubts > 0 ? `Orders of unknown status: ${run.in_doubt.map((intent) => `#${intent}`).join(", ")}.` : "", ...run.second_trades.map((text) => `At the venue: ${text}.`)];
    set("doubts", words.filter(Boolean).join(" "));
  }

  countdown(trade) {
    if (trade.close_time === null) return { text: "" };
    const bar = document.createElement("progress");
    bar.max = Math.max(1, trade.close_time - (trade.open_time ?? trade.decision_time));
    bar.setAttribute("aria-label", "time passed");
    const text = document.createElement("span");
    text.dataset.closes = trade.close_time;
    return { text: String(trade.close_time), parts: [bar, document.createTextNode(" "), text] };
  }

  showBots(run, amount) {
    const percent = (value) => (value === null ? "" : `${format.fixed(value, 1)} %`);
    const verdicts = {
      edge_shown: ["edge shown", "won"], edge_rejected: ["no edge", "lost"], edge_no_longer_held: ["no longer held", "lost"],
      not_enough_trades: ["not enough trades", ""],
    };
    this.bots.show(run.bots.map((bot, place) => {
      const [words, className] = verdicts[bot.verdict?.verdict] ?? ["", ""];
      const more = bot.verdict?.about_more_trades ? `, about ${format.many(bot.verdict.about_more_trades)} more` : "";
      return {
        key: bot.name,
        cells: [
          { text: bot.name, press: () => this.on.choose(place), label: `Show the edge of ${bot.name}` }, `${bot.symbol} ${bot.interval}, ${bot.close_type}`, bot.strategy,
          format.many(bot.won), format.many(bot.lost), percent(bot.win_rate), percent(bot.break_even),
          { text: format.signed(bot.pnl, run.money.decimals), className: sign(bot.pnl) }, amount(bot.drawdown), format.many(bot.trades_last_hour),
          { text: words + more, className },
        ],
      };
    }));
    set("gates", run.bots.filter((bot) => bot.gate).map((bot) => `Gate of ${bot.name} ${bot.gate}.`).join(" "));
  }

  showLimits(run, amount) {
    const units = { count: format.many, money: amount };
    const list = byId("limit-list");
    const text = JSON.stringify(run.limits);
    if (this.limits === text) return;
    this.limits = text;
    list.replaceChildren();
    for (const { bot, name, title, value, most, unit } of run.limits) {
      const share = Math.min(1, Math.max(0, value / most));
      make(list, "dt", bot === null ? title : `${bot}: ${title}`).title = bot === null ? `risk.${name}` : `risk.bots.${bot}.${name}`;
      const bar = document.createElementNS(SVG, "svg");
      bar.setAttribute("class", "track");
      bar.setAttribute("viewBox", "0 0 100 6");
      bar.setAttribute("preserveAspectRatio", "none");
      bar.setAttribute("aria-hidden", "true");
      const kind = share >= 1 ? "used full" : share >= 0.75 ? "used near" : "used";
      for (const [className, width] of /** @type {[string, number][]} */ ([["rail", 100], [kind, share * 100]])) {
        const part = bar.appendChild(document.createElementNS(SVG, "rect"));
        part.setAttribute("class", className);
        part.setAttribute("width", String(width));
        part.setAttribute("height", "6");
      }
      make(list, "dd", undefined, "bar").append(bar);
      make(list, "dd", `${units[unit](value)} of ${units[unit](most)}`, number);
    }
  }

  // Updates everything that depends only on the time.
  tick() {
    const { state } = this;
    if (!state) return;
    const now = clock.venue();
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-closes]"))) {
      const rest = Number(place.dataset.closes) - (now ?? state.run.last_event);
      const text = now === null ? `${format.second(Number(place.dataset.closes))} UTC` : rest > 0 ? left(rest) : "closed, awaiting settlement";
      if (place.textContent !== text) place.textContent = text;
      const bar = place.parentElement.querySelector("progress");
      bar.value = Math.max(0, bar.max - Math.max(0, rest));
    }
    const ago = (at) => (at === null ? "not yet" : now === null ? `${format.second(at)} UTC` : `${span(now - at)} ago`);
    this.tile("heard", "last venue response", clock.now === null ? "no bot running" : ago(clock.heard));
    this.tile("age", "last journal line", ago(state.run.last_event));
    const many = (ms) => (ms === null ? "" : `${format.many(ms)} ms`);
    this.feeds.show(state.run.feeds.map((feed) => ({
      key: feed.name,
      cells: [
        feed.name, feed.last_close === null ? "" : format.second(feed.last_close),
        now === null || feed.last_close === null ? { text: "" } : { text: span(now - feed.last_close), className: now - feed.last_close > 3 * feed.interval_ms ? "lost" : "" },
        many(feed.delay_p50), many(feed.delay_p90), format.many(feed.live), format.many(feed.backfilled),
      ],
    })));
  }
}

export { PHASES, Views, priceOf, set, stateOf };
