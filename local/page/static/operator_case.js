// Everything about one dead letter. The text of people appears only on request.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { backLink, replayButton, stateChip } from "./operator_lists.js";
import { ago, say, spoken } from "./strings.js";

/** The element for one case, as the server describes it. */
export function renderCase(each, busy) {
  const waits = each.status === "open";
  return h(
    "div",
    { class: "op-full", "data-key": `case-${each.id}`, "data-testid": "full-case" },
    backLink(),
    h(
      "div",
      { class: "op-head" },
      h("h2", {}, each.reference, " ", stateChip(each.status)),
      waits && replayButton("replay-case", say("replay"), { id: each.id, busy }),
    ),
    h("dl", { class: "op-facts" }, ...facts(each).flatMap(([name, value]) => [h("dt", {}, say(name)), h("dd", {}, value)])),
    part("why", ...why(each)),
    part("way", h("ol", { class: "op-way" }, ...each.way.map(stop))),
    message(each),
    each.actions.length > 0 && part("opsDone", h("ul", { class: "op-plain" }, ...each.actions.map(action))),
  );
}

function facts(each) {
  const { step, sender, attempts, copies, replays, returned } = each;
  return [
    ["question", h("code", {}, each.question_id)],
    ["place", h("code", {}, each.thread ?? each.space ?? "–")],
    ["asked", when(each.asked_at)],
    ["died", when(each.last_at)],
    ["inStep", say("sentBy", { step: step ?? "–", sender: sender ?? "–" })],
    ["reason", h("code", {}, each.reason)],
    ["error", each.error ?? say("noError")],
    ["attempts", say("attemptsText", { attempts, copies })],
    ["asker", say(each.told ? "told" : "notTold")],
    ["replays", say("cameBack", { replays, returned })],
    ["answeredAt", when(each.answered_at)],
    ["log", h("code", {}, each.log)],
  ];
}

function part(title, ...content) {
  return h("section", { class: "op-part", "data-key": title }, h("h3", {}, say(title)), ...content);
}

function why({ failures, reason, step, attempts }) {
  const dead = reason === "no_failure_record" && h("p", {}, say("noRecord", { step: step ?? "–", attempts }));
  const recorded = failures.map((failure) =>
    h(
      "div",
      {},
      h("p", {}, say("failed", failure)),
      h("p", { class: "hint" }, say("firstAndLast", { first: ago(failure.first_at), last: ago(failure.last_at) })),
      failure.stack?.length > 0 && h("pre", {}, failure.stack.join("\n")),
    ),
  );
  return [dead, ...recorded].filter(Boolean);
}

function stop({ at, step, what, seconds }) {
  const took = seconds == null ? "" : ` (${seconds.toFixed(1)} s)`;
  return h("li", {}, h("time", { datetime: at }, clock(at)), h("b", {}, step), h("span", {}, `${inWords(what)}${took}`));
}

/** The server's text about a stop, in the current language. */
function inWords(what) {
  const [pattern, words] = say("stops").find(([each]) => new RegExp(each).test(what)) ?? [];
  return pattern ? what.replace(new RegExp(pattern), words) : what;
}

function message({ bytes, envelope, with_text: withText, attributes }) {
  const button = h(
    "button",
    { type: "button", class: "button outlined", "data-act": "text", "aria-pressed": String(withText), "data-testid": "text" },
    icon(withText ? "lock" : "lock_open"),
    say(withText ? "hideText" : "showText"),
  );
  const names = Object.keys(attributes).sort();
  return h(
    "section",
    { class: "op-part", "data-key": "message" },
    h("h3", {}, say("message", { bytes })),
    h("div", { class: "op-text" }, button, !withText && h("span", { class: "hint" }, say("textHint"))),
    h("pre", { "data-testid": "envelope", tabindex: "0" }, envelope),
    h("h3", {}, say("attributes")),
    h("pre", { tabindex: "0" }, names.map((name) => `${name}: ${attributes[name]}`).join("\n")),
  );
}

function action({ at, by, action: what, outcome, operation }) {
  return h("li", {}, h("time", { datetime: at }, clock(at)), h("b", {}, by), h("span", {}, `${what} → ${outcome} `, h("code", {}, operation)));
}

function when(at) {
  return at ? h("time", { datetime: at }, `${new Date(at).toLocaleString(spoken())} (${ago(at)})`) : "–";
}

function clock(at) {
  return new Date(at).toLocaleTimeString(spoken());
}
