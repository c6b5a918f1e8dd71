// Findings of axe-core on a page of a driven browser.
import { readFileSync } from "node:fs";

/** @param {NodeRequire} require of the folder that holds axe-core */
export const axeOf = (require) => {
  const source = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const found = async (page) => {
    await page.evaluate(source);
    return (await page.evaluate(() => globalThis.axe.run())).violations;
  };
  return {
    /** Names of all violated rules. */
    names: async (page) => (await found(page)).map(({ id }) => id),
    /** Text of serious violations, empty without any. */
    serious: async (page) => {
      const serious = (await found(page)).filter(({ impact }) => impact === "serious" || impact === "critical");
      const places = (nodes) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`);
      return serious.map(({ id, nodes }) => `${id}: ${places(nodes).join("\n")}`).join("\n");
    },
  };
};
