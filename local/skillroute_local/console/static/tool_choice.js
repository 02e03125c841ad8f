// The tools that there are, by the names that judged requests call them, for fields that name one.
import { act } from "./calls.js";
import { fill, h, nowShown, refuse } from "./dom.js";
import { showProblem } from "./notices.js";

const GOOD_FOR_MS = 60000;
const OFFERED = 30;
let known = null;
let lists = 0;
document.addEventListener("token", () => { known = null; });

async function read() {
  const titles = [];
  const named = new Map();
  const ids = new Map();
  let total = 1;
  for (let offset = 0; offset < total;) {
    const page = await act("catalogue/tools", { offset });
    if (!page.rows.length) break;
    offset += page.rows.length;
    total = page.total;
    for (const tool of page.rows) {
      if (!tool.is_active) continue;
      const { id, name } = tool;
      const title = titleOf(tool);
      titles.push(title);
      ids.set(title, id);
      named.set(name, new Set([...(named.get(name) ?? []), title]));
    }
  }
  return { titles: [...new Set(titles)].sort(), named, ids };
}

/** How judged requests and people name a tool. */
export const titleOf = ({ server, name }) => (server ? `${server}/${name}` : name);

/** Return the tools that are switched on: their titles, those of each name, and their ids; read again after a minute. */
export function tools() {
  if (!known || Date.now() - known.at > GOOD_FOR_MS) {
    const found = read();
    known = { at: Date.now(), found };
    found.catch(() => { known = null; });
  }
  return known.found;
}

/** Return the title that a text means, or why it means none. */
export function match(text, { titles, named }) {
  if (titles.includes(text)) return { title: text };
  const found = [...(named.get(text) ?? [])];
  if (found.length === 1) return { title: found[0] };
  return { why: found.length ? `Several servers have it: give one of ${found.slice(0, 3).join(", ")}.`
    : `There is no tool ${text}, or it is switched off: choose one from the list.` };
}

/** A field for a tool, which completes titles; `chosen` is called with the title once a tool is named. */
export function toolInput(label, chosen, { placeholder = "server/tool", ...properties } = {}) {
  const list = h("datalist", { id: `tools-${++lists}` });
  const offer = async () => {
    const given = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    try {
      const { titles } = await tools();
      const fits = titles.filter((title) => given.every((word) => title.toLowerCase().includes(word))).slice(0, OFFERED);
      fill(list, fits.map((title) => h("option", { value: title })));
    } catch { /* the name can be typed as well */ }
  };
  const add = async () => {
    const text = input.value.trim();
    if (!text) return refuse(input, "Enter the name of a tool.");
    try {
      const { title, why } = match(text, await tools());
      if (why) return refuse(input, why);
      const now = nowShown(input);
      if (now.value.trim() === text) now.value = ""; // it may have been typed on
      return chosen(title);
    } catch (error) {
      return showProblem(error, `Whether there is a tool ${text} cannot be read`, add);
    }
  };
  const input = h("input", {
    list: list.id, "aria-label": label, placeholder, autocomplete: "off", spellcheck: "false", ...properties,
    onfocus: offer, oninput: offer,
    onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); add(); } },
  });
  return h("span", { class: "inline" }, input, list, h("button", { type: "button", onclick: add }, "Add"));
}
