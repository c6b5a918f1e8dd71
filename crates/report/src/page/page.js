// Draws what the page carries: the specified drawings, and the candles in the level that fits what is looked at.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(byId(id).textContent);
  const root = document.documentElement;
  const narrow = matchMedia("(max-width: 640px)");
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // Plotly reads markup of its own in labels; text of others brings none.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const dyed = (value) => {
    if (typeof value === "string") return value.startsWith("--") ? colour(value) : value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(dyed);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, dyed(inner)]));
  };
  const dressed = (layout) => {
    const axis = { gridcolor: colour("--grid"), zerolinecolor: colour("--line"), linecolor: colour("--line"), automargin: true };
    const worn = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", separators: ". ",
      font: { family: "system-ui, sans-serif", size: 12, color: colour("--ink") },
      margin: { l: narrow.matches ? 46 : 60, r: 12, t: 28, b: 34 },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--quiet"), font: { color: colour("--ink") }, align: "left" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--quiet"), activecolor: colour("--accent") },
      ...dyed(layout),
    };
    for (const name of Object.keys(worn)) if (/^[xy]axis/.test(name)) worn[name] = { ...axis, ...worn[name] };
    for (const name of ["xaxis", "yaxis"]) worn[name] ??= axis;
    return worn;
  };
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage"] };

  // ---- the specified drawings
  const specified = read("plots");
  const drawSpecified = () => {
    for (const place of document.querySelectorAll("[data-plot]")) {
      const { data, layout } = specified[place.dataset.plot];
      const quiet = narrow.matches ? { ...config, displayModeBar: false } : config;
      const still = narrow.matches ? { dragmode: false } : {};
      Plotly.react(place, dyed(data), { ...dressed(layout), ...still }, quiet);
    }
  };

  // ---- what is packed
  const unpacked = async (id) => {
    const text = atob(byId(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  const barsOf = (bytes, level, decimals) => {
    let at = 0;
    const next = () => {
      let value = 0;
      let unit = 1;
      let byte;
      do {
        byte = bytes[at];
        at += 1;
        value += (byte & 127) * unit;
        unit *= 128;
      } while (byte > 127);
      return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    };
    const { count, length } = level;
    const [time, open, high, low, close] = Array.from({ length: 5 }, () => new Float64Array(count));
    const power = 10 ** decimals;
    let place = 0;
    for (let i = 0; i < count; i += 1) {
      place += next() + 1;
      time[i] = place * length;
    }
    for (let i = 0; i < count; i += 1) open[i] = next();
    for (let i = 0; i < count; i += 1) close[i] = next();
    let before = 0;
    for (let i = 0; i < count; i += 1) {
      open[i] += before;
      close[i] += open[i];
      before = close[i];
    }
    for (let i = 0; i < count; i += 1) high[i] = Math.max(open[i], close[i]) + next();
    for (let i = 0; i < count; i += 1) low[i] = Math.min(open[i], close[i]) - next();
    for (const column of [open, high, low, close]) for (let i = 0; i < count; i += 1) column[i] /= power;
    return { length, time, open, high, low, close };
  };
  const tradesOf = (columns) => {
    let decided = 0;
    return columns.bot.map((bot, i) => {
      decided += columns.decided[i];
      const opened = columns.opened[i] === null ? null : decided + columns.opened[i];
      const closed = columns.closed[i] === null ? null : opened + columns.closed[i];
      const of = (name) => columns[name][i];
      return {
        bot, decided, opened, closed, buy: of("buy") === 1, amount: of("amount"), open: of("open"), close: of("close"),
        payout: of("payout"), result: of("result"), pnl: of("pnl"), reason: of("reason"), at: opened ?? decided,
      };
    });
  };
  // The first place in a sorted column whose value is not below.
  const firstFrom = (count, valueAt, value) => {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (valueAt(middle) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  // ---- candles and trades
  const contents = byId("contents") ? read("contents") : { series: [], bots: [] };
  const MOST_BARS = 500;
  const MOST_MARKS = 250;
  const MOST_ROWS = 40;
  const OUTCOMES = { won: "--good", lost: "--bad", draw: "--quiet", cancelled: "--quiet", open: "--quiet" };
  const outcomeOf = (trade) => (trade.result === null ? "open" : trade.result.toLowerCase());
  const chart = byId("chart");
  const view = { series: 0, from: 0, to: 0, drawing: 0 };
  const known = new Map();
  let trades = [];
  let ours = [];

  const utc = (at) => new Date(Math.round(at)).toISOString().replace("T", " ").replace(/(:00)?\.\d{3}Z$/, "");
  const many = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, " ");
  const lengthName = (ms) => {
    for (const [unit, name] of [[86400000, "d"], [3600000, "h"], [60000, "m"]]) if (ms % unit === 0) return ms / unit + name;
    return ms / 1000 + "s";
  };
  const series = () => contents.series[view.series];
  // Without what binary fractions leave of decimal ones.
  const short = (price) => Number(price.toPrecision(12));
  const money = (amount) => (amount > 0 ? "+" : "") + amount.toFixed(contents.money);

  // The finest level of which not too many bars are in sight.
  const levelFor = (span) => {
    const { levels } = series();
    const fits = levels.find(({ count, length }) => Math.min(count, span / length) <= MOST_BARS);
    return fits ?? levels[levels.length - 1];
  };
  const barsFor = async (level) => {
    if (!known.has(level.id)) known.set(level.id, unpacked(level.id).then((bytes) => barsOf(bytes, level, series().decimals)));
    return known.get(level.id);
  };
  const tradeText = (trade) => {
    const price = (value) => (value === null ? "?" : short(value));
    const { name } = contents.bots[trade.bot];
    const ended = trade.closed === null
      ? "not settled"
      : `closed ${utc(trade.closed)} at ${price(trade.close)}<br><b>${trade.result} ${money(trade.pnl)}</b>`;
    return `<b>${trade.buy ? "BUY" : "SELL"} ${trade.amount}</b> by ${plain(name)}<br>${plain(trade.reason)}<br>` +
      `decided ${utc(trade.decided)}<br>opened ${trade.opened === null ? "?" : utc(trade.opened)} at ${price(trade.open)}<br>${ended}`;
  };
  const marks = (seen) => {
    const traces = [];
    for (const outcome of Object.keys(OUTCOMES)) {
      const own = seen.filter((trade) => outcomeOf(trade) === outcome && trade.open !== null);
      if (own.length === 0) continue;
      const color = colour(OUTCOMES[outcome]);
      const [x, y] = [[], []];
      for (const trade of own.filter((one) => one.closed !== null && one.close !== null)) {
        x.push(trade.opened, trade.closed, null);
        y.push(trade.open, trade.close, null);
      }
      traces.push(
        { type: "scatter", mode: "lines", x, y, line: { color, width: 1.4, dash: "dot" }, hoverinfo: "skip", showlegend: false },
        {
          type: "scatter", mode: "markers", name: outcome === "open" ? "not settled" : outcome, x: own.map((trade) => trade.opened),
          y: own.map((trade) => trade.open), text: own.map(tradeText), hovertemplate: "%{text}<extra></extra>",
          marker: { color, size: 11, symbol: own.map((trade) => (trade.buy ? "triangle-up" : "triangle-down")), line: { color: colour("--card"), width: 1 } },
        },
      );
      const ended = own.filter((one) => one.closed !== null && one.close !== null);
      traces.push({
        type: "scatter", mode: "markers", x: ended.map((trade) => trade.closed), y: ended.map((trade) => trade.close),
        text: ended.map(tradeText), hovertemplate: "%{text}<extra></extra>", showlegend: false, marker: { color, size: 8, symbol: "x-thin", line: { color, width: 2 } },
      });
    }
    return traces;
  };
  // Trades counted by bar: won above, lost below.
  const counts = (seen, bars) => {
    const sums = { won: new Map(), lost: new Map() };
    for (const trade of seen) {
      const sum = sums[outcomeOf(trade)];
      const bar = Math.floor(trade.at / bars.length) * bars.length;
      sum?.set(bar, (sum.get(bar) ?? 0) + 1);
    }
    return Object.entries(sums).map(([outcome, sum]) => ({
      type: "bar", name: outcome, x: [...sum.keys()].map((at) => at + bars.length / 2), customdata: [...sum.values()],
      y: [...sum.values()].map((count) => (outcome === "won" ? count : -count)), width: bars.length * 0.9, yaxis: "y2",
      marker: { color: colour(OUTCOMES[outcome]) }, hovertemplate: `%{customdata} ${outcome}<extra></extra>`,
    }));
  };

  // Lost trades are counted downwards, not below zero.
  const ticksOf = (parts) => {
    const most = parts.slice(1).reduce((most, part) => part.y.reduce((a, b) => Math.max(a, Math.abs(b)), most), 1);
    return { tickvals: [-most, 0, most], ticktext: [most, 0, most].map(many) };
  };

  const draw = async () => {
    view.drawing += 1;
    const turn = view.drawing;
    const span = view.to - view.from;
    const level = levelFor(span);
    const bars = await barsFor(level);
    if (turn !== view.drawing) return; // something else is looked at by now
    const count = bars.time.length;
    const first = firstFrom(count, (i) => bars.time[i], view.from - span / 2);
    const end = firstFrom(count, (i) => bars.time[i], view.to + span / 2);
    const [inFirst, inEnd] = [view.from - bars.length, view.to].map((at) => firstFrom(count, (i) => bars.time[i], at));
    const column = (name) => Array.from(bars[name].subarray(first, end));
    const seenFrom = firstFrom(ours.length, (i) => ours[i].at, view.from);
    const seen = ours.slice(seenFrom, firstFrom(ours.length, (i) => ours[i].at, view.to));
    const areMarked = seen.length <= MOST_MARKS;
    const prices = (extreme, name) => bars[name].subarray(inFirst, inEnd).reduce((a, b) => extreme(a, b), bars[name][inFirst] ?? 1);
    let [low, high] = [prices(Math.min, "low"), prices(Math.max, "high")];
    if (areMarked) {
      for (const trade of seen) {
        for (const price of [trade.open, trade.close]) if (price !== null) [low, high] = [Math.min(low, price), Math.max(high, price)];
      }
    }
    const room = (high - low || high * 0.01) * 0.06;
    const up = { line: { color: colour("--candle-up"), width: 1 }, fillcolor: colour("--candle-up") };
    const down = { line: { color: colour("--candle-down"), width: 1 }, fillcolor: colour("--candle-down") };
    const candles = {
      type: "candlestick", name: `${series().name}, bars of ${lengthName(bars.length)}`, x: column("time").map((at) => at + bars.length / 2),
      open: column("open"), high: column("high"), low: column("low"), close: column("close"), increasing: up, decreasing: down,
      showlegend: false, hoverlabel: { split: false }, whiskerwidth: 0, hoverinfo: areMarked && seen.length > 0 && inEnd - inFirst > 200 ? "skip" : "all",
    };
    const parts = areMarked ? [candles, ...marks(seen)] : [candles, ...counts(seen, bars)];
    const layout = dressed({
      xaxis: { type: "date", range: [view.from, view.to], rangeslider: { visible: false }, anchor: areMarked ? "y" : "y2" },
      yaxis: { domain: areMarked ? [0, 1] : [0.26, 1], range: [low - room, high + room], fixedrange: true, tickformat: `.${series().decimals}~f` },
      legend: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom" }, barmode: "relative", bargap: 0, dragmode: narrow.matches ? false : "pan",
    });
    if (!areMarked) layout.yaxis2 = { ...layout.yaxis, domain: [0, 0.2], range: undefined, autorange: true, ...ticksOf(parts), title: { text: "trades" } };
    const looks = { ...config, scrollZoom: !narrow.matches, displayModeBar: false, doubleClick: false };
    await Plotly.react(chart, parts, layout, looks);
    describe(bars, inEnd - inFirst, seen, areMarked);
  };
  const describe = (bars, count, seen, areMarked) => {
    const total = series().levels[0].count;
    const drawn = `${many(count)} bars of ${lengthName(bars.length)} of the ${many(total)} candles of ${series().name}`;
    const shown = areMarked ? `${many(seen.length)} trades in sight` : `${many(seen.length)} trades in sight, counted: zoom in to see each`;
    byId("status").textContent = `${utc(view.from)} to ${utc(view.to)} UTC · ${drawn} · ${shown}`;
    const place = byId("seen");
    place.replaceChildren();
    const isAll = view.from <= series().start && view.to >= series().end;
    if (seen.length === 0 || seen.length > MOST_ROWS || (isAll && seen.length > 10)) return;
    const table = place.appendChild(document.createElement("table"));
    const row = (cells, tag, parent) => {
      const line = parent.appendChild(document.createElement("tr"));
      for (const [text, name] of cells) {
        const cell = line.appendChild(document.createElement(tag));
        cell.textContent = text;
        if (name) cell.className = name;
      }
      return line;
    };
    row(["decided, UTC", "bot", "", "amount", "open", "close", "result", "pnl", "reason"].map((text) => [text]), "th", table.createTHead());
    const body = table.createTBody();
    for (const trade of seen) {
      const outcome = outcomeOf(trade);
      const cells = [
        [utc(trade.decided)], [contents.bots[trade.bot].name], [trade.buy ? "BUY" : "SELL"], [trade.amount, "number"], [trade.open === null ? "" : short(trade.open), "number"],
        [trade.close === null ? "" : short(trade.close), "number"], [trade.result ?? "not settled", outcome], [trade.pnl === null ? "" : money(trade.pnl), "number"], [trade.reason],
      ];
      row(cells, "td", body).addEventListener("click", () => lookAt(trade));
    }
  };

  const show = (from, to) => {
    const { start, end, levels } = series();
    const least = levels[0].length * 20;
    const span = Math.min(Math.max(to - from, least), end - start);
    const middle = (from + to) / 2;
    view.from = Math.min(Math.max(middle - span / 2, start), end - span);
    view.to = view.from + span;
    return draw();
  };
  const lookAt = (trade) => {
    const span = series().levels[0].length * 60;
    const middle = ((trade.opened ?? trade.decided) + (trade.closed ?? trade.decided)) / 2;
    const room = Math.max(span, ((trade.closed ?? trade.decided) - trade.decided) * 3);
    return show(middle - room / 2, middle + room / 2);
  };
  const step = (direction) => {
    const isAll = view.from <= series().start && view.to >= series().end;
    if (isAll) return ours.length > 0 && lookAt(ours[direction > 0 ? 0 : ours.length - 1]);
    const middle = (view.from + view.to) / 2;
    const next = direction > 0
      ? firstFrom(ours.length, (i) => ours[i].at, middle + 1000)
      : firstFrom(ours.length, (i) => ours[i].at, middle - 1000) - 1;
    const beyond = (i) => Math.abs((ours[i].at + (ours[i].closed ?? ours[i].at)) / 2 - middle) < 1000;
    const chosen = ours[next] !== undefined && beyond(next) ? next + direction : next;
    const trade = ours[Math.min(Math.max(chosen, 0), ours.length - 1)];
    return trade && lookAt(trade);
  };
  const choose = (number) => {
    view.series = number;
    ours = trades.filter((trade) => contents.bots[trade.bot].series === number).sort((a, b) => a.at - b.at);
    for (const button of document.querySelectorAll("[data-step]")) button.disabled = ours.length === 0;
    return show(series().start, series().end);
  };
  const controls = () => {
    const place = byId("controls");
    const button = (text, label, press) => {
      const made = place.appendChild(document.createElement("button"));
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-label", label);
      made.title = label;
      made.addEventListener("click", press);
      return made;
    };
    if (contents.series.length > 1) {
      const select = place.appendChild(document.createElement("select"));
      select.setAttribute("aria-label", "Candles of");
      for (const [number, { name }] of contents.series.entries()) select.add(new Option(name, number));
      select.addEventListener("change", () => choose(Number(select.value)));
    }
    const scaled = (factor) => {
      const [middle, half] = [(view.from + view.to) / 2, ((view.to - view.from) / 2) * factor];
      return show(middle - half, middle + half);
    };
    const moved = (share) => {
      const way = (view.to - view.from) * share;
      return show(view.from + way, view.to + way);
    };
    button("All", "All candles", () => show(series().start, series().end));
    button("+", "Closer", () => scaled(0.4));
    button("−", "Further away", () => scaled(2.5));
    button("←", "Earlier", () => moved(-0.5));
    button("→", "Later", () => moved(0.5));
    for (const [direction, text, label] of [[-1, "‹ trade", "The trade before"], [1, "trade ›", "The trade after"]]) {
      button(text, label, () => step(direction)).dataset.step = direction;
    }
  };
  const onZoom = (event) => {
    const ends = event["xaxis.range"] ?? [event["xaxis.range[0]"], event["xaxis.range[1]"]];
    if (ends[0] === undefined) return;
    const moment = (end) => (typeof end === "number" ? end : Date.parse(end.replace(" ", "T") + (end.length > 10 ? "Z" : "")));
    show(moment(ends[0]), moment(ends[1]));
  };

  // ---- the theme
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const redraw = () => {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
    drawSpecified();
    return chart && draw();
  };
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  dark.addEventListener("change", redraw);
  narrow.addEventListener("change", redraw);
  // Paper is light and of its own width.
  addEventListener("beforeprint", () => {
    root.dataset.before = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    for (const place of document.querySelectorAll(".plot")) if (place.data) Plotly.relayout(place, { ...dressed(place.layout), width: 680 });
  });
  addEventListener("afterprint", () => {
    if (root.dataset.before) root.dataset.theme = root.dataset.before;
    else delete root.dataset.theme;
    for (const place of document.querySelectorAll(".plot")) if (place.data) Plotly.relayout(place, { width: null, autosize: true });
    redraw();
  });

  const begin = async () => {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
    if (chart) {
      trades = tradesOf(JSON.parse(new TextDecoder().decode(await unpacked("trades"))));
      controls();
      await choose(0);
      chart.on("plotly_relayout", onZoom);
    }
    drawSpecified();
    // For whoever drives this page: what is shown, and how to look elsewhere.
    root.dataset.ready = Math.round(performance.now());
    window.candlewick = { show, view, trades, bars: (level) => barsFor(series().levels[level]) };
  };
  begin();
})();
