// A chart: panes over one axis, on one canvas.
class Chart {
  constructor(place, spec, { columns, prices, window }) {
    this.place = place;
    this.canvas = place.querySelector("canvas");
    this.spec = spec;
    this.isTime = spec.axis.kind === "time";
    this.window = this.isTime ? window : null;
    this.own = { cursor: null };
    this.pointer = null;
    this.frame = 0;
    this.panes = spec.panes.map((pane) => ({
      ...pane,
      layers: pane.layers.map((layer) => (layer.kind === "prices" ? prices : { ...layers.kinds[layer.kind](layer, columns), name: layer.name })),
    }));
    this.prices = this.panes.flatMap((pane) => pane.layers).includes(prices) ? prices : null;
    this.legend();
    this.tip = make(place, "div", "", "tip");
    this.tip.hidden = true;
    this.spoken = make(place, "p", "", "unseen");
    this.spoken.setAttribute("role", "status");
    if (this.isTime) place.classList.add("moves");
    this.window?.listeners.push(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(place);
  }

  get cursor() {
    return this.isTime ? this.window.cursor : this.own.cursor;
  }

  // Lists the layers that the titles of the panes do not name.
  legend() {
    const named = this.panes.flatMap(({ layers }) => (layers.filter(({ name }) => name).length > 1 ? layers : [])).filter(({ name }) => name);
    if (named.length === 0) return;
    const list = document.createElement("div");
    list.className = "legend";
    for (const layer of named) {
      if (!layer.colour) continue;
      const item = make(list, "span");
      const kind = layer.isArea ? "area" : layer.isDot ? "dot" : layer.isDashed ? "dashed" : "solid";
      const swatch = make(item, "i", "", kind);
      swatch.style.color = `var(${layer.colour})`;
      item.append(layer.name);
    }
    this.place.prepend(list);
  }

  redraw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  range() {
    if (this.isTime) return [this.window.from, this.window.to];
    const all = this.panes.flatMap((pane) => pane.layers.map((layer) => layer.across?.() ?? []).flat());
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const room = (high - low || 1) * 0.04;
    return [low - room, high + room];
  }

  draw(width = this.place.clientWidth) {
    if (width < 50) return;
    const isNarrow = width < 560;
    const g = this.canvas.getContext("2d");
    const root = getComputedStyle(document.documentElement);
    const colours = new Map();
    const colour = (name) => colours.get(name) ?? (colours.set(name, root.getPropertyValue(name).trim()), colours.get(name));
    const [from, to] = this.range();
    const heights = this.panes.map((pane) => (isNarrow && pane.height > 250 ? pane.height * 0.8 : pane.height));
    const [TITLE, GAP, FOOT] = [22, 10, this.isTime ? 24 : 40];
    const height = heights.reduce((sum, own) => sum + own + TITLE + GAP, 0) + FOOT - GAP;
    const density = Math.max(devicePixelRatio || 1, 1);
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    g.setTransform(density, 0, 0, density, 0, 0);
    const font = (weight) => `${weight} 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
    g.font = font(400);

    // The widths of the value labels determine the left margin.
    const scales = this.panes.map((pane, number) => this.scaleOf(pane, [from, to], heights[number], width));
    const labels = scales.flatMap(({ ticks }) => ticks.map(({ text }) => g.measureText(text).width));
    const left = Math.ceil(Math.max(24, ...labels)) + 10;
    const right = width - 10;
    const x = (value) => left + ((value - from) / (to - from)) * (right - left);
    const ticks = this.isTime
      ? axis.times(from, to, Math.max(2, Math.floor((right - left) / 62)))
      : axis.numbers(from, to, Math.max(2, Math.floor((right - left) / 64)), this.spec.axis.is_counted);
    this.views = [];
    let above = 0;
    for (const [number, pane] of this.panes.entries()) {
      const { low, high, ticks: values } = scales[number];
      const top = above + TITLE;
      const bottom = top + heights[number];
      const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
      const view = { x, y, left, right, top, bottom, from, to, colour };
      this.views.push({ ...view, pane, low, high });
      g.font = font(600);
      g.fillStyle = colour("--ink");
      g.textAlign = "left";
      g.textBaseline = "alphabetic";
      g.fillText(pane.title, left, top - 8);
      g.font = font(400);
      this.grid(g, view, values, ticks);
      g.save();
      g.beginPath();
      g.rect(left, top - 1, right - left, bottom - top + 2);
      g.clip();
      for (const layer of pane.layers) layer.draw(g, view, this.cursor);
      g.restore();
      above = bottom + GAP;
    }
    this.foot(g, { ticks, x, left, right, colour, y: above - GAP + 16 });
    this.cross(g, colour);
    this.tell();
  }

  scaleOf(pane, [from, to], height, width) {
    let [low, high] = [Infinity, -Infinity];
    for (const layer of pane.layers) {
      const found = layer.extent?.(from, to, width) ?? [Infinity, -Infinity];
      [low, high] = [Math.min(low, found[0]), Math.max(high, found[1])];
    }
    if (!(low <= high)) [low, high] = [0, 1];
    const room = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.01 || 1;
    // An extreme of 0 stays at the edge.
    [low, high] = [low === 0 && high > 0 ? 0 : low - room, high === 0 && low < 0 ? 0 : high + room];
    const isCounted = pane.layers.some((layer) => layer.isCounted);
    const least = Math.max(low, ...pane.layers.map((layer) => layer.floor?.() ?? low));
    const ticks = axis.numbers(low, high, Math.max(2, Math.floor(height / 42)), isCounted).filter(({ at }) => at >= least);
    return { low, high, ticks };
  }

  grid(g, view, values, ticks) {
    g.lineWidth = 1;
    g.strokeStyle = view.colour("--grid");
    g.fillStyle = view.colour("--soft");
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const { at, text } of values) {
      const y = Math.round(view.y(at)) + 0.5;
      g.beginPath();
      g.moveTo(view.left, y);
      g.lineTo(view.right, y);
      g.stroke();
      g.fillText(text, view.left - 6, y);
    }
    for (const { at } of ticks) {
      const x = Math.round(view.x(at)) + 0.5;
      g.beginPath();
      g.moveTo(x, view.top);
      g.lineTo(x, view.bottom);
      g.stroke();
    }
  }

  foot(g, { ticks, x, left, right, colour, y }) {
    g.fillStyle = colour("--soft");
    g.textBaseline = "alphabetic";
    g.textAlign = "center";
    for (const [i, { at, text }] of ticks.entries()) {
      const half = g.measureText(text).width / 2;
      const place = Math.min(Math.max(x(at), left + half - 6), right - half + 8);
      // A label that was moved must not touch the next one.
      const isTight = place !== x(at) && [ticks[i - 1], ticks[i + 1]].some((other) => other && Math.abs(x(other.at) - place) < 2 * half + 6);
      if (!isTight) g.fillText(text, place, y);
    }
    if (this.isTime) return;
    g.fillText(this.spec.axis.title, (left + right) / 2, y + 17);
  }

  // Crosshair: a line through all panes, and a dot on each curve.
  cross(g, colour) {
    const at = this.cursor;
    const [{ x, left, right }] = this.views;
    if (at === null || x(at) < left - 1 || x(at) > right + 1) return;
    g.strokeStyle = colour("--soft");
    g.lineWidth = 1;
    for (const { top, bottom, y, pane } of this.views) {
      g.beginPath();
      g.moveTo(Math.round(x(at)) + 0.5, top);
      g.lineTo(Math.round(x(at)) + 0.5, bottom);
      g.stroke();
      for (const layer of pane.layers) {
        const found = layer.read?.(at, String, String);
        if (!found || found.y === undefined || !found.colour) continue;
        g.beginPath();
        g.arc(x(at), y(found.y), 3.2, 0, 2 * Math.PI);
        g.fillStyle = colour(found.colour);
        g.fill();
      }
    }
  }

  rows(at) {
    const rows = [];
    for (const { pane } of this.views) {
      const write = (value) => format.fixed(value, pane.decimals) + pane.unit;
      const across = (value) => format.fixed(value, Number.isInteger(value) ? 0 : 2);
      for (const layer of pane.layers) {
        const found = layer.read?.(at, write, across);
        if (!found || found.text === null || (!layer.name && !found.rows)) continue;
        if (found.rows) rows.push(...found.rows);
        else rows.push([layer.name, found.text ?? write(found.y)]);
      }
    }
    return rows;
  }

  // Tooltip of the crosshair.
  tell() {
    const at = this.cursor;
    this.tip.hidden = this.pointer === null || at === null;
    if (this.tip.hidden) return;
    const trade = this.prices?.hit(this.pointer.x, this.pointer.y);
    const title = this.isTime ? `${format.utc(at)} UTC` : "";
    const isCounted = this.panes[0].layers[0].isCounted;
    const place = isCounted || this.isTime ? title : `${this.spec.axis.title}: ${format.fixed(at, Number.isInteger(at) ? 0 : 2)}`;
    const rows = trade ? rowsOfTrade(trade, this.prices.contents) : this.rows(at);
    this.tip.replaceChildren();
    if (place && !trade) make(this.tip, "b", place);
    for (const [name, value] of rows) {
      const line = make(this.tip, "div");
      make(line, "span", name);
      make(line, "span", value);
    }
    const { x, y } = this.pointer;
    const isRight = x > this.place.clientWidth / 2;
    const { offsetWidth, offsetHeight } = this.tip;
    const [most, below] = [this.place.clientWidth - offsetWidth, this.place.clientHeight - offsetHeight];
    this.tip.style.left = `${Math.max(0, Math.min(isRight ? x - offsetWidth - 14 : x + 14, most))}px`;
    this.tip.style.top = `${Math.max(0, Math.min(this.canvas.offsetTop + y - offsetHeight / 2, below))}px`;
  }

  // Axis value of a pixel.
  valueAt(pixel) {
    const [{ left, right, from, to }] = this.views;
    return from + ((Math.min(Math.max(pixel, left), right) - left) / (right - left)) * (to - from);
  }

  point(at, pointer) {
    this.pointer = pointer;
    const snap = this.panes.flatMap((pane) => pane.layers).find((layer) => layer.snap)?.snap;
    if (this.isTime) return this.window.point(at);
    this.own.cursor = at === null ? null : snap?.(at) ?? at;
    return this.redraw();
  }
}
