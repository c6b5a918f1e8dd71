/* global byId */
// Halt and resume, each after a confirmation.
import { order } from "./connection.js";

const WORDS = {
  halt: {
    title: "Halt the bot?", yes: "Halt",
    text: "It opens no more trades until somebody resumes. What is open cannot be cut short: it is tracked to its end.",
  },
  resume: {
    title: "Resume?", yes: "Resume",
    text: "The bot may open trades again. Its drawdown peak and loss streak begin anew, and a HALT file is removed.",
  },
};

/** @param {(text: string) => void} say what came of an order */
const listenToOrders = (say) => {
  const dialog = byId("confirm");
  let what = "halt";
  const open = (kind) => {
    what = kind;
    byId("confirm-title").textContent = WORDS[kind].title;
    byId("confirm-text").textContent = WORDS[kind].text;
    byId("confirm-yes").textContent = WORDS[kind].yes;
    byId("confirm-reason").hidden = kind !== "halt";
    byId("reason").value = "";
    dialog.showModal();
    (kind === "halt" ? byId("reason") : byId("confirm-no")).focus();
  };
  byId("halt").addEventListener("click", () => open("halt"));
  byId("resume").addEventListener("click", () => open("resume"));
  byId("confirm-form").addEventListener("submit", (event) => {
    if (event.submitter?.value === "no") return;
    const body = what === "halt" ? { reason: byId("reason").value } : {};
    say(what === "halt" ? "Halting…" : "Resuming…");
    order(`/api/${what}`, body).then(({ text }) => say(text)).catch((error) => say(`Not done: ${error.message}`));
  });
  const told = byId("told");
  byId("told-close").addEventListener("click", () => told.close());
};

export { listenToOrders };
