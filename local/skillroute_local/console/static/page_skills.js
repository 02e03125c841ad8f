// Skills: what there is, edited with its version in hand; its tools, those at its border first.
import { act } from "./calls.js";
import { bar, field, fill, h, plural, select, when } from "./dom.js";
import { draft, dropDraft, keepDraft } from "./drafts.js";
import { List, Split } from "./list.js";
import { say, showProblem } from "./notices.js";
import { forgetSkills, skillInput } from "./skill_choice.js";

const ORDERS = [["name", "by name"], ["most", "most tools first"], ["fewest", "fewest tools first"], ["lately", "changed lately first"]];
const COMPARE = {
  name: (a, b) => a.name.localeCompare(b.name), most: (a, b) => b.tool_count - a.tool_count,
  fewest: (a, b) => a.tool_count - b.tool_count, lately: (a, b) => (b.updated_at ?? "").localeCompare(a.updated_at ?? ""),
};
const STATES = [["", "on and off"], ["on", "on"], ["off", "off"], ["empty", "without tools"]];
const SHOWN = 300;
const asText = (skill) => ({
  name: skill.name, description: skill.description, keywords: skill.keywords.join(", "), examples: skill.examples.join(", "),
  parent_domain: skill.parent_domain ?? "",
});
const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);

export function make({ options, remember }) {
  let skills = [];
  let opened = 0;
  const list = new List({
    label: "Skills", key: (skill) => skill.id,
    row: (skill) => [
      h("span", { class: skill.is_active ? "" : "off" }, skill.name), h("span", { class: "num" }, skill.tool_count),
      h("span", { class: skill.is_active ? "state ok" : "state no" }, skill.is_active ? "on" : "off"), h("span", { class: "muted" }, skill.description)],
    chosen: (skill) => show(skill.id), open: () => split.open(),
    empty: [h("p", {}, "There are no skills."), h("p", {}, "Make one here, or let `skillroute skills propose` find some in the tools that are there.")],
  });
  list.element.classList.add("skill-row");
  const split = new Split(list, "The skill");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter skills", placeholder: "Filter by name, id, text or keyword", oninput: () => filter() });
  const order = select(ORDERS, "name", () => filter());
  order.setAttribute("aria-label", "Order");
  const state = select(STATES, "", () => filter());
  state.setAttribute("aria-label", "State");
  const count = h("span", { class: "count" });
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, order, state, h("button", { type: "button", onclick: create }, "New skill ", h("kbd", {}, "n")),
      h("button", { type: "button", onclick: load }, "Load again"), count), split.element);

  function filter() {
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (skill) => [skill.id, skill.name, skill.description, ...skill.keywords].join(" ").toLowerCase();
    const rows = skills.filter((skill) => given.every((word) => text(skill).includes(word))
      && (!state.value || (state.value === "empty" ? skill.tool_count === 0 : skill.is_active === (state.value === "on"))));
    rows.sort(COMPARE[order.value]);
    list.show(rows, skills.length ? "No skill matches the filter." : undefined);
    fill(count, rows.length === skills.length ? plural(rows.length, "skill") : `${rows.length} of ${plural(skills.length, "skill")}`);
  }

  async function load() {
    try {
      skills = await act("skills/skills");
      filter();
      const wanted = options.get("skill");
      if (wanted) reach(wanted);
      else if (!list.current) list.choose(0);
    } catch (error) {
      showProblem(error, "Skills cannot be read", load);
    }
  }

  function reach(id) {
    if (!list.chooseKey(id, { silent: true })) { list.at = -1; list.redraw(); }
    show(id);
    split.open();
  }

  async function show(id) {
    const mine = ++opened;
    remember("skills", { skill: id });
    try {
      const found = await act("skills/skill", { skill_id: id });
      if (mine === opened) draw(found);
    } catch (error) {
      showProblem(error, "The skill cannot be shown", () => show(id));
    }
  }

  function changed(skill) {
    const at = skills.findIndex((one) => one.id === skill.id);
    if (at >= 0) skills[at] = skill; else skills.push(skill);
    forgetSkills();
    filter();
    list.chooseKey(skill.id, { silent: true });
  }

  function draw({ skill, version, tools }) {
    split.show(
      h("h2", {}, skill.name),
      h("p", { class: "muted" }, h("span", { class: "code" }, skill.id), `, ${plural(skill.tool_count, "tool")}, ${skill.is_active ? "on" : "off"}, changed `, when(skill.updated_at)),
      !skill.is_active && h("p", { class: "note" }, "It is off: no search uses it."),
      editor(skill, version),
      h("h3", {}, "The whole skill"),
      h("p", { class: "actions" },
        h("button", { type: "button", onclick: () => switchSkill(skill) }, skill.is_active ? "Switch off" : "Switch on"),
        merging(skill)),
      toolTable(tools));
  }

  function editor(skill, version) {
    const name = `skill/${skill.id}`;
    const before = asText(skill);
    const kept = draft(name) ?? {};
    const value = (key) => kept[key] ?? before[key];
    const inputs = {
      name: h("input", { value: value("name") }), parent_domain: h("input", { value: value("parent_domain") }),
      description: h("textarea", { rows: 4, value: value("description") }), keywords: h("textarea", { rows: 2, value: value("keywords") }),
      examples: h("textarea", { rows: 2, value: value("examples") }),
    };
    const conflict = h("div", {});
    const save = h("button", { type: "button", class: "main", onclick: () => store(version) }, "Save");
    const reset = h("button", { type: "button", onclick: () => { dropDraft(name); show(skill.id); } }, "As it was");
    const edits = () => Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, input.value]).filter(([key, text]) => text !== before[key]));
    const typed = () => {
      const now = edits();
      const none = Object.keys(now).length === 0;
      save.disabled = reset.disabled = none;
      if (none) dropDraft(name); else keepDraft(name, now);
    };
    for (const input of Object.values(inputs)) input.addEventListener("input", typed);
    typed();
    async function store(known) {
      const fields = Object.fromEntries(Object.entries(edits()).map(([key, text]) =>
        [key, key === "keywords" || key === "examples" ? words(text) : key === "parent_domain" ? text.trim() || null : text.trim()]));
      save.disabled = true;
      try {
        const { skill: saved } = await act("skills/save", { skill_id: skill.id, fields, version: known });
        dropDraft(name);
        say(`${saved.name}: saved`);
        changed(saved);
        show(saved.id);
      } catch (error) {
        save.disabled = false;
        if (error.code === "version_conflict" && error.now) compare(error.now);
        else showProblem(error, `${skill.name} was not saved`, () => store(known));
      }
    }
    function compare({ skill: now, version: current }) {
      const theirs = asText(now);
      const rows = Object.entries(inputs).filter(([key, input]) => theirs[key] !== input.value);
      fill(conflict, h("div", { class: "note", role: "alert" },
        h("p", {}, h("strong", {}, "Somebody else has changed this skill. "), "Nothing was saved; what you typed is above."),
        h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Field"), h("th", {}, "As it is now"))),
          h("tbody", {}, rows.map(([key]) => h("tr", {}, h("td", {}, key.replace("_", " ")), h("td", {}, theirs[key] || "(nothing)"))))),
        h("p", { class: "actions" },
          h("button", { type: "button", onclick: () => { fill(conflict); store(current); } }, "Save mine over it"),
          h("button", { type: "button", onclick: () => { dropDraft(name); changed(now); show(now.id); } }, "Take theirs"))));
      conflict.querySelector("button").focus();
    }
    return h("fieldset", {}, h("div", { class: "fields" }, field("Name", inputs.name), field("Domain", inputs.parent_domain)),
      field("Description", inputs.description, "What it is for, in plain words: searches go by it."),
      field("Keywords, with commas between", inputs.keywords), field("Typical tools, with commas between", inputs.examples),
      h("p", { class: "actions", id: "skill-save" }, save, reset), conflict);
  }

  async function switchSkill(skill) {
    try {
      const { skill: saved } = await act("skills/save", { skill_id: skill.id, fields: { is_active: !skill.is_active }, version: null });
      changed(saved);
      say(`${saved.name} is ${saved.is_active ? "on" : "off"}`, { action: "Undo", run: () => switchSkill(saved) });
      show(saved.id);
    } catch (error) {
      showProblem(error, `${skill.name} was not switched`, () => switchSkill(skill));
    }
  }

  function merging(skill) {
    const into = skillInput("Skill that gets the tools", { placeholder: "merge into …", onenter: () => ask() });
    const ask = () => {
      const id = into.input.value.trim();
      if (!id || id === skill.id) return into.input.focus();
      const dialog = h("dialog", { "aria-labelledby": "merge-title", onclose: () => dialog.remove() },
        h("h2", { id: "merge-title" }, `Merge ${skill.name} into ${id}?`),
        h("p", {}, `${plural(skill.tool_count, "tool")} get the skill ${id} by hand instead of ${skill.id}, which is switched off then. There is no undo for all of it at once.`),
        h("p", { class: "actions" },
          h("button", { type: "button", class: "main", onclick: () => { dialog.close(); merge(id); } }, "Merge"),
          h("button", { type: "button", onclick: () => dialog.close() }, "Leave it")));
      document.body.append(dialog);
      dialog.showModal();
      return undefined;
    };
    const merge = async (id) => {
      say("Merging …", { forMs: 2000 });
      try {
        const { moved, failed } = await act("skills/merge", { skill_id: skill.id, into: id });
        say(`${plural(moved, "tool")} moved to ${id}`);
        if (failed.length) {
          showProblem({ message: failed.slice(0, 5).map((one) => `${one.name}: ${one.why}`).join("; "), remedy: `${skill.name} stays on; merge again when this is mended: it goes on where it ended.`, status: 409 },
            `${plural(failed.length, "tool")} could not be moved`, () => merge(id));
        }
        await load();
        reach(id);
      } catch (error) {
        showProblem(error, `${skill.name} was not merged`, () => merge(id));
      }
    };
    return h("span", { class: "inline" }, into.element, h("button", { type: "button", onclick: ask }, "Merge"));
  }

  function create() {
    const inputs = { skill_id: h("input", { spellcheck: "false", required: true }), name: h("input", { required: true }), description: h("textarea", { rows: 3, required: true }) };
    const wrong = h("p", { class: "state no", role: "alert" });
    const dialog = h("dialog", { "aria-labelledby": "new-title", onclose: () => dialog.remove() },
      h("h2", { id: "new-title" }, "A new skill"),
      h("form", { onsubmit: async (event) => {
        event.preventDefault();
        try {
          const { skill } = await act("skills/create", Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, input.value.trim()])));
          dialog.close();
          changed(skill);
          show(skill.id);
          split.open();
        } catch (error) {
          fill(wrong, `${error.message}. ${error.remedy ?? ""}`);
        }
      } },
      field("Name", inputs.name), field("Id", inputs.skill_id, "Small letters, digits and underscores: mail_and_letters"), field("Description", inputs.description), wrong,
      h("p", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Create"), h("button", { type: "button", onclick: () => dialog.close() }, "Leave it"))));
    inputs.name.addEventListener("input", () => {
      inputs.skill_id.value = inputs.name.value.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+|_$/g, "");
    });
    document.body.append(dialog);
    dialog.showModal();
    inputs.name.focus();
  }

  function toolTable(tools) {
    const body = h("tbody", {});
    const orders = { border: ["lowest confidence first", (a, b) => a.confidence - b.confidence], lately: ["added lately first", (a, b) => (b.assigned_at ?? "").localeCompare(a.assigned_at ?? "")] };
    const draw_ = (name) => fill(body, [...tools].sort(orders[name][1]).slice(0, SHOWN).map((tool) => h("tr", {},
      h("td", {}, h("a", { href: `#/catalogue?tool=${tool.tool_id}`, class: "code" }, tool.tool_name), h("br"), h("small", {}, tool.server ?? "")),
      h("td", {}, bar(tool.confidence)), h("td", {}, tool.is_primary ? "primary" : "beside another"), h("td", {}, tool.source.replaceAll("_", " "), h("br"), h("small", {}, when(tool.assigned_at))))));
    const by = select(Object.entries(orders).map(([key, [label]]) => [key, label]), "border", (event) => draw_(event.target.value));
    by.setAttribute("aria-label", "Order of the tools");
    draw_("border");
    return [h("h3", {}, "Its tools"),
      tools.length ? [h("p", { class: "tools" }, by, h("span", { class: "count" }, tools.length > SHOWN ? `the first ${SHOWN} of ${tools.length}` : plural(tools.length, "tool"))),
        h("table", {}, h("thead", {}, h("tr", {}, ["Tool", "Confidence", "As", "By"].map((name) => h("th", {}, name)))), body)]
        : h("p", { class: "muted" }, "None. Merge suggestions into it, give it tools on the page Catalogue, or switch it off.")];
  }

  return {
    element, enter: load, list: () => list, escape: () => split.close(),
    options: (more) => { if (more.get("skill")) reach(more.get("skill")); },
    keys: { n: { says: "make a new skill", run: create } },
  };
}
