// Catalogue: all tools in one filter, a tool whole, its skills by hand, on and off.
import { act } from "./calls.js";
import { skillChip } from "./colours.js";
import { choose, fill, h, later, plural, select, when } from "./dom.js";
import { unsaved } from "./drafts.js";
import { List, Split } from "./list.js";
import { notRead, say, showProblem, solved } from "./notices.js";
import { requestEditor, requestsOf } from "./tool_requests.js";
import { titleOf } from "./tool_choice.js";
import { severalTools } from "./tool_several.js";
import { toolSkills, unsavedSkills } from "./tool_skills.js";

const UNREAD = "The catalogue cannot be read";
const HIDDEN = "The tool cannot be shown";
const ANY = ["", "all servers"];
const STATES = [["", "on and off"], ["on", "on"], ["off", "off"], ["bare", "without a skill"]];

export function make({ options, remember }) {
  let tools = [];
  let servers = []; // that are registered
  let meant = new Map(); // what tools have as their server, and the one name that it is shown by
  let reading = 0;
  let opened = 0;
  let wanted = Number(options.get("tool")); // that shall be open once all is read
  if (options.get("show") === "servers") location.replace("#/servers"); // where they were before

  // Who holds a key down passes many by: only where they stop is anything read.
  const readSoon = later((id) => { if (element.isConnected && toolList.shows(id)) showTool(id); }, 90);
  const toolList = new List({
    label: "Tools", key: (tool) => tool.id,
    row: (tool) => [
      several.selection.cell(tool), h("span", {}, h("span", { class: tool.is_active ? "code" : "code off" }, tool.name), " ", unsavedSkills(tool.id) || unsaved(requestsOf(tool.id))), h("span", { class: "muted" }, tool.server),
      h("span", { class: "tags" }, tool.skill_ids.length ? tool.skill_ids.map((id, at) => skillChip(id, { isPrimary: at === 0, isLink: false })) : h("span", { class: "muted" }, "no skill")), h("span", { class: "muted" }, tool.description)],
    chosen: (tool) => { wanted = 0; split.reading(tool.id, tool.name); readSoon(tool.id); }, open: () => split.open(), none: () => split.nothing(),
    empty: [h("p", {}, "No tools yet."), h("p", {}, "Import some: `skillroute import mcp.json`, or PUT /api/v1/tools.")],
  });
  toolList.element.classList.add("tool-row");
  const several = severalTools(toolList, { all: () => tools, changed: (rows) => {
    const byId = new Map(rows.map((row) => [row.id, row]));
    tools = tools.map((tool) => (byId.has(tool.id) ? withText({ ...tool, ...byId.get(tool.id) }) : tool));
    filter();
    readAnew();
    if (byId.has(toolList.chosenKey)) showTool(toolList.chosenKey);
  } });
  const split = new Split(toolList, "The tool");

  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter", placeholder: "Filter by name, server, text or skill",
    value: options.get("filter") ?? "", oninput: () => filter({ first: true }) });
  toolList.openedFrom(search);
  const server = h("select", { "aria-label": "Server", onchange: () => { options.delete("server"); filter({ first: true }); } }, h("option", { value: "" }, ANY[1]));
  const state = select(STATES, options.get("state") ?? "", () => filter({ first: true }));
  state.setAttribute("aria-label", "State");
  const count = h("span", { class: "count" });
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, server, state, h("button", { type: "button", onclick: () => load() }, "Reload"), count), several.bar, split.element);

  function filter(how) {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((word) => text.includes(word));
    const wanted = state.value;
    const rows = tools.filter((tool) =>
      (!server.value || nameOf(tool) === server.value) && matches(tool.text)
      && (!wanted || (wanted === "bare" ? tool.skill_ids.length === 0 : tool.is_active === (wanted === "on"))));
    toolList.show(rows, tools.length ? "No tool matches: clear the filter (/, then Esc), or choose all servers." : undefined, how);
    fill(count, toolList.unread ? "" : rows.length === tools.length ? plural(tools.length, "tool") : `${rows.length.toLocaleString("en")} of ${plural(tools.length, "tool")}`,
      reading ? ` (of ${reading.toLocaleString("en")}, reading)` : "");
    several.selection.mark();
    keep();
  }

  /** Keep in the address what is open, and what is filtered. */
  function keep() {
    if (!reading && tools.length) remember("catalogue", { tool: toolList.isEmptied ? "" : toolList.chosenKey, filter: search.value, server: server.value, state: state.value });
  }

  const withText = (tool) => ({ ...tool, text: textOf(tool) });
  const textOf = (tool) => [tool.name, tool.server, tool.skill_ids.join(" "), tool.description].join(" ").toLowerCase();

  async function load() {
    const mine = {};
    load.mine = mine;
    try {
      const [found] = await Promise.all([readTools(mine), readServers()]);
      if (found === null || load.mine !== mine) return;
      load.mine = null;
      solved(UNREAD);
    } catch (error) {
      if (load.mine !== mine) return;
      reading = 0; // what is missing does not come
      toolList.isPartial = false;
      if (!tools.length) toolList.unread = notRead(error);
      filter();
      showProblem(error, UNREAD, load);
    }
  }

  /** What is being read may be older than a change. */
  function readAnew() {
    if (load.mine) load();
  }

  async function readTools(mine) {
    const rows = [];
    let wish = 0;
    let total = 1;
    while (rows.length < total) {
      const page = await act("catalogue/tools", { offset: rows.length });
      if (load.mine !== mine) return null;
      total = page.total;
      rows.push(...page.rows.map(withText));
      toolList.unread = null;
      reading = rows.length < total && page.rows.length ? total : 0;
      toolList.isPartial = reading > 0;
      // What was there before stays until all is read: a list that shrinks under the hand is none.
      if (rows.length >= tools.length || !reading) tools = [...rows];
      meet();
      wish = wanted; // filtering may choose another one
      filter();
      if (!page.rows.length) break;
    }
    wanted = 0;
    if (wish && !(toolList.current && toolList.shows(wish))) reach(wish);
    else if (toolList.chosenKey === undefined) toolList.choose(0);
    else if (toolList.current) showTool(toolList.chosenKey);
    return rows;
  }

  function reach(id) {
    wanted = toolList.isPartial ? id : 0;
    if (!toolList.chooseKey(id, { silent: true })) {
      if (!wanted) { // what is open stands in the list, unless it is still to come
        search.value = server.value = state.value = "";
        options.delete("server");
      }
      toolList.expect(id);
      filter();
      if (!wanted && !toolList.shows(id)) return void say(`No tool in the list has the number ${id}: it was deleted, or is new (Reload).`);
    }
    split.reading(id, toolList.current?.name ?? `Tool ${id}`);
    showTool(id);
    split.open();
  }

  /** Filter as an address says, and open its tool. */
  function follow(address) {
    options = address;
    search.value = address.get("filter") ?? "";
    choose(state, address.get("state"));
    choose(server, address.get("server"));
    const id = Number(address.get("tool"));
    wanted = 0;
    filter({ first: !id });
    if (id) reach(id);
  }

  async function readServers() {
    servers = await act("servers/registered");
    meet();
    filter();
  }

  const nameOf = (tool) => meant.get(tool.server) ?? tool.server;

  // All servers under one name each: those that are registered, and those that tools name and nobody registered.
  function meet() {
    meant = new Map(servers.flatMap((one) => one.names.map((name) => [name, one.tools_server])));
    const first = new Map();
    for (const { server: name } of tools) {
      const key = name.trim().replace(/^\/+|\/+$/g, "").replace(/\s+/g, "-").toLowerCase();
      if (!key || (meant.has(name) && !first.has(key))) continue;
      if (!first.has(key)) first.set(key, name);
      meant.set(name, first.get(key));
    }
    names();
  }

  function names() {
    const chosen = server.value || options.get("server") || "";
    const all = [...new Set(tools.map(nameOf))].filter(Boolean).sort();
    fill(server, h("option", { value: "" }, ANY[1]), all.map((name) => h("option", { value: name }, name)));
    server.value = all.includes(chosen) ? chosen : "";
  }

  async function showTool(id) {
    const mine = ++opened;
    keep();
    try {
      const found = await act("catalogue/tool", { tool_id: id });
      if (mine !== opened) return;
      solved(HIDDEN);
      drawTool(found);
    } catch (error) {
      if (mine !== opened) return;
      split.unread(id, notRead(error));
      showProblem(error, HIDDEN, () => showTool(id));
    }
  }

  /** Show a tool where it is the one that is chosen: an answer may come late. */
  function drawTool({ tool, skills }) {
    if (!toolList.shows(tool.id)) return;
    split.of = tool.id;
    const changed = (row) => {
      const at = tools.findIndex((one) => one.id === tool.id);
      if (at >= 0) tools[at] = withText({ ...tools[at], ...row });
      filter();
      readAnew();
    };
    split.show(
      h("h2", { class: "code" }, tool.name),
      h("p", { class: "muted" }, `${tool.type} of `, tool.server ? h("a", { href: `#/servers?server=${encodeURIComponent(nameOf(tool))}` }, tool.server) : "no server", `, id ${tool.id}, changed `, when(tool.updated_at)),
      !tool.is_active && h("p", { class: "note" }, tool.is_switched_off ? "This tool is switched off: searches do not return it."
        : tool.is_quarantined ? ["Its definition changed: searches do not return it until it is approved, on the page ", h("a", { href: "#/changes" }, "Changes"), "."]
          : ["The ", h("a", { href: `#/servers?server=${encodeURIComponent(nameOf(tool))}` }, "tool's server"), " is switched off: searches do not return the tool."]),
      !tool.is_embedded && h("p", { class: "note" }, "This tool has no vector yet: searches find it by words only."),
      h("p", { class: "lead" }, tool.description || h("span", { class: "muted" }, "It has no description.")),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => switchTool(tool, changed) }, tool.is_switched_off ? "Switch on" : "Switch off"),
        tool.tags.map((tag) => h("span", { class: "chip" }, `#${tag}`))),
      toolSkills(tool, skills, (found) => {
        if (toolList.shows(tool.id)) opened += 1; // what was asked for before is older
        changed({ skill_ids: found.skills.map((skill) => skill.skill_id) });
        drawTool(found);
      }),
      tool.type === "tool" && requestEditor(tool, () => showTool(tool.id)),
      h("h3", {}, "Arguments"), args(tool.input_schema),
      tool.annotations && [h("h3", {}, "Annotations"), json(tool.annotations, "Annotations")],
      tool.input_schema && h("details", {}, h("summary", {}, "Input schema as JSON"), json(tool.input_schema, "Input schema")),
      tool.output_schema && h("details", {}, h("summary", {}, "Output schema as JSON"), json(tool.output_schema, "Output schema")));
  }

  async function switchTool(tool, changed) {
    const failed = `${titleOf(tool)} was not switched`;
    try {
      const row = await act("catalogue/switch", { tool_id: tool.id, on: Boolean(tool.is_switched_off) });
      solved(failed);
      changed({ is_active: row.is_active, is_switched_off: row.is_switched_off }); // the rest may be older than another change
      say(`${tool.name} is ${row.is_active ? "on" : "off"}`, { action: "Undo", run: () => switchTool({ ...tool, ...row }, changed) });
      if (toolList.shows(tool.id)) await showTool(tool.id);
    } catch (error) {
      showProblem(error, failed, () => switchTool(tool, changed));
    }
  }

  toolList.unread = "Reading …";
  toolList.isPartial = true;
  filter();
  return {
    element, enter: load, leave: () => { load.mine = null; opened += 1; }, list: () => toolList,
    options: follow,
    escape: () => split.close(),
    keys: { t: { says: "select the tool in the list, or not (Space in the list)", run: () => several.selection.toggle(toolList.current) } },
  };
}

/** The arguments that a JSON Schema names, one a row; its properties alone, not what refers elsewhere. */
function args(schema) {
  const properties = Object.entries(schema?.properties ?? {});
  if (!properties.length) return h("p", { class: "muted" }, schema ? "The schema lists no arguments as properties: see the JSON." : "It has no schema.");
  const required = new Set(schema.required ?? []);
  const typeOf = (one) => [one?.type, one?.enum && one.enum.map((value) => JSON.stringify(value)).join(" | ")].flat().filter(Boolean).join(": ") || "any";
  return h("table", {}, h("thead", {}, h("tr", {}, ["Name", "Type", "Description"].map((name) => h("th", {}, name)))),
    h("tbody", {}, properties.map(([name, one]) => h("tr", {},
      h("td", { class: "name" }, name, required.has(name) && h("small", {}, " required")), h("td", {}, typeOf(one)),
      h("td", {}, one?.description || h("span", { class: "muted" }, "no description"))))));
}

function json(value, label) {
  return h("pre", { tabindex: "0", role: "group", "aria-label": label }, JSON.stringify(value, null, 2));
}
