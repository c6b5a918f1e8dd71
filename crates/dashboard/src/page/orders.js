/* global byId */
// Halt and resume, each after a confirmation.
import { order } from "./connection.js";

const WORDS = {
  halt: {
    title: "Halt the bot?", yes: "Halt",
    text: "The bot opens no more trades until resumed. Open trades cannot be closed early; they are tracked to settlement.",
  },
  resume: {
    title: "Resume?", yes: "Resume",
    text: "The bot may open trades again. Its drawdown peak and loss streak are reset, and a HALT file is removed.",
  },
};

/** @param {(text: string) => void} say reports the result of an order */
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
    order(`/api/${what}`, body).then(({ text }) => say(text)).catch((error) => say(`Failed: ${error.message}`));
  });
  const told = byId("told");
  byId("told-close").addEventListener("click", () => told.close());
};

export { listenToOrders };
