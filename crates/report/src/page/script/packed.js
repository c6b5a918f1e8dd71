// Unpacks the deflated, Base64-encoded numbers of the page.
const packed = (() => {
  const bytesOf = async (id) => {
    const text = atob(byId(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  const reader = (bytes) => {
    let at = 0;
    return () => {
      let [value, unit] = [0, 1];
      let byte;
      do {
        byte = bytes[at];
        at += 1;
        value += (byte & 127) * unit;
        unit *= 128;
      } while (byte > 127);
      return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    };
  };

  // Columns of points, delta-encoded.
  const points = async ({ id, count, units }) => {
    const next = reader(await bytesOf(id));
    return units.map((unit) => {
      const column = new Float64Array(count);
      let value = 0;
      for (let i = 0; i < count; i += 1) {
        value += next();
        column[i] = value / unit;
      }
      return column;
    });
  };

  // The bars of a level of candles.
  const bars = async ({ id, count, length }, decimals) => {
    const next = reader(await bytesOf(id));
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

  const trades = async (id) => {
    const columns = JSON.parse(new TextDecoder().decode(await bytesOf(id)));
    let decided = 0;
    return columns.bot.map((bot, i) => {
      decided += columns.decided[i];
      const opened = columns.opened[i] === null ? null : decided + columns.opened[i];
      const closed = columns.closed[i] === null ? null : opened + columns.closed[i];
      const of = (name) => columns[name][i];
      return {
        bot, decided, opened, closed, side: of("buy") === 1 ? "BUY" : "SELL", amount: of("amount"), open: of("open"), close: of("close"),
        payout: of("payout"), result: of("result"), pnl: of("pnl"), reason: of("reason"), at: opened ?? decided,
        outcome: of("result") === null ? "open" : of("result").toLowerCase(),
      };
    });
  };
  return { points, bars, trades };
})();
