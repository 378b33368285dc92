// The operator view: it polls the server, draws the dead letters, and starts replays.

import { get, post } from "./api.js";
import { h, morphChildren } from "./dom.js";
import { renderCase } from "./operator_case.js";
import { renderCases, renderGroups } from "./operator_lists.js";
import { renderForm, renderReplay } from "./operator_replay.js";
import { recall, remember } from "./prefs.js";
import { say } from "./strings.js";

const LOOK_MS = 2_000;
/** While a replay is running, in milliseconds. */
const LOOK_OFTEN_MS = 600;
const PAGE = 50;
const LOST = { DECLINED: "busy", NOT_FOUND: "noCase", UNREACHABLE: "unreachableCloud" };

/** The view in `root`. `person()` is the operator. Calls `failed(error)` if an action fails. */
export class Operator {
  #root;
  #person;
  #failed;
  #place = null;
  #shown = null;
  #replay = null;
  #trouble = "";
  #picked = new Set();
  #form = null;
  #withText = false;
  #limit = PAGE;
  #timer = 0;
  #round = 0;

  constructor(root, { person, failed }) {
    this.#root = root;
    this.#person = person;
    this.#failed = failed;
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-act]");
      if (button) this.#acts[button.dataset.act](button);
    });
    root.addEventListener("change", ({ target }) => this.#pick(target));
    root.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send(event.target, event.submitter?.value === "dry");
    });
  }

  /** Go to a place in the view; null leaves the view. */
  show(place) {
    const same = place?.view === this.#place?.view && place?.id === this.#place?.id;
    this.#place = place;
    if (!same) {
      this.#picked.clear();
      this.#root.scrollTop = 0;
      [this.#shown, this.#form, this.#withText, this.#limit] = [null, null, false, PAGE];
    }
    this.draw();
    this.#refresh();
  }

  /** Draw the view in the current language. */
  draw() {
    if (!this.#place) return;
    const seen = !this.#replay || recall("replaySeen") === this.#replay.name;
    const parts = [
      this.#trouble && h("p", { class: "op-trouble", role: "alert", "data-key": "trouble" }, this.#trouble),
      !seen && renderReplay(this.#replay),
      this.#form && renderForm(this.#form),
      this.#shown ? this.#view() : !this.#trouble && h("p", { class: "hint", "data-key": "loading" }, say("loading")),
    ];
    morphChildren(this.#root, h("div", {}, ...parts.filter(Boolean)));
    this.#drawPicks();
  }

  #view() {
    const busy = Boolean(this.#replay?.running || this.#form);
    const { view, id } = this.#place;
    if (view === "groups") return renderGroups(this.#shown, busy);
    if (view === "case") return renderCase(this.#shown, busy);
    return renderCases(this.#shown, { view, id, picked: this.#picked.size, busy });
  }

  /** Ask the server for the content of the view. Drops the answer if the person has moved on. */
  async #refresh() {
    clearTimeout(this.#timer);
    const round = ++this.#round;
    if (!this.#place) return;
    try {
      const [shown, { replay }] = await Promise.all([get(this.#path), get("/ops/replay")]);
      if (round !== this.#round) return;
      [this.#shown, this.#replay, this.#trouble] = [shown, replay, ""];
      this.#dropGonePicks();
    } catch (error) {
      if (round !== this.#round) return;
      this.#trouble = wordsFor(error);
    }
    this.draw();
    this.#timer = setTimeout(() => this.#refresh(), this.#replay?.running ? LOOK_OFTEN_MS : LOOK_MS);
  }

  get #path() {
    const { view, id } = this.#place;
    if (view === "groups") return "/ops/groups";
    if (view === "case") return `/ops/cases/${encodeURIComponent(id)}${this.#withText ? "?text=1" : ""}`;
    return `/ops/cases?${new URLSearchParams({ [view]: id, limit: this.#limit })}`;
  }

  #acts = {
    "replay-all": ({ dataset }) => this.#ask({ every: true }, Number(dataset.count)),
    "replay-group": ({ dataset }) => this.#ask({ group: dataset.id }, Number(dataset.count)),
    "replay-case": ({ dataset }) => this.#ask({ ids: [dataset.id] }, 1),
    "replay-picked": () => this.#ask({ ids: [...this.#picked] }, this.#picked.size),
    cancel: () => this.#ask(null),
    stop: () => this.#do(() => post("/ops/replay/stop", {})),
    seen: () => {
      remember("replaySeen", this.#replay.name);
      this.draw();
    },
    more: () => {
      this.#limit += PAGE;
      this.#refresh();
    },
    text: () => {
      this.#withText = !this.#withText;
      this.#refresh();
    },
  };

  /** Show the form for a replay of the chosen ones; null closes it. */
  #ask(asked, count) {
    this.#form = asked && { asked, count, preview: null };
    this.draw();
    this.#root.scrollTop = 0;
    this.#root.querySelector(".op-form input, .op-form button")?.focus({ preventScroll: true });
  }

  async #send(form, dry) {
    const fields = new FormData(form);
    const asked = { ...this.#form.asked, dry_run: dry, even_stale: fields.has("stale"), person: this.#person() };
    if (fields.get("rate")) asked.rate = Number(fields.get("rate"));
    if (fields.get("limit")) asked.limit = Number(fields.get("limit"));
    await this.#do(async () => {
      const answer = await post("/ops/replay", asked);
      if (dry) this.#form = this.#form && { ...this.#form, preview: answer };
      else [this.#form, this.#replay] = [null, answer.replay];
      if (!dry) this.#picked.clear();
    });
  }

  async #do(work) {
    try {
      await work();
    } catch (error) {
      this.#failed(new Error(error.status === "NOT_FOUND" ? say("nothingToReplay") : wordsFor(error)));
    }
    this.draw();
    this.#refresh();
  }

  #pick({ dataset, checked, type }) {
    if (type !== "checkbox" || !dataset.pick) return;
    const picks = dataset.pick === "all" ? this.#pickable() : [dataset.pick];
    for (const id of picks) this.#picked[checked ? "add" : "delete"](id);
    this.draw();
  }

  #pickable() {
    return (this.#shown?.cases ?? []).map(({ id }) => id);
  }

  #dropGonePicks() {
    const there = new Set(this.#pickable());
    for (const id of this.#picked) if (!there.has(id)) this.#picked.delete(id);
  }

  #drawPicks() {
    const all = this.#pickable();
    for (const box of this.#root.querySelectorAll("[data-pick]")) {
      const one = box.dataset.pick !== "all";
      box.checked = one ? this.#picked.has(box.dataset.pick) : all.length > 0 && all.every((id) => this.#picked.has(id));
    }
  }
}

function wordsFor({ status, message }) {
  return LOST[status] ? say(LOST[status]) : message || say("unreachable");
}
