// Groups of dead letters by cause, and the list of a group: elements without behaviour; `data-act` marks what can be clicked.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { addressOf } from "./place.js";
import { ago, say } from "./strings.js";

/** The overview: the number of cases in each state, and the groups of the waiting ones. */
export function renderGroups({ counts, groups }, busy) {
  const waiting = counts.open ?? 0;
  return h(
    "div",
    { "data-key": "groups" },
    h("div", { class: "op-head" }, states(counts), waiting > 0 && replayButton("replay-all", say("replayAll"), { count: waiting, busy })),
    groups.length ? h("div", { class: "op-groups" }, ...groups.map((group) => card(group, busy))) : nothing(),
  );
}

function states(counts) {
  const names = Object.keys(say("states")).filter((name) => counts[name]);
  return h(
    "ul",
    { class: "op-states" },
    ...names.map((name) =>
      h("li", {}, h("a", { class: `op-state ${name}`, href: addressOf("state", name) }, h("b", {}, counts[name]), ` ${say("states")[name]}`)),
    ),
  );
}

function card({ group, count, step, reason, cause, first_at: first, last_at: last }, busy) {
  return h(
    "article",
    { class: "op-group", "data-key": group, "data-testid": "group", "data-group": group },
    h("span", { class: "op-count" }, count),
    h(
      "div",
      { class: "op-what" },
      h("a", { class: "op-open op-cause", href: addressOf("group", group) }, cause),
      h("p", { class: "op-tags" }, h("span", { class: "op-tag" }, step ?? "–"), h("code", {}, reason)),
      h("p", { class: "hint" }, say("firstAndLast", { first: ago(first), last: ago(last) })),
    ),
    replayButton("replay-group", say("replay"), { id: group, count, busy }),
  );
}

function nothing() {
  return h(
    "div",
    { class: "op-nothing", "data-key": "nothing" },
    icon("check_circle"),
    h("h2", {}, say("noDeadLetters")),
    h("p", {}, say("noDeadLettersText")),
  );
}

/** The cases of a group or a state, latest first; `picked` of them are selected. */
export function renderCases({ total, cases }, { view, id, picked, busy }) {
  const waits = view === "group" || id === "open";
  return h(
    "div",
    { "data-key": `${view}-${id}` },
    backLink(),
    h(
      "div",
      { class: "op-head" },
      h("h2", {}, view === "group" ? say("groupOf", { group: id }) : say("states")[id], " ", h("span", { class: "op-total" }, total)),
      waits && total > 0 && chosenButton({ view, id, picked, total, busy }),
    ),
    total === 0 && h("p", { class: "hint" }, say("gone")),
    waits && total > 0 && h("label", { class: "op-all" }, pick("all", say("selectAll")), h("span", {}, say("selectAll"))),
    h("ul", { class: "op-cases" }, ...cases.map((each) => row(each, waits))),
    cases.length < total &&
      h("button", { type: "button", class: "button outlined", "data-act": "more" }, say("more", { count: total - cases.length })),
  );
}

function chosenButton({ view, id, picked, total, busy }) {
  if (picked) return replayButton("replay-picked", say("replayPicked", { count: picked }), { busy });
  if (view === "group") return replayButton("replay-group", say("replayGroup"), { id, count: total, busy });
  return replayButton("replay-all", say("replayAll"), { count: total, busy });
}

function row(each, waits) {
  return h(
    "li",
    { class: "op-case", "data-key": each.id, "data-testid": "case" },
    waits && pick(each.id, say("select", { reference: each.reference })),
    h(
      "div",
      { class: "op-what" },
      h(
        "p",
        { class: "op-line" },
        h("a", { class: "op-open op-reference", href: addressOf("case", each.id) }, each.reference || each.id),
        !waits && stateChip(each.status),
        h("time", { class: "hint", datetime: each.last_at }, ago(each.asked_at ?? each.first_at)),
      ),
      h("p", { class: "op-error" }, each.error ?? each.reason),
      h(
        "p",
        { class: "hint" },
        [
          each.step ?? "–",
          named("attempts", each.attempts),
          named("replays", say("cameBack", { replays: each.replays, returned: each.returned })),
          named("asker", say(each.told ? "told" : "notTold")),
          each.thread ?? each.space ?? "–",
        ].join(" · "),
      ),
    ),
  );
}

function named(key, value) {
  return say("named", { name: say(key), value });
}

function pick(id, label) {
  return h("input", { type: "checkbox", "data-pick": id, "aria-label": label });
}

/** A case's state as a small label. */
export function stateChip(status) {
  return h("span", { class: `op-state ${status}` }, say("states")[status] ?? status);
}

/** The way back to the overview. */
export function backLink() {
  return h("a", { class: "op-back", href: addressOf("groups"), "data-key": "back" }, icon("chevron_left"), say("allDeadLetters"));
}

/** A button that starts a replay. It is disabled while a replay is being prepared or running. */
export function replayButton(act, words, { id, count, busy }) {
  const what = { "data-act": act, "data-id": id, "data-count": count, "data-testid": act };
  return h("button", { type: "button", class: "button filled_tonal op-act", disabled: busy, ...what }, icon("replay"), words);
}
