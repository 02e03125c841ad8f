// The frame of all pages: navigation by address, by pointer and by keys; errors; light and dark.
import { about, takeKey } from "./calls.js";
import { fill, h } from "./dom.js";
import { PAGES, closeMenu, drawMenu, go, goTo, isGoing, markPage } from "./menu.js";
import { clearProblems, showProblem, undoLast } from "./notices.js";
import { openPalette } from "./palette.js"; // here, so that it is open before the next key

const EVERYWHERE = [
  ["Ctrl K", "find a page, a tool, a skill or a server"], ["/", "go to the filter or the request"], ["j, k or ↓, ↑", "move in a list"],
  ["Enter", "open the selected item"], ["Esc", "leave a field, close what is open"], ["z", "undo the last change that can be undone"], ["?", "show the keys"],
];
const THEMES = { auto: "light", light: "dark", dark: "auto" };
const THEME = "skillroute-console-theme";

let shown = null; // { id, page } of what is open
let turn = 0;
let known = ""; // the address that was followed last, or was written by the page that is open
let wanted = null; // { id, address } that a page asks for, to be written when it is done
let isOpening = false; // the person pressed or clicked on something: what opens now can be gone back from

/** Where the address points to: the page and what is open on it. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const page = PAGES.find((known) => known.id === path) ?? PAGES[0];
  return { page, options: new URLSearchParams(query) };
}

async function open() {
  known = location.hash;
  const { page, options } = place();
  const mine = ++turn; // also of who comes back before the other page was shown
  if (shown?.id === page.id) {
    isOpening = false; // as of a page that is shown first
    return shown.page.options?.(options);
  }
  try {
    const module = await page.load();
    if (mine !== turn) return undefined;
    clearProblems(); // before the other page is left: what it sends now may fail
    await shown?.page.leave?.();
    if (mine !== turn) return undefined;
    isOpening = false; // what a page shows first is where its address leads, no step further
    let made = null;
    const own = (...given) => { if (!made || shown?.page === made) remember(...given); }; // not of one that was left
    made = module.make({ options, title: page.title, remember: own });
    shown = { id: page.id, page: made };
    document.title = `${page.title} · Skillroute`;
    fill(document.getElementById("title"), page.title);
    fill(document.getElementById("page"), made.element);
    markPage(page);
    made.enter?.();
  } catch (error) {
    showProblem(error, `${page.title} cannot be shown`, open);
  }
  return undefined;
}

/**
 * Keep what is open on a page in the address, so that it can be linked to and gone back to.
 *
 * What was opened by a click or by Enter is a step that the browser goes back from; what is passed by with j and k, or
 * while a filter is typed, is none.
 */
function remember(id, options) {
  if (isOvertaken(id)) return;
  const query = new URLSearchParams(Object.entries(options).filter(([, value]) => value)).toString();
  // Of several at once the last one counts: a page that shows what it has read passes by others, and who reloads just
  // then would be led there.
  if (!wanted) queueMicrotask(writeAddress);
  wanted = { id, address: `#/${id}${query ? `?${query}` : ""}` };
}

// What comes late may show something on a page that is being left, or before a new address is followed on the same page:
// the address says by then where the person goes.
const isOvertaken = (id) => place().page.id !== id || location.hash !== known;

function writeAddress() {
  const { id, address } = wanted;
  wanted = null;
  if (isOvertaken(id) || address === location.hash) return;
  const isStep = isOpening && location.hash.includes("?");
  history[isStep ? "pushState" : "replaceState"](null, "", address);
  known = location.hash;
  isOpening = false;
}

function keys() {
  const own = shown?.page.keys ?? {};
  const rows = [...EVERYWHERE, ...Object.entries(own).map(([key, { says }]) => [key, says]).filter(([, says]) => says)];
  const listed = (pairs) => h("dl", { class: "keys" }, pairs.map(([key, says]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, says)]));
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = h("dialog", { "aria-labelledby": "keys-title", onclose: () => dialog.remove() },
    h("h2", { id: "keys-title" }, "Keys"), listed(rows),
    h("h3", {}, "Pages"), h("div", { class: "key-pages" }, listed(PAGES.map(({ key, title }) => [`g ${key}`, title]))),
    close);
  document.body.append(dialog);
  dialog.showModal();
}

const palette = () => openPalette([...commands(), ...(shown?.page.commands?.() ?? [])]);

/** What the palette does besides going somewhere. */
function commands() {
  const own = Object.values(shown?.page.keys ?? {}).filter(({ says }) => says);
  return [...own.map(({ says, run }) => ({ title: says, run })), { title: "show the keys", run: keys },
    ...Object.keys(THEMES).map((name) => ({ title: `theme: ${name}`, run: () => theme(name) })),
    { title: "undo the last change", run: undoLast }];
}

function onKey(event) {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    palette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  isOpening = event.key === "Enter";
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") {
    if (typing) typing.blur();
    else if (!closeMenu()) shown?.page.escape?.();
    return;
  }
  if (typing) return;
  const own = shown?.page.keys?.[event.key];
  if (isGoing()) goTo(event.key); // a letter that leads nowhere does nothing else either
  else if (event.key === "g") go();
  else if (event.key === "?") keys();
  else if (event.key === "/") document.querySelector("#page [data-first]")?.focus();
  else if (own) {
    if (!event.repeat || !own.isOnce) own.run(); // held, such a key decides once, and not on all that follow
  }
  else if (event.key === "z") undoLast();
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
  document.dispatchEvent(new CustomEvent("theme"));
}

/** Open what the address leads to; with another key everything is asked for anew. */
const follow = () => (takeKey() ? location.reload() : open());

/** A link to where one is changes no address, and is followed as well. */
const followAgain = () => { if (location.hash === known && place().page.id === shown?.id) open(); };

function introduce() {
  about().then(({ url }) => fill(document.getElementById("address"), url))
    .catch((error) => showProblem(error, "The console cannot be used", introduce));
}

async function start() {
  takeKey();
  theme(localStorage.getItem(THEME) in THEMES ? localStorage.getItem(THEME) : "auto");
  drawMenu();
  document.getElementById("help").onclick = keys;
  document.getElementById("palette").onclick = palette;
  document.getElementById("skip").onclick = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  };
  addEventListener("hashchange", follow);
  addEventListener("popstate", followAgain);
  addEventListener("keydown", onKey);
  addEventListener("pointerdown", () => { isOpening = true; }, { capture: true });
  addEventListener("pagehide", () => shown?.page.leave?.({ last: true }));
  // What the browser kept of a tab that was left is as old as that, and its page has taken its leave.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
  // With another token everything may look different, and so may what was undone for a page that was left.
  document.addEventListener("changed-elsewhere", () => (shown?.page.again ?? shown?.page.enter)?.()); // `again`, where opening does more than reading
  introduce();
  await open();
}

start();
