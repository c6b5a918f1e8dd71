// Details of a trade as names and values.
const rowsOfTrade = (trade, contents) => {
  const bot = contents.bots[trade.bot];
  const decimals = contents.series[bot.series]?.decimals ?? 5;
  const price = (value) => format.price(value, decimals);
  const rows = [
    [trade.side, `${format.fixed(trade.amount, contents.money)} by ${bot.name}`], ["reason", trade.reason],
    ["decided", format.second(trade.decided)],
  ];
  if (trade.opened !== null) rows.push(["opened", `${format.second(trade.opened)} at ${price(trade.open)}`]);
  if (trade.closed !== null) rows.push(["closed", `${format.second(trade.closed)} at ${price(trade.close)}`]);
  const end = trade.pnl === null ? "not settled" : `${trade.result} ${format.signed(trade.pnl, contents.money)}`;
  return [...rows, ["result", end]];
};

// Candles at the level of detail that fits the visible range, with the trades.
class Prices {
  constructor(contents, trades, changed) {
    this.contents = contents;
    this.trades = trades;
    this.changed = changed;
    this.level = null;
    this.bars = null;
    this.seen = [];
    this.marked = null;
    this.spots = [];
    this.known = new Map();
    this.choose(0);
  }

  choose(number) {
    this.series = this.contents.series[number];
    this.ours = this.trades.filter((trade) => this.contents.bots[trade.bot].series === number).sort((a, b) => a.at - b.at);
    this.bars = null;
  }

  // The finest level that does not show too many bars.
  levelFor(span, width) {
    const { levels } = this.series;
    const most = Math.max(90, width / 2.4);
    return levels.find(({ count, length }) => Math.min(count, span / length) <= most) ?? levels[levels.length - 1];
  }

  async load(level) {
    if (!this.known.has(level.id)) this.known.set(level.id, packed.bars(level, this.series.decimals));
    return this.known.get(level.id);
  }

  // Keeps the bars of the previous level until those of the new one are unpacked.
  want(level) {
    if (this.level === level && this.bars) return;
    this.level = level;
    this.loading = this.load(level).then((bars) => {
      if (this.level !== level) return;
      this.bars = bars;
      this.changed();
    });
  }

  between(from, to) {
    const { time, length } = this.bars;
    const at = (i) => time[i];
    return [firstFrom(time.length, at, from - length), firstFrom(time.length, at, to)];
  }

  extent(from, to, width) {
    this.want(this.levelFor(to - from, width));
    const at = (i) => this.ours[i].at;
    this.seen = this.ours.slice(firstFrom(this.ours.length, at, from), firstFrom(this.ours.length, at, to));
    this.areMarked = this.seen.length <= width / 4;
    if (!this.bars) return [Infinity, -Infinity];
    let [low, high] = [Infinity, -Infinity];
    const [first, end] = this.between(from, to);
    for (let i = first; i < end; i += 1) {
      low = Math.min(low, this.bars.low[i]);
      high = Math.max(high, this.bars.high[i]);
    }
    if (this.areMarked) {
      for (const { open, close } of this.seen) {
        for (const price of [open, close]) if (price !== null) [low, high] = [Math.min(low, price), Math.max(high, price)];
      }
    }
    // Room for the counts.
    this.lowest = low;
    return this.areMarked ? [low, high] : [low - (high - low) * 0.3, high];
  }

  // Lowest value with price labels.
  floor() {
    return this.areMarked ? -Infinity : this.lowest;
  }

  draw(g, view) {
    this.spots = [];
    if (!this.bars) return;
    this.drawBars(g, view);
    if (this.areMarked) this.drawMarks(g, view);
    else this.drawCounts(g, view);
  }

  drawBars(g, view) {
    const { time, length, open, high, low, close } = this.bars;
    const [first, end] = this.between(view.from, view.to);
    const wide = view.x(length) - view.x(0);
    const body = Math.max(1, wide * 0.68);
    for (const isUp of [true, false]) {
      g.strokeStyle = g.fillStyle = view.colour(isUp ? "--candle-up" : "--candle-down");
      g.lineWidth = 1;
      g.beginPath();
      for (let i = first; i < end; i += 1) {
        if (close[i] >= open[i] !== isUp) continue;
        const x = Math.round(view.x(time[i] + length / 2)) + 0.5;
        g.moveTo(x, view.y(high[i]));
        g.lineTo(x, view.y(low[i]) + 0.5);
      }
      g.stroke();
      for (let i = first; i < end; i += 1) {
        if (close[i] >= open[i] !== isUp) continue;
        const x = Math.round(view.x(time[i] + length / 2) - body / 2);
        const [top, bottom] = [view.y(Math.max(open[i], close[i])), view.y(Math.min(open[i], close[i]))];
        const [width, height] = [Math.round(body), Math.max(1, bottom - top)];
        if (isUp && body >= 5 && height > 3) {
          // A rising candle is hollow.
          const fill = g.fillStyle;
          g.fillStyle = view.colour("--card");
          g.fillRect(x, top, width, height);
          g.fillStyle = fill;
          g.strokeRect(x + 0.5, top + 0.5, width - 1, height - 1);
        } else g.fillRect(x, top, width, height);
      }
    }
  }

