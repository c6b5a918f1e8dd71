/* global Chart, Prices, TimeWindow, format, listen, firstFrom */
// The charts of the report, for growing data.
import { ask } from "./connection.js";

/** A window that follows the newest data unless it was moved. */
class LiveWindow extends TimeWindow {
  grow(min, max, first) {
    const isNew = this.isFresh !== false;
    const isAtEnd = this.to >= this.max - 1;
    const isAll = this.isAll;
    const length = this.to - this.from;
    this.min = min;
    this.max = Math.max(max, min + this.least);
    if (isNew) {
      this.isFresh = false;
      this.show(Math.max(min, this.max - first), this.max);
    } else if (isAll && first === Infinity) this.all();
    else if (isAtEnd) this.show(this.max - length, this.max);
    else this.changed();
  }
}

/** Candles loaded by level, with trades and rejected signals. */
class LivePrices extends Prices {
  constructor(contents, changed, window) {
    super(contents, [], changed);
    this.window = window;
    this.marks = [];
  }

  levelFor(span, width) {
    const { levels } = this.series;
    const most = Math.max(90, width / 2.4);
    const from = this.window?.from ?? 0;
    const fits = (level) => Math.min(level.count, span / level.length) <= most && (level.whole || (level.from ?? 0) <= from + level.length);
    return levels.find(fits) ?? levels[levels.length - 1];
  }

  path(level, from) {
    const series = this.contents.series.indexOf(this.series);
    return `/api/candles?series=${series}&level=${this.series.levels.indexOf(level)}&from=${from}`;
  }

  async load(level) {
    try {
      return await ask(this.path(level, 0));
    } catch {
      return { length: level.length, time: [], open: [], high: [], low: [], close: [] };
    }
  }

  // Loads new bars. Reloads the last bar, because it may have grown.
  async refresh() {
    const { level, bars, series } = this;
    if (!level || !bars) return;
    const from = bars.time.length > 0 ? bars.time[bars.time.length - 1] : 0;
    const [news, marks] = await Promise.all([ask(this.path(level, from)), ask(`/api/marks?series=${this.contents.series.indexOf(series)}`)]);
    if (this.level !== level || this.bars !== bars || this.series !== series) return;
    const keep = firstFrom(bars.time.length, (i) => bars.time[i], from);
    for (const name of ["time", "open", "high", "low", "close"]) bars[name].splice(keep, Infinity, ...news[name]);
    while (bars.time.length > 3000) for (const name of ["time", "open", "high", "low", "close"]) bars[name].shift();
    this.marks = marks;
    this.changed();
  }

  setTrades(trades) {
    this.trades = trades;
    const place = this.contents.series.indexOf(this.series);
    this.ours = trades.filter((trade) => this.contents.bots[trade.bot]?.series === place).sort((a, b) => a.at - b.at);
    this.changed();
  }

  choose(number) {
    super.choose(number);
    this.marks = [];
    this.level = null;
  }

  draw(g, view) {
    super.draw(g, view);
    if (!this.bars || !this.areMarked) return;
    g.strokeStyle = view.colour("--quiet");
    g.lineWidth = 1.4;
    for (const { at } of this.marks) {
      if (at < view.from || at > view.to) continue;
      const i = firstFrom(this.bars.time.length, (i) => this.bars.time[i], at) - 1;
      if (i < 0) continue;
      const [x, y] = [view.x(at), view.y(this.bars.close[i])];
      g.beginPath();
      g.moveTo(x - 3, y - 3);
      g.lineTo(x + 3, y + 3);
      g.moveTo(x - 3, y + 3);
      g.lineTo(x + 3, y - 3);
      g.stroke();
    }
    // Draws a line from each open trade to its scheduled close.
    g.setLineDash([3, 3]);
    for (const { open, at, closes, outcome } of this.seen) {
      if (outcome !== "open" || open === null || closes === null) continue;
      g.beginPath();
      g.moveTo(view.x(at), view.y(open));
      g.lineTo(view.x(closes), view.y(open));
      g.stroke();
    }
    g.setLineDash([]);
  }

  read(x) {
    const found = super.read(x);
    const bars = this.bars;
    const i = bars ? firstFrom(bars.time.length, (i) => bars.time[i], x + 1e-9) - 1 : -1;
    if (!found || i < 0) return found;
    const refused = this.marks.filter(({ at }) => at > bars.time[i] && at <= bars.time[i] + bars.length);
    for (const { direction, rule, bot } of refused.slice(0, 3)) found.rows.push(["rejected", `${direction} of ${bot}: ${rule}`]);
    return found;
  }
}

const COLUMNS = { columns: (column) => column };

/** Replaces the contents of an array that charts refer to. */
const refill = (array, values) => array.splice(0, array.length, ...values);

/** Equity and drawdown over time. */
class EquityChart {
  constructor(place, decimals) {
    this.columns = { time: [], equity: [], low: [], high: [], drawdown: [] };
    const { time, equity, low, high, drawdown } = this.columns;
    this.window = new LiveWindow(0, 1);
    const line = { kind: "line", x: time, y: equity, name: "equity", colour: "--accent", is_stepped: true };
    const fall = { kind: "line", x: time, y: drawdown, name: "drawdown", colour: "--bad", is_stepped: true, is_filled: true };
    const band = { kind: "band", x: time, low, high, name: "" };
    this.chart = new Chart(place, {
      axis: { kind: "time", from: 0, to: 1, title: "" },
      panes: [
        { title: "Equity", height: 190, decimals, unit: "", layers: [band, line] },
        { title: "Drawdown", height: 80, decimals, unit: "", layers: [fall] },
      ],
    }, { ...COLUMNS, prices: null, window: this.window });
    listen(this.chart);
  }

  /** @param {number | null} bot index, or null for all bots */
  async refresh(bot) {
    const told = await ask(bot === null ? "/api/equity" : `/api/equity?bot=${bot}`);
    for (const name of Object.keys(this.columns)) refill(this.columns[name], told[name]);
    const { time } = this.columns;
    if (time.length > 0) this.window.grow(time[0], Math.max(time[time.length - 1], time[0] + 60000), Infinity);
    this.chart.redraw();
  }
}

/** The interval of a bot's edge as it narrows, with break-even at 0. */
class EdgeChart {
  constructor(place) {
    this.columns = { trades: [], low: [], high: [], middle: [] };
    const { trades, low, high } = this.columns;
    const line = (y, name) => ({ kind: "line", x: trades, y, name, colour: "--accent" });
    this.chart = new Chart(place, {
      axis: { kind: "number", title: "trades", is_counted: true },
      panes: [{
        title: "95 % interval of the edge, % of the stake", height: 190, decimals: 2, unit: " %",
        layers: [
          { kind: "band", x: trades, low, high, name: "95 % interval" }, line(low, "lower bound"), line(high, "upper bound"),
          { kind: "level", value: 0, name: "break-even" },
        ],
      }],
    }, { ...COLUMNS, prices: null, window: null });
    for (const layer of this.chart.panes[0].layers) {
      layer.across = () => (trades.length > 0 ? [Math.min(0, trades[0]), Math.max(10, trades[trades.length - 1])] : [0, 10]);
    }
    this.chart.redraw();
    listen(this.chart);
  }

  async refresh(bot) {
    const told = await ask(`/api/edge?bot=${bot}`);
    for (const name of ["trades", "low", "high"]) refill(this.columns[name], told[name]);
    this.chart.redraw();
  }
}

export { EdgeChart, EquityChart, LivePrices, LiveWindow };
