// The frame of all pages: navigation by address, by pointer and by keys; errors; light and dark.
import { about, takeKey } from "./calls.js";
import { fill, h } from "./dom.js";
import { clearProblems, showProblem } from "./notices.js";

// One line for each page, loaded when it is opened first.
const PAGES = [
  { id: "search", title: "Search", load: () => import("./page_search.js") },
  { id: "catalogue", title: "Catalogue", load: () => import("./page_catalogue.js") },
  { id: "skills", title: "Skills", load: () => import("./page_skills.js") },
  { id: "suggestions", title: "Suggestions", load: () => import("./page_suggestions.js") },
  { id: "map", title: "Map", load: () => import("./page_map.js") },
  { id: "doctor", title: "Doctor", load: () => import("./page_doctor.js") },
  { id: "health", title: "Health", load: () => import("./page_health.js") },
  { id: "learning", title: "Learning", load: () => import("./page_learning.js") },
  { id: "log", title: "Log", load: () => import("./page_log.js") },
  { id: "changes", title: "Changes", load: () => import("./page_changes.js") },
  { id: "servers", title: "Servers", load: () => import("./page_servers.js") },
];
const keyOf = (at) => (at < 10 ? String((at + 1) % 10) : ""); // the tenth page has 0, and those after it none
const EVERYWHERE = [
  [`1 … ${keyOf(Math.min(PAGES.length, 10) - 1)}`, "go to a page"], ["/", "go to the filter or the request"], ["j, k or ↓, ↑", "move in a list"],
  ["Enter", "open the selected item"], ["Esc", "leave a field, close what is open"], ["?", "show the keys"],
];
const THEMES = { auto: "light", light: "dark", dark: "auto" };
const THEME = "skillroute-console-theme";

let shown = null; // { id, page } of what is open
let turn = 0;

/** Where the address points to: the page and what is open on it. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const page = PAGES.find((known) => known.id === path) ?? PAGES[0];
  return { page, options: new URLSearchParams(query) };
}

async function open() {
  const { page, options } = place();
  const mine = ++turn; // also of who comes back before the other page was shown
  if (shown?.id === page.id) return shown.page.options?.(options);
  try {
    const module = await page.load();
    if (mine !== turn) return undefined;
    clearProblems(); // before the other page is left: what it sends now may fail
    await shown?.page.leave?.();
    if (mine !== turn) return undefined;
    const made = module.make({ options, title: page.title, remember });
    shown = { id: page.id, page: made };
    document.title = `${page.title} · Skillroute`;
    fill(document.getElementById("title"), page.title);
    fill(document.getElementById("page"), made.element);
    mark(page.id);
    made.enter?.();
  } catch (error) {
    showProblem(error, `${page.title} cannot be shown`, open);
  }
  return undefined;
}

/** Keep what is open on a page in the address, so that it can be linked to and gone back to. */
function remember(id, options) {
  // An answer that comes late may show something on a page that is being left: the address is the next page's by then.
  if (place().page.id !== id) return;
  const query = new URLSearchParams(Object.entries(options).filter(([, value]) => value)).toString();
  history.replaceState(null, "", `#/${id}${query ? `?${query}` : ""}`);
}

function mark(id) {
  for (const link of document.querySelectorAll("#pages a")) {
    if (link.dataset.id === id) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
}

function keys() {
  const own = shown?.page.keys ?? {};
  const rows = [...EVERYWHERE, ...Object.entries(own).map(([key, { says }]) => [key, says]).filter(([, says]) => says)];
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = h("dialog", { "aria-labelledby": "keys-title", onclose: () => dialog.remove() },
    h("h2", { id: "keys-title" }, "Keys"),
    h("dl", { class: "keys" }, rows.map(([key, says]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, says)])),
    close);
  document.body.append(dialog);
  dialog.showModal();
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") {
    if (typing) typing.blur();
    else shown?.page.escape?.();
    return;
  }
  if (typing) return;
  const page = PAGES.find((_, at) => keyOf(at) === event.key);
  const own = shown?.page.keys?.[event.key];
  if (page) location.hash = `#/${page.id}`;
  else if (event.key === "?") keys();
  else if (event.key === "/") document.querySelector("#page [data-first]")?.focus();
  else if (own) {
    if (!event.repeat || !own.isOnce) own.run(); // held, such a key decides once, and not on all that follow
  }
  else if (event.key === "j") shown?.page.list?.()?.move(1);
  else if (event.key === "k") shown?.page.list?.()?.move(-1);
  else return;
  event.preventDefault();
}

function theme(name) {
  localStorage.setItem(THEME, name);
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  fill(button, `Theme: ${name}`);
  button.onclick = () => theme(THEMES[name]);
}

async function start() {
  takeKey();
  theme(localStorage.getItem(THEME) in THEMES ? localStorage.getItem(THEME) : "auto");
  fill(document.getElementById("pages"),
    h("ul", {}, PAGES.map(({ id, title }, at) =>
      h("li", {}, h("a", { href: `#/${id}`, "data-id": id }, h("span", {}, title), keyOf(at) && h("kbd", { "aria-hidden": "true" }, keyOf(at)))))));
  document.getElementById("help").onclick = keys;
  document.getElementById("skip").onclick = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  };
  addEventListener("hashchange", open);
  addEventListener("keydown", onKey);
  addEventListener("pagehide", () => shown?.page.leave?.({ last: true }));
  // With another token everything may look different.
  document.addEventListener("token", () => shown?.page.enter?.());
  about().then(({ url }) => fill(document.getElementById("address"), url))
    .catch((error) => showProblem(error, "The console cannot be used", start));
  await open();
}

start();
