// Tick positions and labels of an axis.
const axis = (() => {
  const SECOND = 1000;
  const MINUTE = 60 * SECOND;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;
  const STEPS = [
    SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR,
    6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY,
  ];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (number) => String(number).padStart(2, "0");

  const labelOf = (at, step) => {
    const time = new Date(at);
    const date = `${time.getUTCDate()} ${MONTHS[time.getUTCMonth()]}`;
    if (step >= 28 * DAY) return time.getUTCMonth() === 0 ? String(time.getUTCFullYear()) : MONTHS[time.getUTCMonth()];
    if (step >= DAY || at % DAY === 0) return date;
    const clock = `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`;
    return step < MINUTE ? `${clock}:${two(time.getUTCSeconds())}` : clock;
  };
  const months = (from, to, most) => {
    const first = new Date(from);
    const begin = first.getUTCFullYear() * 12 + first.getUTCMonth();
    const count = (to - from) / (30.44 * DAY);
    const step = [1, 2, 3, 6, 12, 24, 60, 120].find((step) => count / step <= most) ?? 240;
    const ticks = [];
    for (let month = Math.ceil(begin / step) * step; ; month += step) {
      const at = Date.UTC(Math.floor(month / 12), month % 12, 1);
      if (at > to) return ticks;
      if (at >= from) ticks.push({ at, text: labelOf(at, 30 * DAY) });
    }
  };
  const times = (from, to, most) => {
    const step = STEPS.find((step) => (to - from) / step <= most);
    if (step === undefined) return months(from, to, most);
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push({ at, text: labelOf(at, step) });
    return ticks;
  };
  const numbers = (low, high, most, isCounted = false) => {
    const rough = Math.max((high - low) / Math.max(most, 1), isCounted ? 1 : 0);
    if (!(rough > 0)) return [];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, isCounted ? 2 : 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999);
    const decimals = Math.max(0, Math.ceil(-Math.log10(step) + (step / power === 2.5 ? 1 : 0) - 1e-9));
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
      ticks.push({ at: i * step, text: format.fixed(i * step, decimals) });
    }
    return ticks;
  };
  return { times, numbers };
})();
