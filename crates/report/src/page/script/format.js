// Text of numbers, times and trades. The scripts only set text, never markup.
"use strict";
/** An element that the document is known to have. @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

const format = (() => {
  /** @type {[number, string][]} */
  const units = [[86400000, "d"], [3600000, "h"], [60000, "m"], [1000, "s"]];
  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const fixed = (value, decimals) => {
    const [whole, part] = Math.abs(value).toFixed(decimals).split(".");
    const text = grouped(whole) + (part ? `.${part}` : "");
    return value < 0 && Number(value.toFixed(decimals)) !== 0 ? `-${text}` : text;
  };
  const second = (at) => new Date(Math.round(at)).toISOString().slice(0, 19).replace("T", " ");
  return {
    fixed,
    many: (count) => grouped(String(count)),
    signed: (value, decimals) => (value > 0 ? "+" : "") + fixed(value, decimals),
    plural: (count, word) => `${grouped(String(count))} ${word}${count === 1 ? "" : "s"}`,
    second,
    utc: (at) => second(at).replace(/:00$/, ""),
    length: (ms) => {
      const [unit, name] = units.find(([unit]) => ms % unit === 0) ?? [1, "ms"];
      return ms / unit + name;
    },
    // Rounds away errors of binary fractions.
    price: (value, decimals) => (value === null ? "?" : value.toFixed(Math.max(decimals, 0))),
  };
})();

// First index of a sorted column whose value is not below `value`.
const firstFrom = (count, valueAt, value) => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};

const make = (parent, tag, text, className) => {
  const made = parent.appendChild(document.createElement(tag));
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};
