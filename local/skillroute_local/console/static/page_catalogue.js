// Catalogue: all tools and servers in one filter, a tool whole, its skills by hand, on and off.
import { act } from "./calls.js";
import { bar, fill, h, later, plural, select, when } from "./dom.js";
import { draft, dropDraft, keepDraft } from "./drafts.js";
import { List, Split } from "./list.js";
import { say, showProblem } from "./notices.js";
import { forgetSkills, skillInput } from "./skill_choice.js";

const ANY = ["", "all servers"];
const STATES = [["", "on and off"], ["on", "on"], ["off", "off"], ["bare", "without a skill"]];
const SOURCES = { llm_auto: "a language model", similarity: "similarity", human_manual: "a person", human_override: "a person, over a classifier" };

export function make({ options, remember }) {
  let tools = [];
  let servers = [];
  let reading = 0;
  let opened = 0;
  let tab = options.get("show") === "servers" ? "servers" : "tools";

  const toolList = new List({
    label: "Tools", key: (tool) => tool.id,
    row: (tool) => [
      h("span", { class: tool.is_active ? "code" : "code off" }, tool.name), h("span", { class: "muted" }, tool.server),
      h("span", {}, tool.skill_ids.join(", ") || "–"), h("span", { class: "muted" }, tool.description)],
    chosen: later((tool) => showTool(tool.id), 90), open: () => split.open(),
    empty: [h("p", {}, "There are no tools."), h("p", {}, "Bring some in: `skillroute import mcp.json`, or PUT /api/v1/tools.")],
  });
  toolList.element.classList.add("tool-row");
  const serverList = new List({
    label: "Servers", key: (server) => server.id,
    row: (server) => [
      h("span", { class: server.is_enabled ? "" : "off" }, server.name), h("span", { class: "num" }, server.tool_count),
      h("span", { class: server.is_enabled ? "state ok" : "state no" }, server.is_enabled ? "on" : "off"), h("span", { class: "muted" }, server.description)],
    chosen: (server) => showServer(server), open: () => serverSplit.open(),
    empty: [h("p", {}, "There are no servers."), h("p", {}, "`skillroute import mcp.json` registers those of a configuration, with their tools.")],
  });
  serverList.element.classList.add("server-row");
  const split = new Split(toolList, "The tool");
  const serverSplit = new Split(serverList, "The server");

  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter", placeholder: "Filter by name, server, text or skill",
    value: options.get("filter") ?? "", oninput: () => filter() });
  const server = h("select", { "aria-label": "Server", onchange: () => filter() }, h("option", { value: "" }, ANY[1]));
  const state = select(STATES, "", () => filter());
  state.setAttribute("aria-label", "State");
  const count = h("span", { class: "count" });
  const tabs = h("span", { class: "tabs" }, ["tools", "servers"].map((name) =>
    h("button", { type: "button", "data-tab": name, onclick: () => show(name) }, name === "tools" ? "Tools" : "Servers")));
  const body = h("div", { class: "stack" });
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, tabs, search, server, state, h("button", { type: "button", onclick: () => load() }, "Load again"), count), body);
  body.style.flex = "1";

  function show(name) {
    tab = name;
    for (const button of tabs.children) button.setAttribute("aria-pressed", String(button.dataset.tab === tab));
    server.hidden = tab === "servers";
    fill(body, tab === "tools" ? split.element : serverSplit.element);
    filter();
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((word) => text.includes(word));
    const wanted = state.value;
    if (tab === "tools") {
      const rows = tools.filter((tool) =>
        (!server.value || tool.server === server.value) && matches(tool.text)
        && (!wanted || (wanted === "bare" ? tool.skill_ids.length === 0 : tool.is_active === (wanted === "on"))));
      toolList.show(rows, tools.length ? "No tool matches: empty the filter (/, then Esc), or choose all servers." : undefined);
      fill(count, rows.length === tools.length ? plural(tools.length, "tool") : `${rows.length.toLocaleString("en")} of ${plural(tools.length, "tool")}`,
        reading ? ` (of ${reading.toLocaleString("en")}, reading)` : "");
      return;
    }
    const rows = servers.filter((one) => matches(one.text)
      && (!wanted || (wanted === "bare" ? one.tool_count === 0 : one.is_enabled === (wanted === "on"))));
    serverList.show(rows, servers.length ? "No server matches the filter." : undefined);
    fill(count, rows.length === servers.length ? plural(servers.length, "server") : `${rows.length} of ${plural(servers.length, "server")}`);
  }

  const textOf = (tool) => [tool.name, tool.server, tool.skill_ids.join(" "), tool.description].join(" ").toLowerCase();

  async function load() {
    const mine = {};
    load.mine = mine;
    try {
      const [found] = await Promise.all([readTools(mine), readServers()]);
      if (found === null) return;
    } catch (error) {
      reading = 0;
      filter();
      showProblem(error, "The catalogue cannot be read", load);
    }
  }

  async function readTools(mine) {
    const rows = [];
    let total = 1;
    while (rows.length < total) {
      const page = await act("catalogue/tools", { offset: rows.length });
      if (load.mine !== mine) return null;
      total = page.total;
      rows.push(...page.rows.map((tool) => ({ ...tool, text: textOf(tool) })));
      reading = rows.length < total && page.rows.length ? total : 0;
      // What was there before stays until all is read: a list that shrinks under the hand is none.
      if (rows.length >= tools.length || !reading) tools = [...rows];
      names();
      filter();
      if (!page.rows.length) break;
    }
    const wanted = Number(options.get("tool"));
    if (tab === "tools") {
      if (wanted) reach(wanted);
      else if (!toolList.current) toolList.choose(0);
    }
    return rows;
  }

  function reach(id) {
    if (!toolList.chooseKey(id, { silent: true })) { toolList.at = -1; toolList.redraw(); }
    showTool(id);
    split.open();
  }

  async function readServers() {
    servers = (await act("catalogue/servers")).map((one) => ({ ...one, text: [one.name, one.path, one.description, one.tags.join(" ")].join(" ").toLowerCase() }));
    if (tab === "servers") {
      filter();
      if (!serverList.current) serverList.choose(0);
    }
  }

  function names() {
    const chosen = server.value || options.get("server") || "";
    const all = [...new Set(tools.map((tool) => tool.server))].filter(Boolean).sort();
    fill(server, h("option", { value: "" }, ANY[1]), all.map((name) => h("option", { value: name }, name)));
    server.value = all.includes(chosen) ? chosen : "";
  }

  async function showTool(id) {
    const mine = ++opened;
    remember("catalogue", { tool: id });
    try {
      const found = await act("catalogue/tool", { tool_id: id });
      if (mine === opened) drawTool(found);
    } catch (error) {
      showProblem(error, "The tool cannot be shown", () => showTool(id));
    }
  }

  function drawTool({ tool, skills }) {
    const changed = (row) => {
      const at = tools.findIndex((one) => one.id === tool.id);
      if (at >= 0) { tools[at] = { ...tools[at], ...row }; tools[at].text = textOf(tools[at]); }
      filter();
    };
    split.show(
      h("h2", { class: "code" }, tool.name),
      h("p", { class: "muted" }, `${tool.type} of ${tool.server ?? "no server"}, id ${tool.id}, changed `, when(tool.updated_at)),
      !tool.is_active && h("p", { class: "note" }, tool.is_switched_off ? "Switched off: no search finds it." : "Its server is off: no search finds it."),
      !tool.is_embedded && h("p", { class: "note" }, "It has no vector yet: its words find it, its meaning does not."),
      h("p", { class: "lead" }, tool.description || h("span", { class: "muted" }, "It has no description.")),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => switchTool(tool, changed) }, tool.is_switched_off ? "Switch on" : "Switch off"),
        tool.tags.map((tag) => h("span", { class: "chip" }, `#${tag}`))),
      skillEditor(tool, skills, changed),
      h("h3", {}, "Arguments"), args(tool.input_schema),
      tool.annotations && [h("h3", {}, "Annotations"), json(tool.annotations, "Annotations")],
      tool.input_schema && h("details", {}, h("summary", {}, "Input schema as JSON"), json(tool.input_schema, "Input schema")),
      tool.output_schema && h("details", {}, h("summary", {}, "Output schema as JSON"), json(tool.output_schema, "Output schema")));
  }

  async function switchTool(tool, changed) {
    try {
      const row = await act("catalogue/switch", { tool_id: tool.id, on: Boolean(tool.is_switched_off) });
      changed(row);
      say(`${tool.name} is ${row.is_active ? "on" : "off"}`, { action: "Undo", run: () => switchTool({ ...tool, ...row }, changed) });
      await showTool(tool.id);
    } catch (error) {
      showProblem(error, `${tool.name} was not switched`, () => switchTool(tool, changed));
    }
  }

  function skillEditor(tool, skills, changed) {
    const name = `skills-of/${tool.id}`;
    const seen = skills.map((skill) => skill.skill_id);
    let wanted = draft(name) ?? [...seen];
    const chips = h("div", { class: "chips" });
    const saving = h("p", { class: "actions" });
    const adding = skillInput("Skill to add", { placeholder: "add a skill", onenter: () => add() });
    const add = () => {
      const id = adding.input.value.trim();
      if (id && !wanted.includes(id)) change([...wanted, id]);
      adding.input.value = "";
    };
    const change = (value) => {
      wanted = value;
      if (String(wanted) === String(seen)) dropDraft(name); else keepDraft(name, wanted);
      draw();
    };
    const draw = () => {
      const isChanged = String(wanted) !== String(seen);
      fill(chips, wanted.map((id, at) => h("span", { class: at === 0 ? "chip first" : "chip" }, id,
        at > 0 && h("button", { type: "button", "aria-label": `Make ${id} the first`, title: "make it the first", onclick: () => change([id, ...wanted.filter((one) => one !== id)]) }, "↑"),
        h("button", { type: "button", "aria-label": `Take ${id} away`, title: "take it away", onclick: () => change(wanted.filter((one) => one !== id)) }, "×"))),
      wanted.length === 0 && h("span", { class: "muted" }, "none"), adding.element,
      h("button", { type: "button", onclick: add }, "Add"), h("button", { type: "button", onclick: () => classify(false) }, "Classify again"));
      fill(saving, isChanged && [
        h("button", { type: "button", class: "main", onclick: () => store() }, "Save skills"),
        h("button", { type: "button", onclick: () => change([...seen]) }, "As they were")]);
    };
    const store = async (from = seen) => {
      try {
        const answer = await act("catalogue/assign", { tool_id: tool.id, skill_ids: wanted, seen: from });
        done(answer.skills.map((skill) => skill.skill_id), `${tool.name}: skills saved`);
      } catch (error) {
        // What is there now was read by the error; saving again is then a decision with open eyes.
        showProblem(error, "The skills were not saved", () => store(error.now ?? from));
      }
    };
    const classify = async (force) => {
      try {
        const answer = await act("catalogue/classify", { tool_id: tool.id, force });
        if (/skipped|kept|human/.test(answer.decision) && !force) {
          return say("A person decided on its skills: they stay.", { action: "Classify anyway", run: () => classify(true), forMs: 12000 });
        }
        done((answer.assignments ?? []).map((one) => one.skill_id), `${tool.name}: ${answer.decision.replaceAll("_", " ")}`);
      } catch (error) {
        showProblem(error, "The tool was not classified", () => classify(force));
      }
      return undefined;
    };
    const done = async (_, text) => {
      dropDraft(name);
      forgetSkills();
      say(text);
      const found = await act("catalogue/tool", { tool_id: tool.id });
      changed({ skill_ids: found.skills.map((skill) => skill.skill_id) });
      drawTool(found);
    };
    draw();
    return h("div", {}, h("h3", {}, "Skills, the first one is the primary"), chips, saving, history(skills));
  }

  function showServer(one) {
    serverSplit.show(
      h("h2", {}, one.name),
      h("p", { class: "muted" }, `${one.path}, ${plural(one.tool_count, "tool")}, changed `, when(one.updated_at)),
      h("p", { class: "lead" }, one.description || h("span", { class: "muted" }, "It has no description.")),
      h("p", { class: "chips" }, one.tags.map((tag) => h("span", { class: "chip" }, `#${tag}`))),
      h("p", {}, one.is_enabled ? "Searches find it and its tools." : "It is off: no search finds it or its tools."),
      h("p", { class: "actions" },
        h("button", { type: "button", onclick: () => switchServer(one) }, one.is_enabled ? "Switch off" : "Switch on"),
        h("button", { type: "button", onclick: () => { show("tools"); server.value = one.tools_server || one.name; filter(); } }, "Show its tools")));
  }

  async function switchServer(one) {
    try {
      const row = await act("catalogue/switch_server", { server_id: one.id, on: !one.is_enabled });
      Object.assign(one, row);
      filter();
      showServer(one);
      say(`${one.name} is ${one.is_enabled ? "on" : "off"}, with ${plural(one.tool_count, "tool")}`, { action: "Undo", run: () => switchServer(one) });
      load();
    } catch (error) {
      showProblem(error, `${one.name} was not switched`, () => switchServer(one));
    }
  }

  show(tab);
  return {
    element, enter: load, list: () => (tab === "tools" ? toolList : serverList),
    options: (more) => { const id = Number(more.get("tool")); if (id) { show("tools"); reach(id); } },
    escape: () => split.close() || serverSplit.close(),
    keys: {
      t: { says: "show tools", run: () => show("tools") },
      s: { says: "show servers", run: () => { show("servers"); if (!serverList.current) serverList.choose(0); } },
    },
  };
}

