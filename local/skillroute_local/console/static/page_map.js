// Map: tools as points, near each other where they mean the same; coloured by skill.
import { events } from "./calls.js";
import { fill, h, plural, select } from "./dom.js";
import { List } from "./list.js";
import { showProblem } from "./notices.js";
import { Scatter } from "./scatter.js";

const NONE = -1;
const BARE = "-"; // in the address, for tools in no skill

// Outlives the page: placing points takes seconds, and goes on while others are looked at.
let kept = null;
let doing = null;
let drawn = () => {};

async function load() {
  if (doing !== null) { drawn(); return; }
  doing = "asking";
  drawn();
  try {
    for await (const event of events("map/points", {}, {})) {
      if (event.doing) doing = event.doing;
      else kept = read(event.points);
      drawn();
    }
  } catch (error) {
    showProblem(error, "The map cannot be drawn", load);
  } finally {
    doing = null;
    drawn();
  }
}

function read(points) {
  if (points === null) return { outOfReach: true };
  return {
    ...points, skills: points.skills.map(([id, name, x, y]) => ({ id, name, x, y })),
    tools: points.tools.map(([id, name, server, group, x, y]) => ({ id, name, server, group, x, y })),
  };
}

export function make({ options, remember }) {
  let shown = null;
  const over = h("span", { class: "muted" });
  const state = h("div", {});
  const scatter = new Scatter({ label: "Map of the tools; the list next to it has all of them", over: (tool) => fill(over, tool && titleOf(tool)), chosen: pick });
  const list = new List({
    label: "Tools on the map", key: (tool) => tool.id,
    row: (tool) => [h("span", { class: "code" }, tool.name), h("span", { class: "muted" }, tool.server)],
    chosen: (tool) => mark(tool), open: (tool) => { location.hash = `#/catalogue?tool=${tool.id}`; },
    empty: "No tool matches.",
  });
  list.element.classList.add("point-row");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter tools", placeholder: "Filter by tool or server", oninput: () => filter() });
  const skill = select([["", "all skills"]], "", () => filter());
  skill.setAttribute("aria-label", "Skill");
  const count = h("span", { class: "count" });
  const picked = h("div", { class: "picked" });
  const frame = h("div", { class: "map" },
    h("div", { class: "map-picture" }, scatter.canvas, h("p", { class: "map-line" }, over,
      h("span", { class: "inline" }, [["−", "Zoom out", () => scatter.zoomBy(0.67)], ["+", "Zoom in", () => scatter.zoomBy(1.5)], ["⌂", "Show all", () => scatter.home()]]
        .map(([sign, says, run]) => h("button", { type: "button", "aria-label": says, title: says, onclick: run }, sign))))),
    h("div", { class: "map-list" }, picked, list.element));
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, skill, h("button", { type: "button", onclick: load }, "Reload"), count), state, frame);

  const titleOf = (tool) => `${tool.server ? `${tool.server}/` : ""}${tool.name}${tool.group === NONE ? ", in no skill" : `: ${kept.skills[tool.group].name}`}`;

  function draw() {
    if (doing !== null) {
      const [progress, says] = state.querySelector("progress") ? state.firstChild.children : [h("progress", { "aria-label": "Drawn" }), h("span", { class: "muted" })];
      fill(says, `${doing} …`);
      if (!progress.isConnected) fill(state, h("p", { class: "inline" }, progress, says));
      return;
    }
    fill(state);
    frame.hidden = !kept?.tools;
    if (kept?.outOfReach) {
      fill(state, h("div", { class: "empty" }, h("p", {}, "This console cannot read the vectors: the API does not return them."),
        h("p", {}, h("code", {}, "skillroute console"), " draws the map of a Skillroute that runs on this machine, and of one whose database its environment names (",
          h("code", {}, "skillroute console --help"), ").")));
    } else if (kept) show();
  }

  function show() {
    const { tools, skills, without_vector: bare, left_out: out } = kept;
    const sizes = new Map();
    for (const { group } of tools) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    const named = skills.map((one, number) => [one.id, `${one.name} (${sizes.get(number) ?? 0})`]).sort((a, b) => a[1].localeCompare(b[1]));
    const wanted = skill.value || options.get("skill") || "";
    fill(skill, [["", "all skills"], [BARE, `in no skill (${sizes.get(NONE) ?? 0})`], ...named].map(([value, label]) => h("option", { value }, label)));
    skill.value = [...skill.options].some(({ value }) => value === wanted) ? wanted : "";
    fill(state, tools.length === 0 ? h("p", { class: "note" }, "There is no tool with a vector yet.") : (bare + out > 0) && h("p", { class: "muted" },
      [bare > 0 && `${plural(bare, "tool")} without a vector yet`, out > 0 && `${plural(out, "tool")} left out, evenly: there is no room for more`].filter(Boolean).join("; "), "."));
    if (shown !== kept) scatter.show(tools, skills);
    shown = kept;
    filter();
  }

  function filter() {
    if (!kept?.tools) return;
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = skill.value === "" ? null : skill.value === BARE ? NONE : kept.skills.findIndex(({ id }) => id === skill.value);
    const rows = kept.tools.filter((tool) => (group === null || tool.group === group)
      && given.every((word) => `${tool.server} ${tool.name}`.toLowerCase().includes(word)));
    scatter.bringOut(group);
    list.show(rows);
    fill(count, rows.length === kept.tools.length ? plural(rows.length, "tool") : `${rows.length.toLocaleString("en")} of ${plural(kept.tools.length, "tool")}`);
    remember("map", { skill: skill.value });
    if (!list.current) mark(null);
  }

  function pick(tool) {
    if (!list.chooseKey(tool.id)) mark(tool);
  }

  function mark(tool) {
    scatter.choose(tool);
    fill(picked, tool && [
      h("p", {}, h("a", { class: "code", href: `#/catalogue?tool=${tool.id}` }, tool.name), h("span", { class: "muted" }, ` ${tool.server}`)),
      h("p", {}, tool.group === NONE ? h("span", { class: "muted" }, "in no skill") : h("a", { href: `#/skills?skill=${encodeURIComponent(kept.skills[tool.group].id)}` }, kept.skills[tool.group].name)),
    ]);
  }

  drawn = draw;
  return {
    element, enter: () => (kept?.tools ? draw() : load()), leave: () => { drawn = () => {}; }, list: () => list,
    keys: { "+": { says: "zoom in", run: () => scatter.zoomBy(1.5) }, "-": { says: "zoom out", run: () => scatter.zoomBy(0.67) }, f: { says: "show all of the map", run: () => scatter.home() } },
  };
}
