// The main program of the page: it draws the state when it changes, and turns actions into requests.

import { follow, post } from "./api.js";
import { listenToMenus } from "./buttons.js";
import { Clicks } from "./clicks.js";
import { command, send } from "./commands.js";
import { Composer } from "./composer.js";
import { h, morphChildren } from "./dom.js";
import { showFaults } from "./faults.js";
import { icon } from "./icons.js";
import { confirmed, showToast } from "./notices.js";
import { Operator } from "./operator.js";
import { drawHeading, placeIn } from "./place.js";
import { listenToTheme, recall, remember } from "./prefs.js";
import { drawSetup, listenToSetup } from "./setup.js";
import { Drawer, drawSpaces, isNarrow, listenToSpaces } from "./sidebar.js";
import { isDirect, State } from "./state.js";
import { Stream } from "./stream.js";
import { localise, say, speak, spoken } from "./strings.js";

const part = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const state = new State(draw);
state.person = recall("person");
state.space = recall("space");
speak(recall("language") ?? (navigator.language.startsWith("ja") ? "ja" : "en"));

const composer = new Composer({
  ids: { field: "composer", button: "send" },
  label: "ask",
  send: (space, written) => deliver(send(state, { ...written, space, thread: null })),
  command: (space, given) => deliver(command(state, given, { space, thread: null })),
  escape: () => {},
});
const threadComposer = new Composer({
  ids: { field: "thread-composer", button: "thread-send" },
  label: "replyPlaceholder",
  send: (thread, written) => deliver(send(state, { ...written, space: state.space, thread })),
  command: (thread, given) => deliver(command(state, given, { space: state.space, thread })),
  escape: closeThread,
});
const clicks = new Clicks({
  dialog: part["card-dialog"],
  state,
  say: (text) => showToast(part, text),
});
part.dock.append(composer.element);
const operator = new Operator(part.operator, { person: () => state.person, failed: (error) => tell("notDone", error) });
const drawer = new Drawer(part);
const stream = new Stream(part, threadComposer);

/** Wait until something is sent. If it is refused, the composer keeps it. */
async function deliver(sent) {
  try {
    const message = await sent;
    if (message.name) state.apply({ kind: "updated", message });
    if (!message.threadReply) stream.toEnd();
  } catch (error) {
    tell("notSent", error);
    throw error;
  }
}

function change(path, body) {
  return post(`/page/${path}`, body).catch((error) => tell("notDone", error));
}

function tell(what, error) {
  showToast(part, say(what, { reason: error.message || say("unreachable") }));
}

function draw() {
  drawSpaces(part.spaces, state);
  drawHeading(part, state);
  part.lost.hidden = state.connected;
  part.model.hidden = !state.model;
  morphChildren(part.model, h("p", {}, icon("info"), h("span", {}, say(state.model))));
  const people = state.people.map(({ name, displayName }) => h("option", { value: name }, displayName));
  morphChildren(part.person, h("select", {}, ...people));
  if (state.person) part.person.value = state.person;
  document.body.classList.toggle("operating", Boolean(state.place));
  part.operate.ariaCurrent = state.place ? "page" : null;
  drawSetup(part, state);
  if (state.place || !state.current) return;
  composer.open(state.space, addressing());
  stream.draw(state, addressing());
}

function addressing() {
  const { bot, commands, botIsHere: isHere } = state;
  return { bot: bot.displayName, canMention: !isDirect(state.current), isHere, commands };
}

function enter(space) {
  remember("space", space);
  drawer.close();
  if (state.place) history.pushState(null, "", location.pathname);
  state.enter(space);
  operator.show(null);
  if (!isNarrow()) composer.field.focus();
}

/** Go to the place in the address. */
function goByAddress() {
  const place = placeIn(location.hash);
  drawer.close();
  state.operate(place);
  operator.show(place);
}

function openThread(thread) {
  state.set({ openThread: thread });
  queueMicrotask(() => {
    threadComposer.field.focus({ preventScroll: true });
    threadComposer.element.scrollIntoView({ block: "nearest" });
  });
}

function closeThread() {
  const thread = state.openThread;
  state.set({ openThread: null });
  const topic = [...part.stream.children].find((element) => element.dataset.thread === thread);
  queueMicrotask(() => topic?.querySelector("[data-act=reply]")?.focus());
}

const acts = {
  delete: (button) => {
    const { name } = button.closest("[data-name]").dataset;
    confirmed(part, say("deleteQuestion"), "delete", () => change("delete", { name }));
  },
  expand: (button) => {
    state.expanded.add(button.closest("[data-thread]").dataset.thread);
    state.changed();
  },
  press: (button) => clicks.press(button, button.closest("[data-name]").dataset.name),
  reply: (button) => openThread(button.closest("[data-thread]").dataset.thread),
  suggest: (button) => {
    composer.ask(button.textContent);
    composer.field.focus();
  },
};

function drawWords() {
  const bot = state.bot.displayName;
  localise(document, { bot });
  composer.draw();
  threadComposer.draw();
  operator.draw();
  state.changed();
}

part.stream.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-act]");
  if (button) acts[button.dataset.act](button);
});
// Only the buttons of a card send its inputs.
document.addEventListener("submit", (event) => event.target.matches(".card") && event.preventDefault());
listenToMenus();
listenToSetup(part, state, change);
part.language.addEventListener("change", () => {
  speak(part.language.value);
  remember("language", spoken());
  drawWords();
});
part.person.addEventListener("change", () => {
  remember("person", part.person.value);
  state.become(part.person.value);
});
listenToSpaces(part.spaces, enter);
addEventListener("hashchange", goByAddress);
listenToTheme(part.theme);
for (const element of document.querySelectorAll("[data-icon]")) element.prepend(icon(element.dataset.icon));
part.language.value = spoken();
drawWords();
goByAddress();
follow({
  loaded: (answer) => state.load(answer),
  changed: (change) => state.apply(change),
  lost: () => state.set({ connected: false }),
});
showFaults({ panel: part.faults, list: part["faults-list"], count: part["faults-on"], off: part["faults-off"] }, (error) =>
  tell("notDone", error),
);
