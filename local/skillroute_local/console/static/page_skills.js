// Skills: lists them, edits one with a version check, and lists its tools by confidence, lowest first.
import { act } from "./calls.js";
import { bar, field, fill, h, later, plural, refuse, select, when } from "./dom.js";
import { KEPT, dropDraft, editorDraft, unsaved } from "./drafts.js";
import { List, Split } from "./list.js";
import { say, showProblem } from "./notices.js";
import { forgetSkills, skillInput } from "./skill_choice.js";

const ORDERS = [["name", "by name"], ["most", "most tools first"], ["fewest", "fewest tools first"], ["lately", "recently changed first"]];
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
const draftOf = (skill) => `skill/${skill.org_id ?? ""}/${skill.id}`;
const mergeOf = (skill) => `merge/${skill.org_id ?? ""}/${skill.id}`;
const idOf = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+|_$/g, "");
const NEW = "new-skill";
const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);

export function make({ options, remember }) {
  let skills = [];
  let opened = 0;
  const readSoon = later((id) => { if (list.shows(id)) show(id); }, 90);
  const list = new List({
    label: "Skills", key: (skill) => skill.id,
    row: (skill) => [
      h("span", {}, h("span", { class: skill.is_active ? "" : "off" }, skill.name), " ", unsaved(draftOf(skill)) || unsaved(mergeOf(skill))), h("span", { class: "num" }, skill.tool_count),
      h("span", { class: skill.is_active ? "state ok" : "state no" }, skill.is_active ? "on" : "off"), h("span", { class: "muted" }, skill.description)],
    chosen: (skill) => { split.reading(skill.id, skill.name); readSoon(skill.id); }, open: () => split.open(), none: () => split.nothing(),
    empty: [h("p", {}, "No skills yet."), h("p", {}, "Create one here, or run `skillroute skills propose` to derive skills from the tools.")],
  });
  list.element.classList.add("skill-row");
  const split = new Split(list, "The skill");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter skills", placeholder: "Filter by name, id, text or keyword", oninput: () => filter({ first: true }) });
  list.openedFrom(search);
  const order = select(ORDERS, "name", () => filter());
  order.setAttribute("aria-label", "Order");
  const state = select(STATES, "", () => filter({ first: true }));
  state.setAttribute("aria-label", "State");
  const count = h("span", { class: "count" });
  const making = h("button", { type: "button", onclick: create });
  label();
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, order, state, making,
      h("button", { type: "button", onclick: load }, "Reload"), count), split.element);

  function filter(how) {
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (skill) => [skill.id, skill.name, skill.description, ...skill.keywords].join(" ").toLowerCase();
    const rows = skills.filter((skill) => given.every((word) => text(skill).includes(word))
      && (!state.value || (state.value === "empty" ? skill.tool_count === 0 : skill.is_active === (state.value === "on"))));
    rows.sort(COMPARE[order.value]);
    list.show(rows, skills.length ? "No skill matches the filter." : undefined, how);
    fill(count, rows.length === skills.length ? plural(rows.length, "skill") : `${rows.length} of ${plural(skills.length, "skill")}`);
  }

  async function load() {
    try {
      skills = await act("skills/skills");
      filter();
      const wanted = options.get("skill");
      if (list.chosenKey !== undefined) { if (list.current) show(list.chosenKey); }
      else if (wanted) reach(wanted);
      else list.choose(0);
    } catch (error) {
      showProblem(error, "Skills cannot be read", load);
    }
  }

  function reach(id) {
    if (!list.chooseKey(id, { silent: true })) {
      search.value = state.value = ""; // what is open stands in the list
      list.expect(id);
      filter();
    }
    split.reading(id, list.current?.name ?? id);
    show(id);
    split.open();
  }

  async function show(id) {
    const mine = ++opened;
    remember("skills", { skill: id });
    try {
      const found = await act("skills/skill", { skill_id: id });
      if (mine === opened && list.shows(id)) draw(found);
    } catch (error) {
      showProblem(error, "The skill cannot be shown", () => show(id));
    }
  }

  function changed(skill) {
    const at = skills.findIndex((one) => one.id === skill.id);
    if (at >= 0) skills[at] = skill; else skills.push(skill);
    forgetSkills();
    filter();
  }

  const showAgain = (skill) => { if (list.shows(skill.id)) show(skill.id); };

  function draw({ skill, version, tools }) {
    split.of = skill.id;
    split.show(
      h("h2", {}, skill.name),
      h("p", { class: "muted" }, h("span", { class: "code" }, skill.id), `, ${plural(skill.tool_count, "tool")}, ${skill.is_active ? "on" : "off"}, changed `, when(skill.updated_at)),
      !skill.is_active && h("p", { class: "note" }, "This skill is off: searches do not use it."),
      editor(skill, version),
      h("h3", {}, "Actions"),
      h("p", { class: "actions" },
        h("button", { type: "button", onclick: () => switchSkill(skill) }, skill.is_active ? "Switch off" : "Switch on"),
        merging(skill)),
      toolTable(tools));
  }

  function editor(skill, version) {
    const before = asText(skill);
    const inputs = {
      name: h("input"), parent_domain: h("input"), description: h("textarea", { rows: 4 }), keywords: h("textarea", { rows: 2 }),
      examples: h("textarea", { rows: 2 }),
    };
    const conflict = h("div", {});
    const kept = h("p", { class: "muted" });
    const save = h("button", { type: "button", class: "main", onclick: () => store(typing.version) }, "Save");
    const reset = h("button", { type: "button", onclick: () => { typing.drop(); showAgain(skill); } }, "Discard changes");
    let isSaving = false;
    const typed = () => {
      const none = Object.keys(typing.edits()).length === 0;
      save.disabled = none || isSaving;
      reset.disabled = none;
      fill(kept, none ? "" : KEPT);
    };
    const typing = editorDraft(draftOf(skill), inputs, before, { version, typed });
    typed();
    async function store(known) {
      const fields = Object.fromEntries(Object.entries(typing.edits()).map(([key, text]) =>
        [key, key === "keywords" || key === "examples" ? words(text) : key === "parent_domain" ? text.trim() || null : text.trim()]));
      isSaving = save.disabled = true;
      typing.begin();
      try {
        const { skill: saved, version: current } = await act("skills/save", { skill_id: skill.id, fields, version: known });
        typing.settle(current);
        say(`${saved.name}: saved`);
        changed(saved);
        showAgain(saved);
      } catch (error) {
        typing.failed();
        if (error.code === "version_conflict" && error.now) { compare(error.now); conflict.querySelector("button").focus(); }
        else showProblem(error, `${skill.name} was not saved`, () => store(known));
      } finally {
        isSaving = false;
        typed();
      }
    }
    function compare({ skill: now, version: current }) {
      const theirs = asText(now);
      const rows = Object.entries(inputs).filter(([key, input]) => theirs[key] !== input.value);
      fill(conflict, h("div", { class: "note", role: "alert" },
        h("p", {}, h("strong", {}, "Another user has changed this skill. "), "Your changes were not saved; they are in the fields above."),
        h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Field"), h("th", {}, "Stored value"))),
          h("tbody", {}, rows.map(([key]) => h("tr", {}, h("td", {}, key.replace("_", " ")), h("td", {}, theirs[key] || "(nothing)"))))),
        h("p", { class: "actions" },
          h("button", { type: "button", onclick: () => { fill(conflict); store(current); } }, "Overwrite with my changes"),
          h("button", { type: "button", onclick: () => { typing.drop(); changed(now); showAgain(now); } }, "Discard my changes"))));
    }
    if (typing.isOld) compare({ skill, version });
    return h("fieldset", {}, h("legend", {}, `Skill ${skill.id}`), h("div", { class: "fields" }, field("Name", inputs.name), field("Domain", inputs.parent_domain)),
      field("Description", inputs.description, "What the skill is for, in plain words: searches match this text."),
      field("Keywords, with commas between", inputs.keywords), field("Typical tools, with commas between", inputs.examples),
      h("p", { class: "actions", id: "skill-save" }, save, reset), kept, conflict);
  }

  async function switchSkill(skill) {
    try {
      const { skill: saved } = await act("skills/save", { skill_id: skill.id, fields: { is_active: !skill.is_active }, version: null });
      changed(saved);
      say(`${saved.name} is ${saved.is_active ? "on" : "off"}`, { action: "Undo", run: () => switchSkill(saved) });
      showAgain(saved);
    } catch (error) {
      showProblem(error, `${skill.name} was not switched`, () => switchSkill(skill));
    }
  }

  function merging(skill) {
    const into = skillInput("Skill that gets the tools", {
      placeholder: "merge into …", onenter: () => ask(),
      unfit: (found) => (found.id === skill.id ? `${skill.id} is this skill: name another one.` : null),
    });
    editorDraft(mergeOf(skill), { into: into.input }, { into: "" });
    const ask = async () => {
      const target = await into.resolve();
      if (!target || !into.input.isConnected || document.querySelector("dialog[open]")) return;
      const dialog = h("dialog", { "aria-labelledby": "merge-title", onclose: () => dialog.remove() },
        h("h2", { id: "merge-title" }, `Merge ${skill.name} into ${target.name}?`),
        h("p", {}, `${plural(skill.tool_count, "tool")} get the skill ${target.id} by hand instead of ${skill.id}, which is then switched off. This cannot be undone in one step.`),
        h("p", { class: "actions" },
          h("button", { type: "button", class: "main", onclick: () => { dialog.close(); merge(target.id); } }, "Merge"),
          h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
      document.body.append(dialog);
      dialog.showModal();
    };
    const merge = async (id) => {
      say(`Merging ${skill.id} into ${id} …`, { forMs: 2000 });
      try {
        const { moved, failed } = await act("skills/merge", { skill_id: skill.id, into: id });
        if (failed.length) {
          showProblem({ message: failed.slice(0, 5).map((one) => `${one.name}: ${one.why}`).join("; "), remedy: `${plural(moved, "tool")} moved to ${id}; ${skill.name} stays on; merge again once this is fixed: the merge continues where it stopped.`, status: 409 },
            `${plural(failed.length, "tool")} could not be moved`, () => merge(id));
        } else {
          say(`Merged: ${skill.id} into ${id}, ${plural(moved, "tool")} moved`);
          dropDraft(mergeOf(skill));
        }
        const isOpen = list.shows(skill.id);
        await load();
        if (isOpen && list.shows(skill.id)) reach(id);
      } catch (error) {
        showProblem(error, `${skill.name} was not merged`, () => merge(id));
      }
    };
    return h("span", { class: "inline" }, into.element, h("button", { type: "button", onclick: ask }, "Merge"));
  }

  function create() {
    const inputs = { name: h("input", { required: true }), skill_id: h("input", { spellcheck: "false", required: true }), description: h("textarea", { rows: 3, required: true }) };
    const wrong = h("p", { class: "state no", role: "alert" });
    const submit = h("button", { type: "submit", class: "main" }, "Create");
    const close = (event) => { event?.preventDefault(); dialog.close(); };
    const dialog = h("dialog", { "aria-labelledby": "new-title", onclose: () => { dialog.remove(); label(); } },
      h("h2", { id: "new-title" }, "A new skill"),
      h("form", { onsubmit: async (event) => {
        event.preventDefault();
        submit.disabled = true;
        try {
          const { skill } = await act("skills/create", Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, input.value.trim()])));
          typing.drop();
          dialog.close();
          say(`${skill.name}: created`);
          changed(skill);
          reach(skill.id);
        } catch (error) {
          submit.disabled = false;
          if (error.code === "skill_exists") refuse(inputs.skill_id, error.message);
          else fill(wrong, `${error.message}. ${error.remedy ?? ""}`);
        }
      } },
      field("Name", inputs.name), field("Id", inputs.skill_id, "Small letters, digits and underscores: mail_and_letters"), field("Description", inputs.description), wrong,
      h("p", { class: "muted" }, "Your input is kept in this browser until the skill is created."),
      h("p", { class: "actions" }, submit, h("button", { type: "button", onclick: close }, "Cancel"),
        h("button", { type: "button", onclick: () => { typing.drop(); dialog.close(); } }, "Discard"))));
    let ownId = null; // an id that was typed stays
    inputs.name.addEventListener("input", () => {
      if (inputs.skill_id.value !== (ownId ?? "")) return;
      ownId = idOf(inputs.name.value);
      inputs.skill_id.value = ownId;
    });
    const typing = editorDraft(NEW, inputs, {});
    ownId = inputs.skill_id.value === idOf(inputs.name.value) ? inputs.skill_id.value : null;
    document.body.append(dialog);
    dialog.showModal();
    inputs.name.focus();
  }

  function label() {
    fill(making, "New skill ", unsaved(NEW), " ", h("kbd", {}, "n"));
  }

  function toolTable(tools) {
    const body = h("tbody", {});
    const orders = { border: ["lowest confidence first", (a, b) => a.confidence - b.confidence], lately: ["recently added first", (a, b) => (b.assigned_at ?? "").localeCompare(a.assigned_at ?? "")] };
    const draw_ = (name) => fill(body, [...tools].sort(orders[name][1]).slice(0, SHOWN).map((tool) => h("tr", {},
      h("td", {}, h("a", { href: `#/catalogue?tool=${tool.tool_id}`, class: "code" }, tool.tool_name), h("br"), h("small", {}, tool.server ?? "")),
      h("td", {}, bar(tool.confidence)), h("td", {}, tool.is_primary ? "primary" : "secondary"), h("td", {}, tool.source.replaceAll("_", " "), h("br"), h("small", {}, when(tool.assigned_at))))));
    const by = select(Object.entries(orders).map(([key, [label]]) => [key, label]), "border", (event) => draw_(event.target.value));
    by.setAttribute("aria-label", "Order of the tools");
    draw_("border");
    return [h("h3", {}, "Tools of this skill"),
      tools.length ? [h("p", { class: "tools" }, by, h("span", { class: "count" }, tools.length > SHOWN ? `the first ${SHOWN} of ${tools.length}` : plural(tools.length, "tool"))),
        h("table", {}, h("thead", {}, h("tr", {}, ["Tool", "Confidence", "As", "By"].map((name) => h("th", {}, name)))), body)]
        : h("p", { class: "muted" }, "This skill has no tools. Merge suggestions into it, assign tools on the page Catalogue, or switch it off.")];
  }

  return {
    element, enter: load, list: () => list, escape: () => split.close(),
    options: (more) => { if (more.get("skill")) reach(more.get("skill")); },
    keys: { n: { says: "make a new skill", run: create } },
  };
}
