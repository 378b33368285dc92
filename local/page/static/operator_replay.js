// A replay: its form, and its progress message by message.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { addressOf } from "./place.js";
import { say, sayCount } from "./strings.js";

/** The icon for the result of a message. */
const DRAWN = { answered: "check_circle", returned: "error", under_way: "progress_activity", FAILED: "error" };

/** The form to replay `count` dead letters; `preview` is the result of a dry run. */
export function renderForm({ count, preview }) {
  return h(
    "form",
    { class: "op-panel op-form", "data-key": "form", "data-testid": "replay-form" },
    h("h2", {}, sayCount("replayCount", count)),
    h(
      "div",
      { class: "op-fields" },
      count > 1 && number("limit", say("canary"), { min: "1", step: "1", placeholder: say("canaryAll") }),
      count > 1 && number("rate", say("rate"), { min: "0.5", max: "100", step: "0.5", value: "10", required: true }),
      h("label", { class: "op-tick" }, h("input", { type: "checkbox", name: "stale" }), h("span", {}, say("stale"))),
    ),
    h(
      "div",
      { class: "buttons" },
      h("button", { class: "button filled", value: "go", "data-testid": "replay-now" }, icon("replay"), say("replay")),
      h("button", { class: "button outlined", value: "dry", "data-testid": "dry-run" }, say("dryRun")),
      h("button", { class: "button borderless", type: "button", "data-act": "cancel" }, say("cancel")),
    ),
    preview && dryRun(preview),
  );
}

function number(name, words, attributes) {
  return h("label", { class: "op-number" }, h("span", {}, words), h("input", { type: "number", name, ...attributes }));
}

function dryRun({ total, outcomes, messages }) {
  const words = total ? say("dryRunDone", { outcomes: counted(outcomes, say("outcomes")) }) : say("nothingToReplay");
  return h("div", { class: "op-preview", role: "status", "data-testid": "preview" }, h("p", {}, words), list(messages, total));
}

/** The progress of a replay. */
export function renderReplay(replay) {
  const { name, running, total, done, outcomes, ends, messages } = replay;
  const title = running ? "replaying" : replay.stopped || replay.too_many_returned || replay.trouble ? "replayStopped" : "replayOver";
  return h(
    "section",
    { class: "op-panel", "data-key": `replay-${name}`, "data-testid": "replay" },
    h(
      "div",
      { class: "op-head" },
      h("h2", {}, running && icon("progress_activity"), say(title)),
      running
        ? h("button", { type: "button", class: "button outlined", "data-act": "stop" }, say("stop"))
        : h("button", { type: "button", class: "button outlined", "data-act": "seen" }, say("close")),
    ),
    h("p", { class: "hint" }, h("code", {}, name)),
    h("progress", { max: total, value: done, "aria-label": say("replaying") }),
    h("p", { class: "op-sums", role: "status" }, `${done} / ${total}`, sum(counted(outcomes, say("outcomes"))), sum(counted(ends, say("ends")))),
    replay.too_many_returned && h("p", { class: "op-warning" }, icon("warning"), say("tooMany")),
    replay.stopped && h("p", { class: "hint" }, say("stopped")),
    replay.trouble && h("p", { class: "op-warning" }, icon("warning"), troubled(replay.trouble)),
    list(messages, total),
  );
}

function troubled({ status, message }) {
  return status === "UNREACHABLE" ? say("unreachableCloud") : message;
}

function sum(words) {
  return words && h("span", {}, words);
}

function counted(counts, names) {
  return Object.keys(names)
    .filter((name) => counts[name])
    .map((name) => say("countOf", { count: counts[name], what: names[name] }))
    .join(say("comma"));
}

function list(messages, total) {
  const rest = total - messages.length;
  return h(
    "ul",
    { class: "op-messages", "aria-label": say("whatBecame"), tabindex: "0" },
    ...messages.map(outcome),
    rest > 0 && h("li", { class: "hint" }, say("moreMessages", { count: rest })),
  );
}

function outcome({ case: id, reference, outcome: what, detail, end }) {
  const words = what ? say("outcomes")[what] : say("waiting");
  const skipped = what && what !== "REPLAYED" ? "info" : "radio_button_unchecked";
  return h(
    "li",
    { "data-key": id, "data-testid": "outcome" },
    icon(DRAWN[end] ?? DRAWN[what] ?? skipped),
    h("a", { class: "op-reference", href: addressOf("case", id) }, reference || id),
    h("span", {}, [words, end && say("ends")[end]].filter(Boolean).join(say("comma")), detail && ` (${detail})`),
  );
}
