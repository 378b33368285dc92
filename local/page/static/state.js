// The state of the page: the conversations from the server, and where the person is in them.

/** The state of the page. `onChange` runs once after several changes at once. */
export class State {
  spaces = [];
  people = [];
  bot = { name: "", displayName: "threadwise" };
  model = "";
  commands = [];
  connection = null; // how Chat is connected to the bot, from /page/state
  withoutBot = []; // the names of spaces
  space = null;
  place = null; // where in the operator view; null: in the chat
  person = null;
  openThread = null;
  connected = true;
  messages = new Map();
  unanswered = new Set();
  unread = new Set();
  expanded = new Set();
  #onChange;
  #scheduled = false;

  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** Change fields of the state. */
  set(fields) {
    Object.assign(this, fields);
    this.changed();
  }

  /** Draw the page again. */
  changed() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#onChange(this);
    });
  }

  /** Load the state from the server, after a connection. It replaces everything except where the person is. */
  load({ messages, ...answer }) {
    const known = new Map(messages.map((message) => [message.name, message]));
    this.set({ ...answer, messages: known, connected: true });
    const { people } = answer;
    if (!people.some(({ name }) => name === this.person)) this.person = people[0]?.name ?? null;
    this.#stayInReach();
  }

  /** Apply one change from the server. */
  apply({ kind, message, ...around }) {
    if (kind === "around") {
      this.set(around);
      return;
    }
    if (kind === "deleted") this.messages.delete(message.name);
    else if (kind === "not_responding") this.unanswered.add(message.name);
    else this.#put(message);
    if (kind === "created" && (this.place || message.space.name !== this.space)) this.unread.add(message.space.name);
    this.changed();
  }

  #put(message) {
    const known = this.messages.get(message.name);
    if (!known || changedAt(known) <= changedAt(message)) this.messages.set(message.name, message);
  }

  /** Become another person. */
  become(person) {
    this.set({ person });
    this.#stayInReach();
  }

  /** Go to a space, out of the operator view. */
  enter(space) {
    this.#open(space);
    this.operate(null);
  }

  /** Go to a place in the operator view, or back to the chat (null). */
  operate(place) {
    if (!place) this.unread.delete(this.space);
    this.set({ place });
  }

  /** The spaces of this person: the shared ones, and their own direct message. */
  get reachable() {
    return this.spaces.filter(({ person }) => !person || person === this.person);
  }

  /** The current space, or undefined before the first load. */
  get current() {
    return this.spaces.find(({ name }) => name === this.space);
  }

  /** Whether the bot is in the current space. */
  get botIsHere() {
    return !this.withoutBot.includes(this.space);
  }

  #open(space) {
    this.unread.delete(space);
    this.set({ space, openThread: null });
  }

  #stayInReach() {
    if (this.reachable.some(({ name }) => name === this.space)) return;
    const wasDirect = isDirect(this.current);
    const next = this.reachable.find((space) => wasDirect && isDirect(space)) ?? this.reachable[0];
    if (next) this.#open(next.name);
  }

  /** The threads of the current space, oldest first: `{thread, root: Message|null, replies: Message[]}`. */
  get topics() {
    const here = [...this.messages.values()].filter(({ space }) => space.name === this.space);
    here.sort((one, other) => Date.parse(one.createTime) - Date.parse(other.createTime));
    const topics = new Map();
    for (const message of here) {
      const thread = message.thread?.name ?? message.name;
      if (!topics.has(thread)) topics.set(thread, { thread, root: null, replies: [] });
      const topic = topics.get(thread);
      if (message.threadReply || topic.root) topic.replies.push(message);
      else topic.root = message;
    }
    return [...topics.values()];
  }
}

/** Whether a space is a direct message with the bot. */
export function isDirect(space) {
  return space?.spaceType === "DIRECT_MESSAGE";
}

function changedAt(message) {
  return Date.parse(message.lastUpdateTime ?? message.createTime);
}
