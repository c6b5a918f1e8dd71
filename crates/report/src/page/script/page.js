// Sets up the page: charts with a shared time range, trade list, controls and theme.
(async () => {
  const root = document.documentElement;
  const read = (id) => JSON.parse(byId(id).textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { charts: specs, points } = read("charts");
  const contents = byId("contents") ? read("contents") : { series: [], bots: [], money: 2 };
  const trades = byId("trades") ? await packed.trades("trades") : [];
  const unpacked = Object.fromEntries(await Promise.all(Object.entries(points).map(async ([name, one]) => [name, await packed.points(one)])));
  const columns = (column) => (Array.isArray(column) ? column : unpacked[column.points][column.column]);

  const time = Object.values(specs).find(({ axis }) => axis.kind === "time")?.axis ?? { from: 0, to: 1 };
  const view = new TimeWindow(time.from, time.to);
  const prices = contents.series.length > 0 ? new Prices(contents, trades, () => view.changed()) : null;
  if (prices) view.limit(time.from, time.to, prices.series.levels[0].length * 20);
  const charts = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-chart]"))].map((place) => {
    const chart = new Chart(place, specs[place.dataset.chart], { columns, prices, window: view });
    listen(chart);
    return chart;
  });

  // ---- the trades
  const say = (id, rows) => { if (byId(id)) byId(id).textContent = rows.map((row) => row.join(" ")).join(" · "); };
  const lookAt = (trade) => {
    if (!prices) return;
    const series = contents.bots[trade.bot].series;
    if (contents.series[series] !== prices.series) choose(series);
    const [from, to] = [trade.decided, trade.closed ?? trade.at];
    const room = Math.max(prices.series.levels[0].length * 60, (to - from) * 3);
    prices.marked = trade;
    view.show((from + to) / 2 - room / 2, (from + to) / 2 + room / 2);
  };
  const lookFromList = (trade) => {
    lookAt(trade);
    say("chosen", rowsOfTrade(trade, contents));
    byId("equity").scrollIntoView({ block: "start" });
  };
  const list = byId("rows") ? new TradeList({ contents, trades, window: view, look: lookFromList }) : null;

  // ---- the controls
  const choose = (number) => {
    prices.choose(number);
    const select = byId("controls").querySelector("select");
    if (select) select.value = number;
    view.changed();
  };
  const step = (direction) => {
    const { ours, marked } = prices;
    const at = ours.indexOf(marked);
    const next = at < 0 || view.isAll ? (direction > 0 ? 0 : ours.length - 1) : at + direction;
    const trade = ours[Math.min(Math.max(next, 0), ours.length - 1)];
    if (!trade) return;
    lookAt(trade);
    say("status", rowsOfTrade(trade, contents));
  };
  const controls = () => {
    const place = byId("controls");
    if (!place) return;
    const button = (text, label, press) => {
      const made = make(place, "button", text);
      made.type = "button";
      made.title = label;
      if (text.length < 3) made.setAttribute("aria-label", label);
      made.addEventListener("click", press);
      return made;
    };
    if (contents.series.length > 1) {
      const select = make(place, "select");
      select.setAttribute("aria-label", "Prices");
      for (const [number, { name }] of contents.series.entries()) select.add(new Option(name, number));
      select.addEventListener("change", () => choose(Number(select.value)));
    }
    button("Show all", "Show the whole range", () => view.all());
    button("+", "Zoom in", () => view.scale(0.4));
    button("−", "Zoom out", () => view.scale(2.5));
    button("←", "Earlier", () => view.move(-0.5));
    button("→", "Later", () => view.move(0.5));
    if (!prices || trades.length === 0) return;
    button("‹ trade", "Previous trade", () => step(-1));
    button("trade ›", "Next trade", () => step(1));
  };
  const describe = () => {
    if (!byId("status")) return;
    const parts = [`${format.utc(view.from)} to ${format.utc(view.to)} UTC`];
    if (prices?.bars) {
      const [first, end] = prices.between(view.from, view.to);
      parts.push(`${format.many(end - first)} bars of ${format.length(prices.bars.length)} of ${prices.series.name}`);
      parts.push(`${format.plural(prices.seen.length, "trade")} in view${prices.areMarked ? "" : " (zoom in to see each)"}`);
    }
    byId("status").textContent = parts.join(" · ");
  };

  // ---- the theme, and printing, which is light and has its own width
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const redraw = () => {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
    for (const chart of charts) chart.draw();
  };
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  dark.addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    root.dataset.before = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    for (const chart of charts) chart.draw(chart.place.closest(".tables") ? 330 : 680);
    if (list) list.isOnPaper = true;
    list?.draw();
  });
  addEventListener("afterprint", () => {
    if (root.dataset.before) root.dataset.theme = root.dataset.before;
    else delete root.dataset.theme;
    redraw();
    if (list) list.isOnPaper = false;
    list?.draw();
  });

  controls();
  redraw();
  await prices?.loading;
  view.listeners.push(describe);
  redraw();
  describe();
  // For scripts that drive this page.
  Object.assign(window, { candlewick: { view, trades, charts, list, prices, bars: (level) => prices.load(prices.series.levels[level]) } });
  root.dataset.ready = String(Math.round(performance.now()));
})();
