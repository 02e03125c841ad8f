// Map: tools and skills as points, near each other where they mean the same, in the colours of their skills.
import { act, events } from "./calls.js";
import { hueOf, skillChip } from "./colours.js";
import { fill, h, later, plural, select, when } from "./dom.js";
import { List } from "./list.js";
import { selection, selectionPanel } from "./map_selection.js";
import { notRead, say, showProblem, solved } from "./notices.js";
import { DIAMOND, DIM, DISC, OUT, PLAIN, RING, Scatter } from "./scatter.js";

const BARE = "bare"; // in the address, for tools without a skill
const UNREAD = "The map cannot be drawn";
const UNFOUND = "The results of the request cannot be shown";
const HIGHLIGHTED = 20; // results of a request

// Outlives the page: placing points takes seconds, and goes on while others are looked at.
let kept = null;
let unread = null; // the error, where it could not be read
let reading = null; // { doing, given, stop }; `given` are the skills that were given since it was begun
let drawn = () => {};
document.addEventListener("token", () => { // what another caller may see is no business of this one
  reading?.stop();
  kept = unread = reading = null;
  drawn();
});

/** Place the points, anew also where they are being placed: that may be older than what one wants to see. */
async function load() {
  const controller = new AbortController();
  const mine = { doing: "asking", given: [], stop: () => controller.abort() };
  reading?.stop();
  reading = mine;
  drawn();
  try {
    for await (const event of events("map/points", {}, { signal: controller.signal })) {
      if (reading !== mine) return;
      if (event.doing) mine.doing = event.doing;
      else {
        kept = read(event.points);
        for (const [id, target] of mine.given) give(id, target);
        unread = null;
        solved(UNREAD);
      }
      drawn();
    }
  } catch (error) {
    if (reading !== mine) return;
    unread = error;
    showProblem(error, UNREAD, load);
  } finally {
    if (reading === mine) {
      reading = null;
      drawn();
    }
  }
}

/** Let a tool have another primary skill, or none. */
function give(id, target) {
  const tool = kept?.tools?.find((one) => one.id === id);
  if (!tool) return;
  let of = target ? kept.skills.find((one) => one.id === target.id) : null;
  if (target && !of) kept.skills.push(of = skillOf(target.id, target.name ?? target.id)); // it was made a moment ago
  coloured(Object.assign(tool, { skill: of }));
}

function read(points) {
  if (points === null) return { outOfReach: true };
  const skills = points.skills.map(([key, name, x, y]) => skillOf(key, name, x, y));
  const tools = points.tools.map(([id, name, server, at, x, y]) => coloured({ id, name, server, x, y, skill: skills[at] ?? null }));
  return { ...points, skills, tools };
}

function skillOf(key, name, x = null, y = null) {
  const [id] = key.split("/"); // an organisation's own has its name behind
  return { key, id, name, x, y, hue: hueOf(id), shape: DIAMOND };
}

const coloured = (tool) => Object.assign(tool, { hue: tool.skill?.hue ?? null, shape: tool.skill ? DISC : RING });

