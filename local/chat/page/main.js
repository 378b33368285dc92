// Puts the page together: the state is drawn whenever it changes, and what the person does becomes a request.

import { follow, post } from "./api.js";
import { Composer } from "./composer.js";
import { h, morphChildren } from "./dom.js";
import { showFaults } from "./faults.js";
import { drawHeading } from "./heading.js";
import { icon } from "./icons.js";
import { renderStream, renderWelcome } from "./messages.js";
import { Operator } from "./operator.js";
import { recall, remember } from "./prefs.js";
import { placeIn } from "./route.js";
import { Drawer, drawSpaces, isNarrow, listenToSpaces } from "./sidebar.js";
import { isDirect, State } from "./state.js";
import { localise, say, speak, spoken } from "./strings.js";
import { listenToTheme } from "./theme.js";
import { showToast } from "./toast.js";

/** How near the end of the stream (in pixels) counts as being at its end. */
const AT_END = 60;
/** What stays visible above a long answer, in pixels. */
const MARGIN = 12;
const part = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const state = new State(draw);
state.person = recall("person");
state.space = recall("space");
speak(recall("language") ?? (navigator.language.startsWith("ja") ? "ja" : "en"));

const composer = new Composer({
  ids: { field: "composer", button: "send" },
  label: "ask",
  send: (space, text, mention) => sendMessage({ space, text, mention, thread: null }),
  escape: () => {},
});
const threadComposer = new Composer({
  ids: { field: "thread-composer", button: "thread-send" },
  label: "replyPlaceholder",
  send: (thread, text, mention) => sendMessage({ space: state.space, text, mention, thread }),
  escape: closeThread,
});
part.dock.append(composer.element);
const operator = new Operator(part.operator, { person: () => state.person, failed: (error) => tell("notDone", error) });
const drawer = new Drawer(part);
let atEnd = true;
let drawnSpace = null;

async function sendMessage(fields) {
  try {
    const message = await post("/page/messages", { ...fields, locale: spoken(), person: state.person });
    state.apply({ kind: "updated", message });
    if (!fields.thread) atEnd = true;
  } catch (error) {
    tell("notSent", error);
    throw error;
  }
}

function tell(what, error) {
  showToast(part, say(what, { reason: error.message || say("unreachable") }));
}

function draw() {
  const bot = state.bot.displayName;
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
  if (state.place || !state.current) return;
  composer.open(state.space, addressing());
  drawStream(bot);
}

function drawStream(bot) {
  if (drawnSpace !== state.space) {
    part.stream.replaceChildren();
    atEnd = true;
    drawnSpace = state.space;
  }
  const topics = renderStream(state, part.stream);
  morphChildren(part.stream, h("div", {}, ...(topics.length ? topics : [renderWelcome(bot)])));
  const slot = part.stream.querySelector(".thread-slot");
  if (slot) {
    threadComposer.open(state.openThread, addressing());
    if (!slot.contains(threadComposer.element)) slot.append(threadComposer.element);
  }
  keepInView();
}

function addressing() {
  return { bot: state.bot.displayName, canMention: !isDirect(state.current) };
}

function keepInView() {
  const last = [...part.stream.querySelectorAll(".message")].at(-1);
  // The end of the stream, but never past the beginning of an answer that is longer than the window.
  if (atEnd) part.stream.scrollTop = last ? Math.min(part.stream.scrollHeight, last.offsetTop - MARGIN) : 0;
  else if (threadComposer.element.contains(document.activeElement)) threadComposer.element.scrollIntoView({ block: "nearest" });
  noteScroll();
}

function noteScroll() {
  const { scrollHeight, scrollTop, clientHeight } = part.stream;
  atEnd = scrollHeight - scrollTop - clientHeight < AT_END;
  part.latest.hidden = atEnd;
}

function enter(space) {
  remember("space", space);
  drawer.close();
  if (state.place) history.pushState(null, "", location.pathname);
  state.enter(space);
  operator.show(null);
  if (!isNarrow()) composer.field.focus();
}

/** Go where the address says. */
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

function confirmDelete(name) {
  part.confirm.returnValue = "";
  part.confirm.onclose = () => {
    if (part.confirm.returnValue === "delete") post("/page/delete", { name }).catch((error) => tell("notDone", error));
  };
  part.confirm.showModal();
}

const acts = {
  delete: (button) => confirmDelete(button.closest("[data-name]").dataset.name),
  expand: (button) => {
    state.expanded.add(button.closest("[data-thread]").dataset.thread);
    state.changed();
  },
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
part.stream.addEventListener("scroll", noteScroll);
part.latest.addEventListener("click", () => {
  part.stream.scrollTop = part.stream.scrollHeight;
});
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
