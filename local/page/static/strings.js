// The texts of the page, in English and Japanese.

import { OPERATOR_WORDS } from "./operator_words.js";

const WORDS = {
  en: {
    absent: "{bot} is not in this conversation.",
    addMention: "Mention @{bot}",
    app: "App",
    ask: "Ask a question",
    attach: "Attach a file",
    cancel: "Cancel",
    close: "Close",
    command_ask: "Ask a question",
    command_forget: "Forget this conversation",
    command_help: "What {bot} can do",
    commands: "Commands",
    connectionAll: "Questions, commands and clicks all reach the bot.",
    connectionNoClicks: "Questions and commands reach the bot. Clicks on buttons do not: over Pub/Sub, Chat does not send them to an add-on.",
    connectionShape: "Kind of Chat app",
    connectionTransport: "Events arrive over",
    conversations: "Conversations",
    delete: "Delete",
    deleteMessage: "Delete message",
    deleteQuestion: "Delete this message for everyone?",
    deletedRoot: "This message was deleted",
    directHint: "Direct message: every message goes to {bot}",
    directMessages: "Direct messages",
    dismiss: "Dismiss",
    earlier: "Show {count} earlier replies",
    edited: "Edited",
    emptyText: "Ask about IT support, and ask follow-up questions in the thread. {bot} remembers the conversation.",
    emptyTitle: "Ask {bot}",
    faults: "Faults",
    faultsHint: "Break something on purpose, and see what the bot does.",
    faultsOff: "Turn all off",
    fileHint: "Only the name is sent",
    join: "Add {bot}",
    language: "Language",
    latest: "Latest messages",
    leave: "Remove {bot}",
    leaveQuestion: "Remove {bot} from “{space}”? It deletes everything that it has stored about this conversation.",
    lost: "Connection lost. Trying to reconnect…",
    members: "Members",
    membersOf: "In “{space}”",
    menu: "Conversations",
    model_gemini: "Gemini answers (GEMINI_API_KEY is set). Everything else runs on this machine.",
    model_local: "A small rule-based model on this machine answers by quoting the knowledge base. It writes no text of its own.",
    more: "More",
    newMessages: "new messages",
    noClicks: "Clicks do not reach {bot}: over Pub/Sub, Chat does not send them to an add-on.",
    notClicked: "{bot} could not do that: {reason}",
    notDone: "That did not work: {reason}",
    notResponding: "{bot} is not responding",
    notSent: "Not sent: {reason}",
    person: "You are",
    quickCommand: "sent at once",
    remove: "Remove",
    removeFile: "Remove the file {name}",
    removeMention: "Do not mention {bot}",
    reply: "Reply",
    replyPlaceholder: "Reply in this thread",
    send: "Send",
    setup: "Connection and members",
    showLess: "Show less",
    showMore: "Show more",
    spaceHint: "Space: mention @{bot} to get an answer",
    spaces: "Spaces",
    stream: "Messages",
    suggestions: ["How do I configure the VPN?", "I forgot my password. What should I do?", "My laptop cannot join the office Wi-Fi"],
    theme: "Dark mode",
    thread: "Thread: {text}",
    today: "Today",
    unreachable: "Cannot reach the server",
    unsupported: "This page cannot show “{widget}”",
    writeToPeople: "Write to the others",
    yesterday: "Yesterday",
    you: "you",
  },
  ja: {
    absent: "{bot} はこの会話に参加していません。",
    addMention: "@{bot} をメンション",
    app: "アプリ",
    ask: "質問を入力",
    attach: "ファイルを添付",
    cancel: "キャンセル",
    close: "閉じる",
    command_ask: "質問する",
    command_forget: "この会話の記憶を消す",
    command_help: "{bot} にできること",
    commands: "コマンド",
    connectionAll: "質問、コマンド、ボタンのクリックがボットに届きます。",
    connectionNoClicks: "質問とコマンドは届きますが、ボタンのクリックは届きません。Chat は Pub/Sub 経由ではアドオンにクリックを送らないためです。",
    connectionShape: "Chat アプリの種類",
    connectionTransport: "イベントの送信方法",
    conversations: "会話",
    delete: "削除",
    deleteMessage: "メッセージを削除",
    deleteQuestion: "このメッセージを全員の画面から削除しますか？",
    deletedRoot: "このメッセージは削除されました",
    directHint: "ダイレクトメッセージ：すべて {bot} に届きます",
    directMessages: "ダイレクトメッセージ",
    dismiss: "閉じる",
    earlier: "以前の返信 {count} 件を表示",
    edited: "編集済み",
    emptyText: "IT サポートについて質問してください。続けて質問するときは、同じスレッドに書いてください。{bot} は会話を覚えています。",
    emptyTitle: "{bot} に質問する",
    faults: "障害",
    faultsHint: "わざと障害を起こして、ボットの動きを確かめられます。",
    faultsOff: "すべてオフにする",
    fileHint: "送信されるのはファイル名だけです",
    join: "{bot} を追加",
    language: "言語",
    latest: "最新のメッセージ",
    leave: "{bot} を削除",
    leaveQuestion: "「{space}」から {bot} を削除しますか？{bot} がこの会話について保存したデータはすべて削除されます。",
    lost: "接続が切れました。再接続しています…",
    members: "メンバー",
    membersOf: "「{space}」のメンバー",
    menu: "会話",
    model_gemini: "Gemini が回答します（GEMINI_API_KEY が設定されています）。それ以外はすべてこのマシンで動いています。",
    model_local: "このマシンで動く小さなルールベースのモデルが回答します。ナレッジベースの文をそのまま引用し、自分では文章を作りません。",
    more: "その他",
    newMessages: "新着メッセージ",
    noClicks: "クリックは {bot} に届きません。Chat は Pub/Sub 経由ではアドオンにクリックを送らないためです。",
    notClicked: "{bot} は処理できませんでした：{reason}",
    notDone: "実行できませんでした：{reason}",
    notResponding: "{bot} が応答していません",
    notSent: "送信できませんでした：{reason}",
    person: "あなた",
    quickCommand: "すぐに実行",
    remove: "削除",
    removeFile: "ファイル {name} を外す",
    removeMention: "{bot} をメンションしない",
    reply: "返信",
    replyPlaceholder: "このスレッドに返信",
    send: "送信",
    setup: "接続とメンバー",
    showLess: "折りたたむ",
    showMore: "もっと見る",
    spaceHint: "スペース：@{bot} をメンションすると回答します",
    spaces: "スペース",
    stream: "メッセージ",
    suggestions: ["VPNの設定方法を教えて", "パスワードを忘れました。どうすればいいですか？", "ノートPCが社内Wi-Fiにつながりません"],
    theme: "ダークモード",
    thread: "スレッド：{text}",
    today: "今日",
    unreachable: "サーバーに接続できません",
    unsupported: "このページでは「{widget}」を表示できません",
    writeToPeople: "メンバーへのメッセージを入力",
    yesterday: "昨日",
    you: "自分",
  },
};

