// The palette: one field over pages, commands, skills, servers and tools; the arrow keys choose, Enter goes there.
import { act, events } from "./calls.js";
import { fill, h, later } from "./dom.js";
import { icon } from "./icons.js";
import { PAGES } from "./menu.js";
import { showProblem } from "./notices.js";

const SHOWN = 8; // of each kind
const GOOD_FOR_MS = 60_000;
let names = null; // { at, skills, servers, tools, isPartial }: what there is, for as long as it is fresh
let reading = null; // the reading that is in progress, also for who opens the palette again meanwhile
let changed = () => {}; // draws the palette that is open
document.addEventListener("token", () => { names = reading = null; }); // what another caller may see is no business of this one

const to = (hash) => () => { location.hash = hash; };

/** Read the names of what there is, where those that are known are too old. */
function read() {
  if (!reading && !(names && Date.now() - names.at < GOOD_FOR_MS)) {
    const mine = readAnew().finally(() => { if (reading === mine) reading = null; });
    reading = mine;
  }
  return reading ?? Promise.resolve();
}

async function readAnew() {
  const before = names; // these serve until all are read anew
  const mine = { at: Date.now(), skills: [], servers: [], tools: [], isPartial: true };
  names ??= mine;
  const isMeant = () => names === (before ?? mine);
  try {
    Object.assign(mine, await act("palette/names"));
    changed();
    for await (const { tools } of events("palette/tools", {}, {})) {
      if (!isMeant()) return;
      mine.tools.push(...tools);
      changed();
    }
    mine.isPartial = false;
    if (isMeant()) names = mine;
  } catch (error) {
    if (!isMeant()) return;
    names = { ...(before ?? mine), isPartial: false, at: 0 }; // what was read serves, and is read again
    throw error;
  } finally {
    changed();
  }
}

/** Return how well a text fits words that were typed: whole beginnings first, then beginnings of words, then within. */
function fit(text, words) {
  const lower = text.toLowerCase();
  let worst = 0;
  for (const word of words) {
    const at = lower.indexOf(word);
    if (at < 0) return null;
    worst = Math.max(worst, at === 0 ? 0 : /[\s_./-]/.test(lower[at - 1]) ? 1 : 2);
  }
  return worst + text.length / 1000;
}

/** Return the entries of a kind that fit best, the best first. */
function best(entries, words, textOf) {
  const fitting = [];
  for (const entry of entries) {
    const at = fit(textOf(entry), words);
    if (at !== null) fitting.push([at, entry]);
  }
  return fitting.sort(([a], [b]) => a - b).slice(0, SHOWN).map(([, entry]) => entry);
}

function found(text, commands) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const pages = best(PAGES, words, ({ title }) => title)
    .map(({ id, title, key }) => ({ kind: "Page", title, picture: id, hint: `g ${key}`, run: to(`#/${id}`) }));
  if (!words.length) return pages.concat(PAGES.slice(SHOWN).map(({ id, title, key }) => ({ kind: "Page", title, picture: id, hint: `g ${key}`, run: to(`#/${id}`) })));
  const { skills = [], servers = [], tools = [] } = names ?? {};
  return [
    ...pages,
    ...best(skills, words, ({ id, name }) => `${name} ${id}`).map(({ id, name }) => ({ kind: "Skill", title: name, picture: "skills", hint: id, run: to(`#/skills?skill=${encodeURIComponent(id)}`) })),
    ...best(servers, words, ({ name }) => name).map(({ name }) => ({ kind: "Server", title: name, picture: "servers", hint: "", run: to(`#/servers?${new URLSearchParams({ server: name })}`) })),
    ...best(tools, words, ([, name, server]) => `${name} ${server}`).map(([id, name, server]) => ({ kind: "Tool", title: name, picture: "tool", hint: server, run: to(`#/catalogue?tool=${id}`) })),
    ...best(commands, words, ({ title }) => title).map(({ title, run }) => ({ kind: "Do", title, hint: "", run })),
    { kind: "Search", title: `Search for “${text.trim()}”`, picture: "search", hint: "", run: to(`#/search?${new URLSearchParams({ q: text.trim() })}`) },
  ];
}

/** Open the palette; `commands` are { title, run } that the page offers besides. */
export function openPalette(commands) {
  let rows = [];
  let at = 0;
  let moved = null; // the row that was moved to: names that come later do not put another one in its place
  let failed = null;
  const input = h("input", { type: "text", role: "combobox", "aria-label": "Page, tool, skill, server or command", "aria-expanded": "true",
    "aria-controls": "palette-list", autocomplete: "off", spellcheck: "false", placeholder: "Type the name of a page, tool, skill or server",
    oninput: () => { at = 0; moved = null; draw(); }, onkeydown: onKey });
  const list = h("ul", { role: "listbox", id: "palette-list", "aria-label": "What fits" });
  const status = h("p", { class: "muted", role: "status" });
  const dialog = h("dialog", { class: "palette", "aria-label": "Go to", onclose: () => dialog.remove(),
    onclick: (event) => { if (event.target === dialog) dialog.close(); } }, input, list, status);

  function draw() {
    rows = found(input.value, commands);
    const same = moved && rows.findIndex((row) => row.kind === moved.kind && row.title === moved.title && row.hint === moved.hint);
    if (moved) at = Math.max(0, same); // one that is no longer among the best leaves the first
    at = Math.max(0, Math.min(rows.length - 1, at));
    fill(list, rows.map((row, place) => h("li", { role: "option", id: `palette-${place}`, "aria-selected": String(place === at),
      onclick: () => choose(place), onpointermove: () => { if (at !== place) to(place); } },
    icon(row.picture) ?? h("span", {}), h("span", { class: "title" }, row.title), h("span", { class: "muted" }, row.hint), h("span", { class: "kind" }, row.kind))));
    mark();
    fill(status, failed ? `Tools, skills and servers are not all here: ${failed.message}.` : names?.isPartial && input.value.trim() ? `Reading names, ${names.tools.length.toLocaleString("en")} tools so far …` : "");
  }

  function to(place) {
    at = place;
    moved = rows[at];
    mark();
  }

  function mark() {
    for (const [place, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(place === at));
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (rows.length) input.setAttribute("aria-activedescendant", `palette-${at}`);
  }

  function choose(place) {
    const row = rows[place];
    if (!row) return;
    dialog.close();
    row.run();
  }

  function onKey(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) to((at + moves[event.key] + rows.length) % rows.length);
    else if (event.key === "Enter" && !event.isComposing) choose(at);
    else return;
    event.preventDefault();
  }

  document.body.append(dialog);
  dialog.showModal();
  draw();
  changed = later(() => { if (dialog.isConnected) draw(); }, 100);
  read().catch((error) => {
    failed = error; // pages and commands are here all the same
    draw();
    showProblem(error, "The names of tools, skills and servers cannot be read", () => openPalette(commands));
  });
}
