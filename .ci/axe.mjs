// What axe-core finds on a page of a browser that is driven.
import { readFileSync } from "node:fs";

/** @param {NodeRequire} require of the folder that holds axe-core */
export const axeOf = (require) => {
  const source = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const found = async (page) => {
    await page.evaluate(source);
    return (await page.evaluate(() => globalThis.axe.run())).violations;
  };
  return {
    /** The names of all rules that are broken. */
    names: async (page) => (await found(page)).map(({ id }) => id),
    /** What is serious, in words; nothing where nothing is. */
    serious: async (page) => {
      const serious = (await found(page)).filter(({ impact }) => impact === "serious" || impact === "critical");
      const places = (nodes) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`);
      return serious.map(({ id, nodes }) => `${id}: ${places(nodes).join("\n")}`).join("\n");
    },
  };
};
