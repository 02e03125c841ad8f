// Skills: lists them, edits one with a version check, and lists its tools by confidence, lowest first.
import { act } from "./calls.js";
import { bar, choose, field, fill, h, later, plural, refuse, select, when } from "./dom.js";
import { editorDraft, unsaved } from "./drafts.js";
import { List, Split } from "./list.js";
import { notRead, say, showProblem, solved } from "./notices.js";
import { Selection, showFailed } from "./selection.js";
import { forgetSkills } from "./skill_choice.js";
import { mergeInto, skillEditor, unsavedSkill } from "./skill_editor.js";

const UNREAD = "Skills cannot be read";
const HIDDEN = "The skill cannot be shown";
const ORDERS = [["name", "by name"], ["most", "most tools first"], ["fewest", "fewest tools first"], ["lately", "recently changed first"]];
const COMPARE = {
  name: (a, b) => a.name.localeCompare(b.name), most: (a, b) => b.tool_count - a.tool_count,
  fewest: (a, b) => a.tool_count - b.tool_count, lately: (a, b) => (b.updated_at ?? "").localeCompare(a.updated_at ?? ""),
};
const STATES = [["", "on and off"], ["on", "on"], ["off", "off"], ["empty", "without tools"]];
const SHOWN = 300;
const idOf = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+|_$/g, "");
const NEW = "new-skill";

