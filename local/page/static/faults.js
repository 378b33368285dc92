// The panel that breaks services on purpose.

import { get, post } from "./api.js";
import { h, morphChildren } from "./dom.js";

/** Show the panel with a switch for each fault that the server knows. Calls `failed(error)` if a change is refused. */
export async function showFaults({ panel, list, count, off }, failed) {
  let known = [];
  const draw = ({ names, active }) => {
    known = names;
    const on = new Set(active);
    morphChildren(list, h("div", {}, ...groups(names).map(([service, kinds]) => group(service, kinds, on))));
    count.textContent = on.size;
    count.hidden = on.size === 0;
    off.hidden = on.size === 0;
    for (const box of list.querySelectorAll("input")) box.checked = on.has(box.name);
  };
  const change = (wanted) => post("/page/faults", wanted).then(draw, failed);
  const refresh = () => get("/page/faults").then(draw, failed);

  list.addEventListener("change", ({ target }) => change({ [target.checked ? "on" : "off"]: [target.name] }));
  off.addEventListener("click", () => change({ off: known }));
  panel.addEventListener("toggle", () => panel.open && refresh());
  await refresh();
  panel.hidden = false;
}

function groups(names) {
  return Object.entries(Object.groupBy(names, (name) => name.split("-")[0]));
}

function group(service, names, on) {
  return h(
    "fieldset",
    {},
    h("legend", {}, service),
    ...names.map((name) =>
      h(
        "label",
        { class: on.has(name) ? "switch on" : "switch" },
        h("input", { type: "checkbox", role: "switch", name }),
        h("span", {}, name.slice(service.length + 1)),
      ),
    ),
  );
}
