// Layers of a pane, by kind. A layer returns its value range (`extent`), draws itself (`draw`) and returns the text at an
// axis value (`read`), with the value (`y`) if it has a mark there.
const layers = (() => {
  const range = (values, first, end) => {
    let [low, high] = [Infinity, -Infinity];
    for (let i = first; i < end; i += 1) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
    return [low, high];
  };
  // The visible points and one on each side.
  const inSight = (xs, from, to) => {
    const at = (i) => xs[i];
    return [Math.max(0, firstFrom(xs.length, at, from) - 1), Math.min(xs.length, firstFrom(xs.length, at, to) + 1)];
  };
  const before = (xs, x) => firstFrom(xs.length, (i) => xs[i], x + 1e-9) - 1;
  const nearest = (xs, x) => {
    const left = before(xs, x);
    return left < 0 || (left + 1 < xs.length && xs[left + 1] - x < x - xs[left]) ? left + 1 : left;
  };

  // Traces a line, reduced to the first, lowest, highest and last point per pixel.
  const trace = (g, view, xs, ys, isStepped) => {
    const [first, end] = inSight(xs, view.from, view.to);
    let last = null;
    const to = (x, y) => {
      if (last === null) g.moveTo(x, y);
      else {
        if (isStepped) g.lineTo(x, last);
        g.lineTo(x, y);
      }
      last = y;
    };
    if (end - first < 3 * (view.right - view.left)) {
      for (let i = first; i < end; i += 1) to(view.x(xs[i]), view.y(ys[i]));
    } else {
      for (let i = first; i < end; ) {
        const pixel = Math.round(view.x(xs[i]));
        const from = i;
        while (i < end && Math.round(view.x(xs[i])) === pixel) i += 1;
        const [low, high] = range(ys, from, i);
        for (const value of [ys[from], low, high, ys[i - 1]]) to(pixel, view.y(value));
      }
    }
    return [view.x(xs[first]), view.x(xs[Math.max(first, end - 1)])];
  };

  const kinds = {
    line: (spec, columns) => {
      const [xs, ys] = [columns(spec.x), columns(spec.y)];
      return {
        colour: spec.colour, isDashed: spec.is_dashed,
        extent: (from, to) => {
          const [low, high] = range(ys, ...inSight(xs, from, to));
          return spec.is_filled ? [Math.min(low, 0), Math.max(high, 0)] : [low, high];
        },
        draw: (g, view) => {
          if (xs.length === 0) return;
          const colour = view.colour(spec.colour);
          g.beginPath();
          const [left, right] = trace(g, view, xs, ys, spec.is_stepped);
          g.strokeStyle = colour;
          g.lineWidth = spec.is_dashed ? 1.4 : 1.7;
          g.setLineDash(spec.is_dashed ? [5, 4] : []);
          g.stroke();
          g.setLineDash([]);
          if (!spec.is_filled) return;
          g.lineTo(right, view.y(0));
          g.lineTo(left, view.y(0));
          g.globalAlpha = 0.16;
          g.fillStyle = colour;
          g.fill();
          g.globalAlpha = 1;
        },
        read: (x) => {
          const i = spec.is_stepped ? before(xs, x) : nearest(xs, x);
          return i < 0 || xs.length === 0 ? null : { x: xs[i], y: ys[i], colour: spec.colour };
        },
        next: (x, direction) => xs[Math.min(Math.max(nearest(xs, x) + direction, 0), xs.length - 1)],
      };
    },
    band: (spec, columns) => {
      const [xs, low, high] = [columns(spec.x), columns(spec.low), columns(spec.high)];
      return {
        colour: "--quiet", isArea: true,
        extent: (from, to) => {
          const seen = inSight(xs, from, to);
          return [range(low, ...seen)[0], range(high, ...seen)[1]];
        },
        draw: (g, view) => {
          const [first, end] = inSight(xs, view.from, view.to);
          const step = Math.max(1, Math.floor((end - first) / (view.right - view.left)));
          g.beginPath();
          for (let i = first; i < end; i += step) g.lineTo(view.x(xs[i]), view.y(high[i]));
          for (let i = end - 1; i >= first; i -= step) g.lineTo(view.x(xs[i]), view.y(low[i]));
          g.fillStyle = view.colour("--quiet");
          g.globalAlpha = 0.17;
          g.fill();
          g.globalAlpha = 1;
        },
        read: (x, write) => {
          const i = nearest(xs, x);
          return xs.length === 0 ? null : { text: `${write(low[i])} to ${write(high[i])}` };
        },
      };
    },
    level: ({ value }) => ({
      colour: "--quiet", isDashed: true,
      extent: () => [value, value],
      draw: (g, view) => {
        g.beginPath();
        g.moveTo(view.left, view.y(value));
        g.lineTo(view.right, view.y(value));
        g.strokeStyle = view.colour("--quiet");
        g.lineWidth = 1.2;
        g.setLineDash([5, 4]);
        g.stroke();
        g.setLineDash([]);
      },
      read: () => ({ text: null }),
    }),
    upright: ({ at }) => ({
      colour: "--ink", isDashed: true,
      across: () => [at, at],
      draw: (g, view) => {
        g.beginPath();
        g.moveTo(view.x(at), view.top);
        g.lineTo(view.x(at), view.bottom);
        g.strokeStyle = view.colour("--ink");
        g.lineWidth = 1.4;
        g.setLineDash([5, 4]);
        g.stroke();
        g.setLineDash([]);
      },
      read: () => ({ text: null }),
    }),
    bars: ({ edges, counts }) => {
      const placeOf = (x) => Math.min(Math.max(before(edges, x), 0), counts.length - 1);
      return {
        isCounted: true,
        across: () => [edges[0], edges[edges.length - 1], 0],
        extent: () => [0, Math.max(...counts)],
        draw: (g, view, at) => {
          for (const [i, count] of counts.entries()) {
            const [from, to] = [edges[i], edges[i + 1]].map(view.x);
            const name = edges[i] >= 0 ? "--good" : edges[i + 1] <= 0 ? "--bad" : "--quiet";
            g.fillStyle = view.colour(name);
            g.globalAlpha = at !== null && placeOf(at) === i ? 1 : 0.8;
            g.fillRect(from + 0.5, view.y(count), Math.max(to - from - 1, 1), view.bottom - view.y(count));
          }
          g.globalAlpha = 1;
        },
        read: (x, _, across) => {
          const i = placeOf(x);
          return { text: `${format.many(counts[i])} from ${across(edges[i])} to ${across(edges[i + 1])}` };
        },
        snap: (x) => (edges[placeOf(x)] + edges[placeOf(x) + 1]) / 2,
        next: (x, direction) => {
          const i = Math.min(Math.max(placeOf(x) + direction, 0), counts.length - 1);
          return (edges[i] + edges[i + 1]) / 2;
        },
      };
    },
    points: ({ x: xs, y: ys, own }) => ({
      colour: "--accent", isDot: true,
      across: () => [xs[0], xs[xs.length - 1]],
      extent: () => range(ys, 0, ys.length),
      draw: (g, view) => {
        for (const [i, x] of xs.entries()) {
          g.beginPath();
          g.arc(view.x(x), view.y(ys[i]), own[i] ? 6 : 3.2, 0, 2 * Math.PI);
          g.fillStyle = view.colour("--accent");
          g.fill();
        }
      },
      read: (x) => {
        const i = nearest(xs, x);
        return { x: xs[i], y: ys[i], colour: "--accent" };
      },
      snap: (x) => xs[nearest(xs, x)],
      next: (x, direction) => xs[Math.min(Math.max(nearest(xs, x) + direction, 0), xs.length - 1)],
    }),
  };
  return { kinds };
})();
