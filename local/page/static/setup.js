// The panel that shows and changes how Chat is connected to the bot, and who is in the conversation.

import { h, morphChildren } from "./dom.js";
import { icon } from "./icons.js";
import { confirmed } from "./notices.js";
import { isDirect } from "./state.js";
import { say, spoken } from "./strings.js";

const CHOICES = { shape: ["classic", "add-on"], transport: ["https", "pubsub"] };
const NAMES = { classic: "Classic", "add-on": "Add-on", https: "HTTPS", pubsub: "Pub/Sub" };

/** Update the panel, and the line above a conversation without the bot. */
export function drawSetup(part, state) {
  const { connection, current, bot, botIsHere, place } = state;
  if (!connection || !current) return;
  part.absent.hidden = botIsHere || Boolean(place);
  part["absent-text"].textContent = say("absent", { bot: bot.displayName });
  part["absent-join"].textContent = say("join", { bot: bot.displayName });
  part["setup-now"].textContent = `${NAMES[connection.shape]} · ${NAMES[connection.transport]}`;
  const choices = Object.keys(CHOICES).map((name) => choice(name, connection[name]));
  const hint = h("p", { class: "hint" }, say(connection.bringsClicks ? "connectionAll" : "connectionNoClicks"));
  morphChildren(part["setup-body"], h("div", {}, ...choices, hint, members(state)));
  // A radio button that a person has chosen no longer follows its attribute.
  for (const field of part["setup-body"].querySelectorAll("input")) field.checked = connection[field.name] === field.value;
}

/** Call `change(path, body)` for a choice in the panel. It resolves to nothing if the change is refused. */
export function listenToSetup(part, state, change) {
  const member = (bot) => change("members", { bot, space: state.space, person: state.person, locale: spoken() });
  const acts = {
    join: () => member("add"),
    leave: () => {
      const words = { bot: state.bot.displayName, space: nameOf(state.current) };
      confirmed(part, say("leaveQuestion", words), "remove", () => member("remove"));
    },
  };
  part["absent-join"].addEventListener("click", acts.join);
  part["setup-body"].addEventListener("click", ({ target }) => acts[target.closest("[data-act]")?.dataset.act]?.());
  part["setup-body"].addEventListener("change", async ({ target }) => {
    const before = state.connection;
    const { shape, transport, audience } = { ...before, [target.name]: target.value };
    // The audience of an add-on is always its URL.
    const wanted = { shape, transport, audience: shape === "add-on" ? "url" : audience };
    state.set({ connection: { ...before, ...wanted } }); // so that it stays chosen until the server tells it
    if (!(await change("connection", wanted))) state.set({ connection: before });
  });
}

function nameOf(space) {
  return isDirect(space) ? say("directMessages") : space.displayName;
}

function choice(name, chosen) {
  const options = CHOICES[name].map((value) =>
    h(
      "label",
      { class: "segment" },
      h("input", { type: "radio", name, value, checked: value === chosen }),
      h("span", {}, NAMES[value]),
    ),
  );
  return h("fieldset", { class: "setup-choice" }, h("legend", {}, say(name === "shape" ? "connectionShape" : "connectionTransport")), h("div", { class: "segments" }, ...options));
}

function members({ current, people, person, bot, botIsHere }) {
  const here = people.filter(({ name }) => !current.person || current.person === name);
  const act = botIsHere ? "leave" : "join";
  const button = h("button", { type: "button", class: "text-button", "data-act": act, "data-key": act }, say(act, { bot: bot.displayName }));
  return h(
    "section",
    { class: "members", "aria-label": say("members") },
    h("h3", {}, say("membersOf", { space: nameOf(current) })),
    h(
      "ul",
      {},
      ...here.map(({ name, displayName }) =>
        h("li", {}, icon("person"), h("span", {}, displayName), name === person && h("span", { class: "hint" }, say("you"))),
      ),
      botIsHere && h("li", {}, h("img", { src: "/static/logo.svg", alt: "", class: "icon" }), h("span", {}, bot.displayName), h("span", { class: "badge" }, say("app"))),
    ),
    button,
  );
}