const SPANS = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]];
let language = "en";

/** Use `en` or `ja` from now on. */
export function speak(wanted) {
  language = wanted in WORDS ? wanted : "en";
  document.documentElement.lang = language;
}

/** The current language: `en` or `ja`. */
export function spoken() {
  return language;
}

/** The text for `key`; `values` fill its placeholders, such as `{name}`. */
export function say(key, values = {}) {
  const words = WORDS[language][key] ?? OPERATOR_WORDS[language][key];
  return typeof words === "string" ? filled(words, values) : words;
}

/** The text for a count: `key` has one text for `one` and one for `other`. */
export function sayCount(key, count) {
  return filled(say(key)[count === 1 ? "one" : "other"], { count });
}

function filled(words, values) {
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Set the text of every element under `root` that has `data-text` or `data-label`. */
export function localise(root, values) {
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = say(element.dataset.text, values);
  }
  for (const element of root.querySelectorAll("[data-label]")) {
    const words = say(element.dataset.label, values);
    element.setAttribute("aria-label", words);
    if (element.nodeName === "BUTTON") element.title = words;
    if (element.nodeName === "TEXTAREA") element.placeholder = words;
  }
}

/** The time of day of an RFC 3339 time, in the current language. */
export function timeOfDay(time) {
  return new Date(time).toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" });
}

/** How long ago an RFC 3339 time was, in its largest unit, such as `3 minutes ago`; a dash if there is none. */
export function ago(time) {
  if (!time) return "–";
  const seconds = Math.max(1, (Date.now() - Date.parse(time)) / 1000);
  const [size, unit] = SPANS.find(([least]) => seconds >= least);
  return new Intl.RelativeTimeFormat(language).format(-Math.floor(seconds / size), unit);
}

/** The day of an RFC 3339 time: today, yesterday or the date. */
export function dayOf(time) {
  const day = new Date(time);
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (day.toDateString() === new Date().toDateString()) return say("today");
  if (day.toDateString() === yesterday.toDateString()) return say("yesterday");
  return day.toLocaleDateString(language, { weekday: "long", month: "long", day: "numeric" });
}