function history(skills) {
  if (!skills.length) return h("p", { class: "muted" }, "No classifier and no person gave it a skill.");
  return h("table", {}, h("thead", {}, h("tr", {}, ["Skill", "Confidence", "By, when and why"].map((name) => h("th", {}, name)))),
    h("tbody", {}, skills.map((skill) => h("tr", {},
      h("td", {}, h("a", { href: `#/skills?skill=${skill.skill_id}`, class: skill.is_active ? "" : "off" }, skill.skill_name)),
      h("td", {}, bar(skill.confidence)),
      h("td", {}, SOURCES[skill.source] ?? skill.source, ", ", when(skill.assigned_at), skill.reasoning && h("p", { class: "muted" }, skill.reasoning))))));
}

/** The arguments that a JSON Schema names, one a row; its properties alone, not what refers elsewhere. */
function args(schema) {
  const properties = Object.entries(schema?.properties ?? {});
  if (!properties.length) return h("p", { class: "muted" }, schema ? "It takes none, or says so in another way: see the schema." : "It has no schema.");
  const required = new Set(schema.required ?? []);
  const typeOf = (one) => [one?.type, one?.enum && one.enum.map((value) => JSON.stringify(value)).join(" | ")].flat().filter(Boolean).join(": ") || "any";
  return h("table", {}, h("thead", {}, h("tr", {}, ["Name", "Type", "What it is"].map((name) => h("th", {}, name)))),
    h("tbody", {}, properties.map(([name, one]) => h("tr", {},
      h("td", { class: "name" }, name, required.has(name) && h("small", {}, " required")), h("td", {}, typeOf(one)),
      h("td", {}, one?.description || h("span", { class: "muted" }, "no description"))))));
}

function json(value, label) {
  return h("pre", { tabindex: "0", role: "group", "aria-label": label }, JSON.stringify(value, null, 2));
}