export function make({ options, remember }) {
  let skills = [];
  let opened = 0;
  let wanted = options.get("skill"); // that shall be open once all is read
  const readSoon = later((id) => { if (element.isConnected && list.shows(id)) show(id); }, 90);
  const list = new List({
    label: "Skills", key: (skill) => skill.id,
    row: (skill) => [
      selection.cell(skill),       h("span", {}, h("span", { class: skill.is_active ? "" : "off" }, skill.name), " ", unsavedSkill(skill)), h("span", { class: "num" }, skill.tool_count),
      h("span", { class: skill.is_active ? "state ok" : "state no" }, skill.is_active ? "on" : "off"), h("span", { class: "muted" }, skill.description)],
    chosen: (skill) => { wanted = null; split.reading(skill.id, skill.name); readSoon(skill.id); }, open: () => split.open(), none: () => split.nothing(),
    empty: [h("p", {}, "No skills yet."), h("p", {}, "Create one here, or run `skillroute skills propose` to derive skills from the tools.")],
  });
  list.element.classList.add("skill-row");
  list.isPartial = true;
  const selection = new Selection(list, { word: "skill" });
  const split = new Split(list, "The skill");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter skills", placeholder: "Filter by name, id, text or keyword", value: options.get("filter") ?? "", oninput: () => filter({ first: true }) });
  list.openedFrom(search);
  const order = select(ORDERS, options.get("sort"), () => filter());
  order.setAttribute("aria-label", "Order");
  const state = select(STATES, options.get("state"), () => filter({ first: true }));
  state.setAttribute("aria-label", "State");
  const count = h("span", { class: "count" });
  const making = h("button", { type: "button", onclick: create });
  label();
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, order, state, making,
      h("button", { type: "button", onclick: load }, "Reload"), count),
    selection.bar(h("button", { type: "button", onclick: () => switchSeveral(false) }, "Switch off"), h("button", { type: "button", onclick: () => switchSeveral(true) }, "Switch on")), split.element);

  function filter(how) {
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (skill) => [skill.id, skill.name, skill.description, ...skill.keywords].join(" ").toLowerCase();
    const rows = skills.filter((skill) => given.every((word) => text(skill).includes(word))
      && (!state.value || (state.value === "empty" ? skill.tool_count === 0 : skill.is_active === (state.value === "on"))));
    rows.sort(COMPARE[order.value]);
    list.show(rows, skills.length ? "No skill matches the filter." : undefined, how);
    fill(count, list.unread ? "" : rows.length === skills.length ? plural(rows.length, "skill") : `${rows.length} of ${plural(skills.length, "skill")}`);
    selection.mark();
    keep();
  }

  /** Keep in the address what is open, and what is filtered. */
  function keep() {
    if (skills.length) remember("skills", { skill: list.isEmptied ? "" : list.chosenKey, filter: search.value, state: state.value, sort: order.value !== ORDERS[0][0] && order.value });
  }

  let reading = 0;
  let isReading = false;

  async function load() {
    const mine = ++reading;
    isReading = true;
    try {
      const found = await act("skills/skills");
      if (mine !== reading) return; // an answer that comes late has older rows
      skills = found;
      isReading = list.isPartial = false;
      list.unread = null;
      solved(UNREAD);
      const wish = wanted; // filtering may choose another one
      filter();
      wanted = null;
      if (wish && !(list.current && list.shows(wish))) reach(wish);
      else if (list.chosenKey === undefined) list.choose(0);
      else if (list.current) show(list.chosenKey);
    } catch (error) {
      if (mine !== reading) return;
      isReading = list.isPartial = false;
      if (!skills.length) list.unread = notRead(error);
      filter();
      showProblem(error, UNREAD, load);
    }
  }

  function reach(id) {
    wanted = list.isPartial ? id : null;
    if (!list.chooseKey(id, { silent: true })) {
      if (!wanted) search.value = state.value = ""; // what is open stands in the list, unless it is still to come
      list.expect(id);
      filter();
      if (!wanted && !list.shows(id)) return void say(`There is no skill ${id} in the list: it was deleted, or is new (Reload).`);
    }
    split.reading(id, list.current?.name ?? id);
    show(id);
    split.open();
  }

  /** Filter as an address says, and open its skill. */
  function follow(address) {
    options = address;
    search.value = address.get("filter") ?? "";
    choose(state, address.get("state"));
    choose(order, address.get("sort"));
    const id = address.get("skill");
    wanted = null;
    filter({ first: !id });
    if (id) reach(id);
    offer();
  }

  /** Offer a new skill where the address asks for one: once, also where the page is read again. */
  function offer() {
    if (!options.get("new")) return;
    options.delete("new");
    create();
  }

  async function show(id) {
    const mine = ++opened;
    keep();
    try {
      const found = await act("skills/skill", { skill_id: id });
      if (mine !== opened) return;
      solved(HIDDEN);
      if (list.shows(id)) draw(found);
    } catch (error) {
      if (mine !== opened) return;
      split.unread(id, notRead(error));
      showProblem(error, HIDDEN, () => show(id));
    }
  }

  function changed(...some) {
    for (const skill of some) {
      const at = skills.findIndex((one) => one.id === skill.id);
      if (at < 0) skills.push(skill);
      else if ((skills[at].updated_at ?? "") <= (skill.updated_at ?? "")) skills[at] = skill; // else it comes late
    }
    forgetSkills();
    filter();
    if (isReading) load(); // what is being read may be older
  }

  const showAgain = (skill) => { if (list.shows(skill.id)) show(skill.id); };

  function draw({ skill, version, tools }) {
    split.of = skill.id;
    split.show(
      h("h2", {}, skill.name),
      h("p", { class: "muted" }, h("span", { class: "code" }, skill.id), `, ${plural(skill.tool_count, "tool")}, ${skill.is_active ? "on" : "off"}, changed `, when(skill.updated_at)),
      !skill.is_active && h("p", { class: "note" }, "This skill is off: searches do not use it."),
      skillEditor(skill, version, { changed, again: showAgain }),
      h("h3", {}, "Actions"),
      h("p", { class: "actions" },
        h("button", { type: "button", onclick: () => switchSkill(skill) }, skill.is_active ? "Switch off" : "Switch on"),
        mergeInto(skill, (id) => merged(skill, id))),
      toolTable(tools));
  }

  async function switchSkill(skill) {
    try {
      const { skill: saved } = await act("skills/save", { skill_id: skill.id, fields: { is_active: !skill.is_active }, version: null });
      solved(`${skill.name} was not switched`);
      changed(saved);
      say(`${saved.name} is ${saved.is_active ? "on" : "off"}`, { action: "Undo", run: () => switchSkill(saved) });
      showAgain(saved);
    } catch (error) {
      showProblem(error, `${skill.name} was not switched`, () => switchSkill(skill));
    }
  }

  async function switchSeveral(to, some = selection.among(skills)) {
    const rows = some.filter((skill) => skill.is_active !== to);
    if (!rows.length) return void say(`The selected skills are ${to ? "on" : "off"} already.`);
    const { done, failed } = await selection.each(rows, async (skill) =>
      (await act("skills/save", { skill_id: skill.id, fields: { is_active: to }, version: null })).skill, to ? "Switching on" : "Switching off");
    changed(...done.map(({ answer }) => answer));
    if (list.current) show(list.chosenKey);
    if (done.length) say(`${plural(done.length, "skill")} switched ${to ? "on" : "off"}`, { action: "Undo", run: () => switchSeveral(!to, done.map(({ answer }) => answer)) });
    showFailed(failed, `${plural(failed.length, "skill")} not switched`, (skill) => skill.name, () => switchSeveral(to, failed.map(({ row }) => row)));
  }

  async function merged(skill, into) {
    const isOpen = list.shows(skill.id);
    await load();
    if (isOpen && list.shows(skill.id)) reach(into);
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
          document.dispatchEvent(new CustomEvent("skill-made", { detail: skill }));
        } catch (error) {
          submit.disabled = false;
          if (!dialog.open) showProblem(error, `${inputs.name.value} was not created`);
          else if (error.code === "skill_exists") refuse(inputs.skill_id, error.message);
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
    element, enter: () => {
      load();
      offer();
    },
    leave: () => { reading += 1; isReading = false; opened += 1; }, list: () => list, escape: () => split.close(),
    options: follow,
    keys: {
      n: { says: "make a new skill", run: create },
      t: { says: "select the skill in the list, or not (Space in the list)", run: () => selection.toggle(list.current) },
    },
  };
}
