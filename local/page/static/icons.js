// The icons of the page and of cards, drawn here: strokes on a 24 × 24 grid.

const SVG = "http://www.w3.org/2000/svg";
const RING = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z";

const DRAWN = {
  article: "M6 3h12v18H6zM9 8h6M9 12h6M9 16h4",
  attach_file: "M17.5 11.5l-6.8 6.8a4 4 0 0 1-5.7-5.7l7.5-7.4a2.7 2.7 0 0 1 3.8 3.8l-7.2 7.1a1.3 1.3 0 0 1-1.9-1.9l6.5-6.4",
  bookmark: "M7 3h10v18l-5-4-5 4z",
  chevron_left: "M15 5l-7 7 7 7",
  chevron_right: "M9 5l7 7-7 7",
  check_circle: `${RING}M8 12.2l2.8 2.8L16 9.5`,
  close: "M6 6l12 12M18 6L6 18",
  dark_mode: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  delete: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  error: `${RING}M12 7.5v5.5M12 16.3v.2`,
  group: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-4 3-6 6.5-6s6.5 2 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c2.2.8 3.5 2.6 3.5 5.5",
  help: `${RING}M9.5 9.5a2.5 2.5 0 1 1 3.7 2.2c-.9.5-1.2 1-1.2 1.8M12 16.5v.2`,
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 2.5h4l1-2.5h5",
  info: `${RING}M12 11v5.5M12 7.5v.2`,
  light_mode: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M5 19l1.7-1.7M17.3 6.7L19 5",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  lock_open: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 6.8-1.2",
  mail: "M3 6h18v12H3zM3 7l9 7 9-7",
  menu: "M4 7h16M4 12h16M4 17h16",
  menu_book: "M12 6c-2.5-1.7-5.5-2-9-2v14c3.5 0 6.5.3 9 2 2.5-1.7 5.5-2 9-2V4c-3.5 0-6.5.3-9 2ZM12 6v14",
  more_vert: "M12 5v.2M12 12v.2M12 19v.2",
  open_in_new: "M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 21c0-4.5 3.5-6.5 7.5-6.5s7.5 2 7.5 6.5",
  progress_activity: "M12 3a9 9 0 1 0 9 9",
  radio_button_unchecked: RING,
  refresh: "M20 12a8 8 0 1 1-2.5-5.8M20 4v4.5h-4.5",
  replay: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4.5h4.5",
  reply: "M10 6l-6 5.5 6 5.5v-3.5c5 0 8 1.5 10 4.5-.5-5.5-4-9-10-9z",
  schedule: `${RING}M12 7v5.5l3.5 2`,
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5L21 21",
  send: "M4 4l17 8-17 8 2.5-8zM6.5 12H13",
  slash: "M5 4h14v16H5zM14.5 8l-5 8",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9-4.3-4.1 5.9-.8z",
  tag: "M9 4L7 20M17 4l-2 16M4 9h16M4 15h16",
  thumb_down: "M7 4v10M7 14l4 7c1.7 0 2.5-1 2.5-2.5L13 15h6c1.3 0 2-1 1.7-2.3l-1.7-7C18.7 4.6 18 4 17 4H7M3.5 4H7v10H3.5z",
  thumb_up: "M7 20V10M7 10l4-7c1.7 0 2.5 1 2.5 2.5L13 9h6c1.3 0 2 1 1.7 2.3l-1.7 7c-.3 1.1-1 1.7-2 1.7H7M3.5 20H7V10H3.5z",
  warning: "M12 4L2.5 20h19zM12 10v5M12 17.3v.2",
};

const OTHER_NAMES = {
  BOOKMARK: "bookmark", CLOCK: "schedule", DESCRIPTION: "article", EMAIL: "mail", MULTIPLE_PEOPLE: "group",
  PERSON: "person", STAR: "star",
  auto_awesome: "star", cancel: "error", check: "check_circle", description: "article", done: "check_circle",
  edit_note: "edit", forum: "group", hourglass_empty: "schedule", hourglass_top: "schedule",
  library_books: "menu_book", pending: "schedule", sync: "progress_activity", task_alt: "check_circle",
};

/** The drawing of a Material or Chat icon name (a plain ring for an unknown one); screen readers read `label`, if given. */
export function icon(name, label = "") {
  const known = OTHER_NAMES[name] ?? name;
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${known in DRAWN ? known : "unknown"}`);
  path.setAttribute("d", DRAWN[known] ?? RING);
  svg.append(path);
  if (!label) {
    svg.setAttribute("aria-hidden", "true");
    return svg;
  }
  const title = document.createElementNS(SVG, "title");
  title.textContent = label;
  svg.setAttribute("role", "img");
  svg.prepend(title);
  return svg;
}
