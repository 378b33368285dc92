// The stream: days, threads and messages, as elements without behaviour; `data-act` marks what can be clicked.

import { renderAccessory, renderCard } from "./cards.js";
import { h, lines } from "./dom.js";
import { icon } from "./icons.js";
import { fromHtml } from "./richtext.js";
import { dayOf, say, spoken, timeOfDay } from "./strings.js";

const TINTS = 6;
/** A thread with more than MANY replies shows only the last LAST ones until it is opened. */
const MANY = 8;
const LAST = 4;

/** The elements for the stream of the current space; `stream` holds the previous ones. */
export function renderStream(state, stream) {
  const stamps = new Map([...stream.children].map(({ dataset }) => [dataset.key, dataset.stamp]));
  let day = null;
  return state.topics.flatMap((topic) => {
    const first = topic.root ?? topic.replies[0];
    const today = dayOf(first.createTime);
    const separator = today !== day && h("div", { class: "day", "data-key": `day-${today}` }, h("span", {}, today));
    day = today;
    const stamp = stampOf(topic, state);
    const same = stamps.get(topic.thread) === stamp;
    const section = same ? h("section", { "data-key": topic.thread, "data-same": true }) : renderTopic(topic, state, stamp);
    return separator ? [separator, section] : [section];
  });
}

/** A key that changes when a thread looks different. Drawing a long stream completely at every change would be slow. */
function stampOf({ thread, root, replies }, { openThread, expanded, unanswered }) {
  const messages = [root, ...replies].map((message) => [message?.name, message?.lastUpdateTime, unanswered.has(message?.name)]);
  return [spoken(), openThread === thread, expanded.has(thread), ...messages].join(" ");
}

/** What an empty space shows: an introduction, and questions to start with. */
export function renderWelcome(bot) {
  return h(
    "div",
    { class: "welcome", "data-key": "welcome" },
    h("img", { src: "/static/logo.svg", alt: "", width: 56, height: 56 }),
    h("h2", {}, say("emptyTitle", { bot })),
    h("p", {}, say("emptyText", { bot })),
    h(
      "div",
      { class: "suggestions" },
      ...say("suggestions").map((text) => h("button", { type: "button", "data-act": "suggest" }, text)),
    ),
  );
}

function renderTopic({ thread, root, replies }, state, stamp) {
  const fold = replies.length > MANY && !state.expanded.has(thread);
  const opening = ((root ?? replies[0])?.text ?? "").slice(0, 60);
  return h(
    "section",
    {
      class: "topic", "data-key": thread, "data-thread": thread, "data-stamp": stamp,
      "aria-label": say("thread", { text: opening }),
    },
    root ? renderMessage(root, state) : h("p", { class: "gone hint" }, say("deletedRoot")),
    h(
      "div",
      { class: "replies" },
      fold && actionButton("expand", "chevron_right", say("earlier", { count: replies.length - LAST })),
      ...(fold ? replies.slice(-LAST) : replies).map((reply) => renderMessage(reply, state)),
      state.openThread === thread
        ? h("div", { class: "thread-slot", "data-keep": true, "data-key": "slot" })
        : actionButton("reply", "reply", say("reply"), { "data-testid": "thread-reply" }),
    ),
  );
}

function actionButton(act, drawing, text, extra = {}) {
  const attributes = { type: "button", class: "text-button", "data-act": act, "data-key": act, ...extra };
  return h("button", attributes, icon(drawing), h("span", {}, text));
}

function renderMessage(message, state) {
  const { name, sender, cardsV2 = [], accessoryWidgets = [] } = message;
  return h(
    "article",
    {
      class: "message", "data-key": name,
      "data-testid": "message", "data-name": name, "data-sender": sender.type,
    },
    avatar(sender),
    h(
      "div",
      { class: "body" },
      byline(message),
  textOf(message),
      ...(message.attachment ?? []).map(attachment),
      ...cardsV2.map(renderCard),
      ...accessoryWidgets.map(renderAccessory),
      state.unanswered.has(name) && trouble(state.bot.displayName),
    ),
    deleteButton(),
  );
}

function trouble(bot) {
  return h("div", { class: "trouble" }, icon("error"), say("notResponding", { bot }));
}

function deleteButton() {
  const words = { "aria-label": say("deleteMessage"), title: say("deleteMessage") };
  return h("button", { type: "button", class: "round delete", "data-act": "delete", ...words }, icon("delete"));
}

function avatar({ name, displayName, type }) {
  if (type === "BOT") return h("img", { class: "avatar", src: "/static/logo.svg", alt: "" });
  const tint = [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % TINTS;
  return h("span", { class: `avatar tint-${tint}`, "aria-hidden": "true" }, [...displayName][0] ?? "?");
}

function byline({ sender, createTime, lastUpdateTime }) {
  const edited = lastUpdateTime && Date.parse(lastUpdateTime) > Date.parse(createTime);
  return h(
    "div",
    { class: "byline" },
    h("span", { class: "author" }, sender.displayName),
    sender.type === "BOT" && h("span", { class: "badge" }, say("app")),
    h("time", { datetime: createTime, title: new Date(createTime).toLocaleString() }, timeOfDay(createTime)),
    edited && h("span", { class: "edited" }, say("edited")),
  );
}

function attachment({ contentName }) {
  return h("div", { class: "attachment" }, icon("attach_file"), h("span", {}, contentName));
}

function textOf({ html, text, annotations = [] }) {
  if (!text) return null;
  const mention = annotations.find(({ userMention, slashCommand }) => userMention || slashCommand);
  const content = mention ? highlighted(text, mention) : html ? fromHtml(html) : lines(text);
  return h("div", { class: "rich", "data-key": "text" }, ...content);
}

function highlighted(text, { startIndex = 0, length }) {
  const end = startIndex + length;
  const mention = h("span", { class: "mention" }, text.slice(startIndex, end));
  return [...lines(text.slice(0, startIndex)), mention, ...lines(text.slice(end))];
}