  drawMarks(g, view) {
    const colours = { won: "--good", lost: "--bad", draw: "--quiet", cancelled: "--quiet", open: "--quiet" };
    for (const trade of this.seen) {
      if (trade.open === null) continue;
      const colour = view.colour(colours[trade.outcome] ?? "--quiet");
      const isHollow = trade.outcome === "lost" || trade.outcome === "open";
      const [x, y] = [view.x(trade.at), view.y(trade.open)];
      g.strokeStyle = colour;
      if (trade.closed !== null && trade.close !== null) {
        const [endX, endY] = [view.x(trade.closed), view.y(trade.close)];
        g.lineWidth = 1.2;
        g.setLineDash([2, 2]);
        g.beginPath();
        g.moveTo(x, y);
        g.lineTo(endX, endY);
        g.stroke();
        g.setLineDash([]);
        g.lineWidth = 1.6;
        g.beginPath();
        g.arc(endX, endY, 2.6, 0, 2 * Math.PI);
        g.fillStyle = isHollow ? view.colour("--card") : colour;
        g.fill();
        g.stroke();
        this.spots.push({ x: endX, y: endY, trade });
      }
      const way = trade.side === "BUY" ? 1 : -1;
      const size = trade === this.marked ? 9 : 6;
      g.beginPath();
      g.moveTo(x, y - way * size);
      g.lineTo(x + size, y + way * size * 0.8);
      g.lineTo(x - size, y + way * size * 0.8);
      g.closePath();
      g.fillStyle = isHollow ? view.colour("--card") : colour;
      g.fill();
      g.lineWidth = isHollow ? 1.8 : 1;
      g.stroke();
      this.spots.push({ x, y, trade });
    }
  }

  // Trades per bar: won upwards, lost downwards.
  drawCounts(g, view) {
    const { length } = this.bars;
    const sums = { won: new Map(), lost: new Map() };
    let most = 1;
    for (const { outcome, at } of this.seen) {
      const sum = sums[outcome];
      if (!sum) continue;
      const bar = Math.floor(at / length) * length;
      const count = (sum.get(bar) ?? 0) + 1;
      most = Math.max(most, count);
      sum.set(bar, count);
    }
    const reach = (view.bottom - view.top) * 0.1;
    const middle = view.bottom - reach - 4;
    const width = Math.max(1, (view.x(length) - view.x(0)) * 0.8);
    for (const [outcome, colour, way] of /** @type {[string, string, number][]} */ ([["won", "--good", -1], ["lost", "--bad", 1]])) {
      g.fillStyle = view.colour(colour);
      for (const [bar, count] of sums[outcome]) {
        const high = (count / most) * reach;
        g.fillRect(view.x(bar + length / 2) - width / 2, way < 0 ? middle - high : middle, width, high);
      }
    }
    g.fillStyle = view.colour("--soft");
    g.textAlign = "left";
    g.textBaseline = "bottom";
    g.fillText(`trades per ${format.length(length)} (max ${most})`, view.left + 6, middle - reach - 3);
  }

  // The trade whose mark is at the position.
  hit(x, y) {
    let [best, least] = [null, 12 ** 2];
    for (const spot of this.spots) {
      const far = (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (far <= least) [best, least] = [spot.trade, far];
    }
    return best;
  }

  read(x) {
    if (!this.bars) return null;
    const { time, length, open, high, low, close } = this.bars;
    const i = firstFrom(time.length, (i) => time[i], x + 1e-9) - 1;
    if (i < 0 || x >= time[i] + length) return { rows: [["price", "no candle"]] };
    const price = (value) => format.price(value, this.series.decimals);
    const rows = [
      [`${format.length(length)} from`, format.utc(time[i])], ["open, close", `${price(open[i])}, ${price(close[i])}`],
      ["high, low", `${price(high[i])}, ${price(low[i])}`],
    ];
    const inside = this.seen.filter(({ at }) => at >= time[i] && at < time[i] + length);
    const count = (outcome) => inside.filter((trade) => trade.outcome === outcome).length;
    if (inside.length > 0) rows.push(["trades", `${inside.length}: ${count("won")} won, ${count("lost")} lost`]);
    return { rows };
  }
}
