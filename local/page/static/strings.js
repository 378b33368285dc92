// The words of the page, in English and Japanese.

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
    connectionNoClicks: "Questions and commands reach the bot; clicks on buttons do not: Chat brings an add-on none over Pub/Sub.",
    connectionShape: "Kind of Chat app",
    connectionTransport: "Events arrive by",
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
    emptyText: "Ask about IT support, then follow up in the thread: {bot} remembers the conversation for 24 hours.",
    emptyTitle: "Ask {bot}",
    faults: "Faults",
    faultsHint: "Break something on purpose and see what the bot does.",
    faultsOff: "Switch all off",
    fileHint: "Only its name is sent",
    join: "Add {bot}",
    language: "Language",
    latest: "Latest messages",
    leave: "Remove {bot}",
    leaveQuestion: "Remove {bot} from “{space}”? All that it keeps of this conversation is deleted.",
    lost: "Connection lost. Trying to reconnect…",
    members: "Members",
    membersOf: "In “{space}”",
    menu: "Conversations",
    model_gemini: "Answers come from Gemini (GEMINI_API_KEY is set); everything else is on this machine.",
    model_local: "Answers come from a small rule-based model on this machine: it quotes the knowledge base and writes nothing of its own.",
    more: "More",
    newMessages: "new messages",
    noClicks: "{bot} cannot be told of clicks: Chat brings an add-on none over Pub/Sub.",
    notClicked: "{bot} could not do that: {reason}",
    notDone: "That did not work: {reason}",
    notResponding: "{bot} is not responding",
    notSent: "Not sent: {reason}",
    person: "You are",
    quickCommand: "at once",
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
    unreachable: "The server cannot be reached",
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
    command_forget: "この会話を忘れさせる",
    command_help: "{bot} にできること",
    commands: "コマンド",
    connectionAll: "質問、コマンド、ボタンのクリックがボットに届きます。",
    connectionNoClicks: "質問とコマンドは届きますが、ボタンのクリックは届きません。アドオンの場合、Pub/Sub ではクリックが送られないためです。",
    connectionShape: "Chat アプリの種類",
    connectionTransport: "イベントの経路",
    conversations: "会話",
    delete: "削除",
    deleteMessage: "メッセージを削除",
    deleteQuestion: "このメッセージを全員から削除しますか？",
    deletedRoot: "このメッセージは削除されました",
    directHint: "ダイレクトメッセージ：すべて {bot} に届きます",
    directMessages: "ダイレクトメッセージ",
    dismiss: "閉じる",
    earlier: "以前の返信 {count} 件を表示",
    edited: "編集済み",
    emptyText: "IT サポートについて質問し、続きはスレッドで聞いてください。{bot} は会話を 24 時間覚えています。",
    emptyTitle: "{bot} に質問する",
    faults: "障害",
    faultsHint: "わざと障害を起こして、ボットの動きを確かめられます。",
    faultsOff: "すべてオフにする",
    fileHint: "送られるのは名前だけです",
    join: "{bot} を追加",
    language: "言語",
    latest: "最新のメッセージ",
    leave: "{bot} を削除",
    leaveQuestion: "「{space}」から {bot} を削除しますか？この会話について保存したものはすべて消えます。",
    lost: "接続が切れました。再接続しています…",
    members: "メンバー",
    membersOf: "「{space}」のメンバー",
    menu: "会話",
    model_gemini: "回答は Gemini が作成します（GEMINI_API_KEY が設定されています）。それ以外はすべてこのマシンの中で動いています。",
    model_local: "回答は、このマシンで動く小さなルールベースのモデルによるものです。ナレッジベースの文を引用するだけで、文章は作りません。",
    more: "その他",
    newMessages: "新着メッセージ",
    noClicks: "{bot} にクリックを伝えられません。アドオンの場合、Pub/Sub ではクリックが送られません。",
    notClicked: "{bot} は実行できませんでした：{reason}",
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

/** Speak `en` or `ja` from now on. */
export function speak(wanted) {
  language = wanted in WORDS ? wanted : "en";
  document.documentElement.lang = language;
}

/** The language spoken: `en` or `ja`. */
export function spoken() {
  return language;
}

/** The words for `key`, with `{name}` filled in from `values`. */
export function say(key, values = {}) {
  const words = WORDS[language][key] ?? OPERATOR_WORDS[language][key];
  return typeof words === "string" ? filled(words, values) : words;
}

/** The words for a number of things: `key` has a text for `one` and for `other`. */
export function sayCount(key, count) {
  return filled(say(key)[count === 1 ? "one" : "other"], { count });
}

function filled(words, values) {
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Fill in the words of everything under `root` that is marked with `data-text` or `data-label`. */
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

/** The time of day of an RFC 3339 time, in the language spoken. */
export function timeOfDay(time) {
  return new Date(time).toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" });
}

/** How long an RFC 3339 time is ago, in its largest unit, such as `3 minutes ago`; a dash for none. */
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
