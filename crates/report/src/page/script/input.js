// Pointers, wheels, fingers and keys on a chart.
const listen = (chart) => {
  const { canvas, window } = chart;
  const pointers = new Map();
  let [moved, pinch] = [false, null];
  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const show = (place) => chart.point(chart.valueAt(place.x), place);
  const isTouch = (event) => event.pointerType === "touch";

  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, placeOf(event));
    moved = false;
    pinch = null;
    if (window && !isTouch(event)) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [before, now] = [pointers.get(event.pointerId), placeOf(event)];
    if (!before || !window) return show(now);
    pointers.set(event.pointerId, now);
    const [{ left, right }] = chart.views;
    if (pointers.size === 2) {
      const [one, two] = [...pointers.values()];
      const [apart, middle] = [Math.hypot(one.x - two.x, one.y - two.y), (one.x + two.x) / 2];
      if (pinch) window.scale(pinch / Math.max(apart, 10), chart.valueAt(middle));
      pinch = Math.max(apart, 10);
      moved = true;
      return undefined;
    }
    if (Math.abs(now.x - before.x) > 0) moved = true;
    window.move((before.x - now.x) / (right - left));
    return isTouch(event) ? undefined : show(now);
  });
  const end = (event) => {
    pointers.delete(event.pointerId);
    pinch = null;
    if (isTouch(event) && !moved && event.type === "pointerup") show(placeOf(event));
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", (event) => {
    if (!isTouch(event) && !pointers.has(event.pointerId)) chart.point(null, null);
  });
  canvas.addEventListener("blur", () => chart.point(null, null));

  if (window) {
    // Keeps scrolling the page while a chart passes below the pointer.
    let scrolled = -Infinity;
    addEventListener("scroll", () => { scrolled = performance.now(); }, { passive: true });
    canvas.addEventListener("wheel", (event) => {
      const isOut = event.deltaY > 0 && window.isAll;
      if (isOut || event.ctrlKey || performance.now() - scrolled < 250) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) window.move(event.deltaX / 800);
      else window.scale(1.0018 ** event.deltaY, chart.valueAt(placeOf(event).x));
      show(placeOf(event));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => window.all());
  }

  // Arrow keys announce values; with Shift they pan.
  const step = (direction) => {
    const layers = chart.panes.flatMap((pane) => pane.layers);
    const [{ from, to, x, top }] = chart.views;
    const middle = chart.cursor ?? (direction > 0 ? from : to);
    const next = window ? middle + (direction * (to - from)) / 100 : layers.find((layer) => layer.next).next(middle, chart.cursor === null ? 0 : direction);
    const at = window ? Math.min(Math.max(next, window.min), window.max) : next;
    if (window && at > window.to) window.move(0.25);
    if (window && at < window.from) window.move(-0.25);
    chart.point(at, { x: x(at), y: top + 40 });
    const place = window ? `${format.utc(at)} UTC` : "";
    chart.spoken.textContent = [place, ...chart.rows(at).map((row) => row.join(" "))].join(", ");
  };
  const keys = {
    ArrowLeft: (event) => (event.shiftKey && window ? window.move(-0.25) : step(-1)),
    ArrowRight: (event) => (event.shiftKey && window ? window.move(0.25) : step(1)),
    Escape: () => chart.point(null, null),
    "+": () => window?.scale(0.5, window.cursor ?? undefined),
    "=": () => window?.scale(0.5, window.cursor ?? undefined),
    "-": () => window?.scale(2, window.cursor ?? undefined),
    0: () => window?.all(),
    Home: () => window?.all(),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key](event);
  });
};
