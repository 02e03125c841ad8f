// The pages, in groups: the menu, its keys, and its letters while g waits.
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

// One line for each page, loaded when it is opened first. `key` is what follows g.
const GROUPS = [
  ["", [
    { id: "overview", title: "Overview", key: "o", load: () => import("./page_overview.js") },
    { id: "search", title: "Search", key: "s", load: () => import("./page_search.js") },
  ]],
  ["Catalogue", [
    { id: "catalogue", title: "Catalogue", key: "c", load: () => import("./page_catalogue.js") },
    { id: "servers", title: "Servers", key: "v", load: () => import("./page_servers.js") },
    { id: "skills", title: "Skills", key: "k", load: () => import("./page_skills.js") },
    { id: "suggestions", title: "Suggestions", key: "u", load: () => import("./page_suggestions.js") },
    { id: "changes", title: "Changes", key: "a", load: () => import("./page_changes.js") },
    { id: "map", title: "Map", key: "m", load: () => import("./page_map.js") },
  ]],
  ["Quality", [
    { id: "missed", title: "Unanswered", key: "n", load: () => import("./page_missed.js") },
    { id: "doctor", title: "Doctor", key: "d", load: () => import("./page_doctor.js") },
    { id: "evaluation", title: "Evaluation", key: "e", load: () => import("./page_evaluation.js") },
    { id: "learning", title: "Learning", key: "l", load: () => import("./page_learning.js") },
  ]],
  ["Operation", [
    { id: "health", title: "Health", key: "h", load: () => import("./page_health.js") },
    { id: "log", title: "Log", key: "t", load: () => import("./page_log.js") },
  ]],
];
export const PAGES = GROUPS.flatMap(([, pages]) => pages);
const WAITS_MS = 2000; // for the letter after g

const nav = () => document.getElementById("pages");
const button = () => document.getElementById("menu");

/** Draw the menu. Letters are shown while one is waited for, so that they read as keys and not as counts. */
export function drawMenu() {
  fill(nav(), GROUPS.map(([title, pages], at) => h("div", { class: "group" },
    title && h("p", { class: "group-title", id: `group-${at}` }, title),
    h("ul", { "aria-labelledby": title ? `group-${at}` : null }, pages.map((page) => h("li", {},
      h("a", { href: `#/${page.id}`, "data-id": page.id, title: `${page.title} (g ${page.key})` }, icon(page.id), h("span", {}, page.title),
        h("kbd", { "aria-hidden": "true" }, page.key))))))));
  button().onclick = () => setOpen(!isOpen());
  nav().addEventListener("click", () => setOpen(false));
}

const isOpen = () => button().getAttribute("aria-expanded") === "true";

/** Show or hide the menu of narrow windows. */
export function setOpen(open) {
  button().setAttribute("aria-expanded", String(open));
  document.body.classList.toggle("menu-open", open);
  if (open) nav().querySelector("a[aria-current]")?.focus();
}

/** Close the menu of a narrow window; returns whether it was open. */
export function closeMenu() {
  if (!isOpen()) return false;
  setOpen(false);
  button().focus();
  return true;
}

/** Mark the page that is shown. */
export function markPage({ id, title }) {
  fill(button(), icon("menu"), h("span", { class: "spoken" }, "Menu, "), title);
  for (const link of nav().querySelectorAll("a")) {
    if (link.dataset.id === id) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest" });
    } else link.removeAttribute("aria-current");
  }
}

let timer = null;
export const isGoing = () => timer !== null;

/** Wait for the letter of a page. */
export function go() {
  stopGoing();
  document.body.classList.add("going");
  timer = setTimeout(stopGoing, WAITS_MS);
}

function stopGoing() {
  clearTimeout(timer);
  timer = null;
  document.body.classList.remove("going");
}

/** Go to the page of a letter; returns whether there is one. */
export function goTo(letter) {
  stopGoing();
  const page = PAGES.find(({ key }) => key === letter);
  if (page) location.hash = `#/${page.id}`;
  return Boolean(page);
}