export function make({ options, remember }) {
  let shown = null;
  let found = null; // { text, ranks, missing } of the request whose results are brought out
  let turn = 0;
  let isOnly = false;
  let left = false;
  let first = options;
  const over = h("span", { class: "muted" });
  const state = h("div", {});
  const result = h("p", { class: "muted", role: "status" });
  const scatter = new Scatter({
    label: "Map of the tools; the list next to it has all of them", over: (point) => fill(over, point && titleOf(point)),
    chosen: (point, { adds }) => pick(point, adds), around: (points, { adds }) => around(points, adds),
  });
  const list = new List({
    label: "Tools on the map", key: (tool) => tool.id, row: (tool) => row(tool),
    chosen: (tool) => mark(tool), open: () => {}, empty: "No tool matches.",
  });
  list.box.addEventListener("keydown", (event) => { if (event.key === " ") { event.preventDefault(); toggle(list.current); } });
  list.box.addEventListener("keydown", (event) => { if (event.key === "Enter" && list.current) location.hash = `#/catalogue?tool=${list.current.id}`; });
  list.element.classList.add("point-row");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter tools", placeholder: "Filter by tool or server", value: options.get("filter") ?? "", oninput: () => filter() });
  const skill = select([["", "all skills"]], "", () => { if (skill.value) bare.checked = false; filter(); });
  skill.setAttribute("aria-label", "Skill");
  const bare = h("input", { type: "checkbox", id: "map-bare", onchange: () => { if (bare.checked) skill.value = ""; filter(); } });
  const bareLabel = h("label", { for: "map-bare" });
  const query = h("input", { type: "search", class: "request", "aria-label": "Highlight results of a request", placeholder: "Highlight what a request finds", onsearch: () => { if (!query.value) highlight(); } });
  const count = h("span", { class: "count" });
  const picked = h("div", { class: "picked" });
  const panel = selectionPanel({
    tools: () => kept?.tools ?? [], changed: () => { if (selection.size === 0) isOnly = false; filter(); }, given,
    isOnly: (on) => { isOnly = on; filter(); },
  });
  const lasso = h("button", { type: "button", "aria-pressed": "false", title: "Draw a line around tools (l, or Shift and drag)", onclick: () => setLasso(!scatter.isDrawing) }, "Select by a line");
  const buttons = [["−", "Zoom out", () => scatter.zoomBy(0.67)], ["+", "Zoom in", () => scatter.zoomBy(1.5)], ["⌂", "Show all", () => scatter.home()]];
  const frame = h("div", { class: "map" },
    h("div", { class: "map-picture" }, scatter.element, h("p", { class: "map-line" }, over,
      h("span", { class: "inline" }, lasso, buttons.map(([sign, says, run]) => h("button", { type: "button", "aria-label": says, title: says, onclick: run }, sign))))),
    h("div", { class: "map-list" }, picked, panel.element, list.element));
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, skill, h("span", { class: "inline" }, bare, bareLabel),
      h("form", { class: "inline", role: "search", onsubmit: (event) => { event.preventDefault(); highlight(); } }, query),
      h("button", { type: "button", onclick: load }, "Reload"), count), result, state, frame);

  const titleOf = (point) => (point.shape === DIAMOND ? `the skill ${point.name}` : `${point.server ? `${point.server}/` : ""}${point.name}${point.skill ? `: ${point.skill.name}` : ", without a skill"}`);

  function row(tool) {
    const spot = h("span", { class: tool.skill ? "spot" : "spot hollow", "aria-hidden": "true" });
    if (tool.skill) spot.style.setProperty("--hue", tool.skill.hue);
    const rank = found?.ranks.get(tool.id);
    return [h("span", { class: "inline marked" }, selection.has(tool.id) && h("span", { class: "ticked" }, h("span", { "aria-hidden": "true" }, "✓"), h("span", { class: "spoken" }, "selected, ")), spot),
      h("span", { class: "code" }, rank && h("span", { class: "muted" }, `${rank}. `), tool.name), h("span", { class: "muted" }, tool.server)];
  }

  function draw() {
    frame.hidden = !kept?.tools?.length;
    if (reading) {
      const [progress, says] = state.querySelector("progress") ? state.firstChild.children : [h("progress", { "aria-label": "Drawn" }), h("span", { class: "muted" })];
      fill(says, `${reading.doing} …`);
      if (!progress.isConnected) fill(state, h("p", { class: "inline" }, progress, says));
      return;
    }
    fill(state, !kept && unread && notRead(unread));
    if (kept?.outOfReach) {
      fill(state, h("div", { class: "empty" }, h("p", {}, "This console cannot read the vectors: the API does not return them."),
        h("p", {}, h("code", {}, "skillroute console"), " draws the map of a Skillroute that runs on this machine, and of one whose database its environment names (",
          h("code", {}, "skillroute console --help"), ").")));
    } else if (kept) show();
  }

  function show() {
    const { tools, skills, without_vector: unplaced, left_out: out, at } = kept;
    if (tools.length === 0) {
      fill(state, h("div", { class: "empty" }, h("p", {}, "There is no tool with a vector yet."),
        h("p", {}, "Import tools first, for instance by ", h("code", {}, "skillroute import"), "; the page Health says how far their vectors are.")));
    } else {
      const notes = [unplaced > 0 && `${plural(unplaced, "tool")} without a vector yet`, out > 0 && `${plural(out, "tool")} left out, evenly: there is no room for more`].filter(Boolean);
      fill(state, h("p", { class: "muted" }, "Placed ", when(at), notes.length > 0 && `; ${notes.join("; ")}`, "."));
    }
    drawSkills(first.get("skill") ?? skill.value);
    if (first.get("only") === BARE || first.get("skill") === "-") bare.checked = true; // "-" in addresses of before
    first = new URLSearchParams();
    if (shown !== kept) scatter.show([...tools, ...skills.filter(({ x }) => x !== null)]);
    shown = kept;
    filter();
  }

  function drawSkills(wanted) {
    const sizes = new Map();
    for (const tool of kept.tools) sizes.set(tool.skill, (sizes.get(tool.skill) ?? 0) + 1);
    for (const one of kept.skills) one.size = sizes.get(one) ?? 0;
    const named = kept.skills.map((one) => [one.key, `${one.name} (${one.size})`]).sort((a, b) => a[1].localeCompare(b[1]));
    fill(skill, [["", "all skills"], ...named].map(([value, label]) => h("option", { value }, label)));
    skill.value = kept.skills.some(({ key }) => key === wanted) ? wanted : "";
    fill(bareLabel, `without a skill (${(sizes.get(null) ?? 0).toLocaleString("en")})`);
  }

  function filter() {
    if (!kept?.tools) return;
    const given_ = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (tool) => (!skill.value || tool.skill?.key === skill.value) && (!bare.checked || !tool.skill)
      && given_.every((word) => `${tool.server} ${tool.name}`.toLowerCase().includes(word));
    const rows = kept.tools.filter((tool) => fits(tool) && (!found || found.ranks.has(tool.id)) && (!isOnly || selection.has(tool.id)));
    if (found) rows.sort((a, b) => found.ranks.get(a.id) - found.ranks.get(b.id));
    lookSoon(fits, Boolean(skill.value || bare.checked || given_.length));
    list.show(rows);
    fill(count, rows.length === kept.tools.length ? plural(rows.length, "tool") : `${rows.length.toLocaleString("en")} of ${plural(kept.tools.length, "tool")}`);
    panel.setOnly(isOnly);
    panel.draw();
    if (!left) remember("map", { filter: search.value, skill: skill.value, q: found?.text ?? "", only: bare.checked ? BARE : "" });
    if (!list.current) mark(null);
  }

  // Of thousands of points at once, and not for each letter that is typed.
  const lookSoon = later((fits, isFiltered) => {
    const some = (point) => (point.shape === DIAMOND ? !bare.checked && !found && (!skill.value || point.key === skill.value) : fits(point) && (!found || found.ranks.has(point.id)));
    scatter.look((point) => ({
      state: !isFiltered && !found ? PLAIN : some(point) ? OUT : DIM,
      isSelected: point.shape !== DIAMOND && selection.has(point.id), rank: point.shape !== DIAMOND && found?.ranks.get(point.id) || null,
    }), found ? [] : kept.skills.filter((one) => one.x !== null && some(one)).sort((a, b) => b.size - a.size));
  }, 30);

  /** Bring out what a search finds; with nothing in the field all is shown again. */
  async function highlight() {
    const text = query.value.trim();
    const mine = ++turn;
    if (!text) { found = null; solved(UNFOUND); fill(result); filter(); return; }
    try {
      const { tools } = await act("search/run", { request: { query: text, limit: HIGHLIGHTED }, receipt: false });
      if (mine !== turn) return;
      solved(UNFOUND);
      if (!kept?.tools) return;
      const placed = new Set(kept.tools.map(({ id }) => id));
      found = { text, ranks: new Map(tools.map((tool, at) => [tool.db_id, at + 1])) };
      const missing = tools.filter((tool) => !placed.has(tool.db_id)).length;
      fill(result, `${plural(tools.length, "result")} of “${text}”, numbered by rank${missing ? `; ${missing} of them not on the map` : ""}. `,
        h("button", { type: "button", onclick: () => { query.value = ""; highlight(); query.focus(); } }, "Show all again"));
      filter();
    } catch (error) {
      if (mine === turn) showProblem(error, UNFOUND, highlight);
    }
  }

  function pick(point, adds) {
    if (point.shape === DIAMOND) { skill.value = point.key; bare.checked = false; filter(); }
    else if (adds) toggle(point);
    else if (!list.chooseKey(point.id)) mark(point);
  }

  function around(points, adds) {
    if (!adds) selection.clear();
    for (const point of points) if (point.shape !== DIAMOND) selection.add(point.id);
    isOnly = selection.size > 0;
    if (!points.length) say("No tool that is brought out is within the line: the pale ones are not selected.");
    filter();
  }

  function toggle(tool) {
    if (!tool) return;
    const { at } = list;
    if (!selection.delete(tool.id)) selection.add(tool.id);
    if (selection.size === 0) isOnly = false;
    filter();
    if (!list.current && at >= 0) list.choose(at); // it left the list: its place stays
  }

  function setLasso(isOn) {
    lasso.setAttribute("aria-pressed", String(isOn));
    scatter.setDrawing(isOn);
  }

  /** Show the primary skill that a tool has now, or none. */
  function given(id, target) {
    reading?.given.push([id, target]); // which may be older
    give(id, target);
    if (kept?.tools) recolourSoon();
  }
  const recolourSoon = later(() => { if (!kept?.tools) return; drawSkills(skill.value); filter(); if (list.current) mark(list.current); }, 100);

  function mark(tool) {
    scatter.choose(tool ?? null);
    fill(picked, tool && [
      h("p", {}, h("a", { class: "code", href: `#/catalogue?tool=${tool.id}` }, tool.name), h("span", { class: "muted" }, ` ${tool.server}`)),
      h("p", {}, tool.skill ? skillChip(tool.skill.id, { text: tool.skill.name }) : h("span", { class: "muted" }, "without a skill")),
    ]);
  }

  function reach(more) {
    const gives = more.get("give");
    bare.checked = more.get("only") === BARE || more.get("skill") === "-";
    if (kept?.tools) drawSkills(more.get("skill") ?? "");
    else first = more; // for when the points are placed
    search.value = more.get("filter") ?? "";
    query.value = more.get("q") ?? "";
    if (gives) panel.name(gives);
    if (query.value !== (found?.text ?? "")) highlight(); else filter();
  }

  drawn = () => { const had = shown; draw(); if (kept?.tools && had !== kept && query.value) highlight(); };
  query.value = options.get("q") ?? "";
  return {
    element, list: () => list, options: reach,
    enter: () => { if (kept?.tools || reading) drawn(); else load(); if (options.get("give")) panel.name(options.get("give")); },
    leave: () => { left = true; turn += 1; drawn = () => {}; },
    escape: () => setLasso(false),
    keys: {
      l: { says: "select tools by a line around them", run: () => setLasso(!scatter.isDrawing) }, t: { says: "select the tool, or no longer", run: () => toggle(list.current) },
      "+": { says: "zoom in", run: () => scatter.zoomBy(1.5) }, "-": { says: "zoom out", run: () => scatter.zoomBy(0.67) }, f: { says: "show all of the map", run: () => scatter.home() },
    },
  };
}
