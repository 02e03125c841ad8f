// What mends a finding, where it stands: the editors of the tools and skills concerned, and switching them off.
import { act } from "./calls.js";
import { fill, fillForm, h, later, plural } from "./dom.js";
import { say, showProblem, solved } from "./notices.js";
import { forgetSkills } from "./skill_choice.js";
import { mergeInto, skillEditor } from "./skill_editor.js";
import { titleOf } from "./tool_choice.js";
import { requestEditor } from "./tool_requests.js";
import { toolSkills } from "./tool_skills.js";
import { textEditor } from "./tool_text.js";

const SHOWN = 200;
const TOGETHER = 4;
/** Of these one may stay as it is: the others are what is too much. */
const ALIKE = new Set(["near_duplicates", "descriptions_alike", "names_look_alike", "skills_overlap"]);
/** Of these the first tool alone is at fault. */
const FIRST = new Set(["shadows_tools"]);
const BY_SKILLS = new Set(["tools_without_skill"]);

const ofTool = (tool) => `tool/${tool.tool_id}`;
const ofServer = (tool) => `server/${tool.server}`;
const ofSkill = (id) => `skill/${id}`;

/** What was done since the report: by finding what was written, for all findings what was switched off. */
export class Mends {
  constructor() {
    this.written = new Map();
    this.off = new Map();
    this.old = new Set(); // what the report that is under way knows
  }

  /** Say that an examination begins. */
  begin() { this.old = new Set([...this.written.keys(), ...this.off.keys()]); }

  /** Say that there is a new report: what was done before it was begun is in it; of the rest it may not know. */
  renew() {
    for (const key of this.old) this.written.delete(key) || this.off.delete(key);
    this.old.clear();
  }

  write(finding, subject, what) {
    const key = `${finding.id} ${subject}`;
    this.old.delete(key);
    this.written.set(key, what);
  }

  switchOff(subject, what) {
    this.old.delete(subject);
    this.off.set(subject, what);
  }

  unwrite(finding, subject) { this.written.delete(`${finding.id} ${subject}`); }

  ofTool(finding, tool) {
    return this.off.get(ofTool(tool)) ?? (tool.server && this.off.get(ofServer(tool)))
      ?? this.written.get(`${finding.id} ${ofTool(tool)}`);
  }

  ofSkill(finding, id) { return this.off.get(ofSkill(id)) ?? this.written.get(`${finding.id} ${ofSkill(id)}`); }

  /** Whether nothing of a finding is left to be done. */
  isMended(finding) {
    const tools = FIRST.has(finding.code) ? finding.tools.slice(0, 1) : finding.tools;
    const done = [...tools.map((tool) => this.ofTool(finding, tool)), ...finding.skills.map((id) => this.ofSkill(finding, id))];
    const left = done.filter((what) => !what).length;
    return done.length > 0 && left <= (ALIKE.has(finding.code) && done.length > 1 ? 1 : 0);
  }
}

/** Return what mends a finding; `changed` is called whenever something was done or taken back. */
export function mending(finding, mends, changed) {
  const panel = h("section", { "aria-label": "Mend", tabindex: "-1" });
  const rows = h("div", {});
  const together = h("div", {});
  let opened = 0;
  let editing = null; // the tool or the skill whose editor is open: the end of another one's writing opens nothing
  let compared = 0;
  const isShown = () => panel.isConnected;
  const tell = () => {
    if (isShown()) draw();
    changed(isShown());
    if (isShown() && compared) compare(); // what is side by side may be older
  };

  function state(what) {
    return what ? h("span", { class: "state ok" }, `✓ ${what}`) : null;
  }

  function draw() {
    // The button that was pressed is drawn anew: the focus goes on with the one in its place.
    const pressed = rows.contains(document.activeElement) && document.activeElement.dataset.does;
    fill(rows, toolRows(), serverRow(), skillRows(), agentSkillRows());
    if (pressed) (rows.querySelector(`[data-does="${CSS.escape(pressed)}"]`) ?? panel).focus();
  }

  function button(does, text, label, run) {
    return h("button", { type: "button", "data-does": does, "aria-label": label, onclick: run }, text);
  }

  function toolRows() {
    if (!finding.tools.length) return null;
    return [h("h3", {}, plural(finding.tools.length, "tool")), h("ul", { class: "plain mends" },
      finding.tools.slice(0, SHOWN).map((tool) => {
        const isOff = mends.off.has(ofTool(tool));
        return h("li", {}, toolLink(tool), state(mends.ofTool(finding, tool)), h("span", { class: "inline" },
          button(`edit ${tool.tool_id}`, "Edit", `Edit ${titleOf(tool)}`, () => openTool(tool, true)),
          button(`off ${tool.tool_id}`, isOff ? "Switch on" : "Switch off", `Switch ${isOff ? "on" : "off"} ${titleOf(tool)}`,
            () => switchTool(tool, isOff))));
      }), more(finding.tools))];
  }

  function serverRow() {
    const names = [...new Set(finding.tools.map((tool) => tool.server).filter(Boolean))].slice(0, TOGETHER);
    if (!names.length) return null;
    return h("p", { class: "actions" }, names.map((name) => {
      const isOff = mends.off.has(`server/${name}`);
      return button(`server ${name}`, `Switch ${isOff ? "on" : "off"} the server ${name}`, null, () => switchServer(name, isOff));
    }));
  }

  function skillRows() {
    if (!finding.skills.length) return null;
    return [h("h3", {}, plural(finding.skills.length, "skill")), h("ul", { class: "plain mends" }, finding.skills.map((id) => {
      const isOff = mends.off.has(ofSkill(id));
      return h("li", {}, h("a", { href: `#/skills?skill=${encodeURIComponent(id)}` }, id), state(mends.ofSkill(finding, id)),
        h("span", { class: "inline" },
          button(`edit ${id}`, finding.skills.length > 1 ? "Edit or merge" : "Edit", `Edit ${id}`, () => openSkill(id, true)),
          button(`off ${id}`, isOff ? "Switch on" : "Switch off", `Switch ${isOff ? "on" : "off"} ${id}`, () => switchSkill(id, isOff))));
    }))];
  }

  function agentSkillRows() {
    if (!finding.agent_skills.length) return null;
    return [h("h3", {}, plural(finding.agent_skills.length, "Agent Skill")),
      h("ul", { class: "plain" }, finding.agent_skills.slice(0, SHOWN).map((path) => h("li", { class: "code" }, path)), more(finding.agent_skills)),
      h("p", { class: "muted" }, "An Agent Skill is changed in its own folder: change its SKILL.md there, and run ",
        h("code", {}, "skillroute import"), " with the folder again.")];
  }

  /** Show an editor; the focus goes to it only from the button that opens it, or from what is gone of the one before. */
  function open(byHand, ...children) {
    const had = document.activeElement;
    const isFree = panel.contains(had) || (had === document.body && panel.hasChildNodes()) || (byHand && (rows.contains(had) || had === document.body));
    if (!fillForm(panel, ...children) && isFree && !panel.contains(document.activeElement)) panel.focus();
  }

  async function openTool(tool, byHand = false) {
    const mine = ++opened;
    editing = ofTool(tool);
    try {
      const found = await act("doctor/tool", { tool_id: tool.tool_id });
      if (mine !== opened || !isShown()) return;
      const done = (what) => (undone) => {
        if (undone) mends.unwrite(finding, ofTool(tool)); else mends.write(finding, ofTool(tool), what);
        tell();
        if (isShown() && editing === ofTool(tool)) openTool(tool);
      };
      const skills = toolSkills(found.tool, found.skills, (_, isUndone) => done("skills changed")(isUndone));
      const texts = [textEditor(found.tool, found, done("description changed")),
        found.tool.type === "tool" && requestEditor(found.tool, done("requests changed"))];
      open(byHand, finding.tools.length > 1 && h("h2", { class: "code" }, titleOf(tool)),
        BY_SKILLS.has(finding.code) ? [skills, texts] : [texts, skills]);
    } catch (error) {
      if (mine === opened && isShown()) showProblem(error, `${titleOf(tool)} cannot be read`, () => openTool(tool, byHand));
    }
  }

  async function openSkill(id, byHand = false) {
    const mine = ++opened;
    editing = ofSkill(id);
    try {
      const { skill, version } = await act("skills/skill", { skill_id: id });
      if (mine !== opened || !isShown()) return;
      const other = finding.skills.find((one) => one !== id) ?? "";
      const openAgain = () => { if (isShown() && editing === ofSkill(id)) openSkill(id); };
      const merged = (into, isWhole) => {
        forgetSkills();
        if (isWhole) mends.switchOff(ofSkill(id), `merged into ${into}`);
        tell();
        openAgain();
      };
      open(byHand, skillEditor(skill, version, {
        changed: forgetSkills, again: openAgain,
        saved: (isUndone) => { if (isUndone) mends.unwrite(finding, ofSkill(id)); else mends.write(finding, ofSkill(id), "changed"); tell(); },
      }), h("h3", {}, "Merge into another skill"), mergeInto(skill, merged, { into: other }));
    } catch (error) {
      if (mine === opened && isShown()) showProblem(error, `${id} cannot be read`, () => openSkill(id, byHand));
    }
  }

  async function switched(subject, name, isOn, run, again) {
    const failed = (on) => `${name} was not switched ${on ? "on" : "off"}`;
    try {
      await run();
      for (const on of [true, false]) solved(failed(on));
      if (isOn) mends.off.delete(subject); else mends.switchOff(subject, "switched off");
      say(`${name} is ${isOn ? "on" : "off"}`, { action: "Undo", run: () => again(!isOn), forMs: 10000 });
      tell();
    } catch (error) {
      showProblem(error, failed(isOn), () => again(isOn));
    }
  }

  const switchTool = (tool, isOn) => switched(ofTool(tool), titleOf(tool), isOn,
    () => act("catalogue/switch", { tool_id: tool.tool_id, on: isOn }), (on) => switchTool(tool, on));

  const switchSkill = (id, isOn) => switched(ofSkill(id), id, isOn, async () => {
    await act("skills/save", { skill_id: id, fields: { is_active: isOn }, version: null });
    forgetSkills();
  }, (on) => switchSkill(id, on));

  const switchServer = (name, isOn) => switched(`server/${name}`, name, isOn, async () => {
    const known = (await act("servers/registered")).find((one) => one.names.includes(name));
    await act("servers/switch", { servers: [{ key: name, id: known?.id ?? null, name, was_enabled: known?.is_enabled ?? !isOn }], on: isOn });
  }, (on) => switchServer(name, on));

  /** Show tools side by side, as far as they are what searches and models read. */
  async function compare() {
    const { tools } = finding;
    const mine = ++compared;
    try {
      const found = await Promise.all(tools.slice(0, TOGETHER).map((tool) => act("catalogue/tool", { tool_id: tool.tool_id })));
      if (mine === compared) fill(together, h("h3", {}, tools.length > TOGETHER ? `The first ${TOGETHER} of ${tools.length}, side by side` : "Side by side"),
        h("div", { class: "together" }, found.map(({ tool }) => comparison(tool))));
    } catch (error) {
      if (mine === compared && isShown()) showProblem(error, "The tools cannot be compared", compare);
    }
  }

  draw();
  // Who holds a key down passes many by: only where they stop is anything read.
  later(() => {
    if (!isShown()) return;
    if (finding.tools.length > 1 && ALIKE.has(finding.code)) compare();
    else if (finding.tools.length === 1 && !finding.skills.length) openTool(finding.tools[0]);
  }, 120)();
  return [rows, together, panel];
}

const comparison = (tool) => h("section", { "aria-label": titleOf(tool) },
  h("h4", { class: "code" }, titleOf(tool)),
  h("p", { class: "lead" }, tool.description || h("span", { class: "muted" }, "It has no description.")),
  h("p", { class: "muted" }, `arguments: ${Object.keys(tool.input_schema?.properties ?? {}).join(", ") || "none"}`),
  h("p", { class: "muted" }, `skills: ${tool.skill_ids.join(", ") || "none"}`));

export const toolLink = (tool) => h("a", { class: "code", href: `#/catalogue?tool=${tool.tool_id}` }, titleOf(tool));

export const more = (all) => all.length > SHOWN
  && h("li", { class: "muted" }, `and ${all.length - SHOWN} more: \`skillroute doctor --json\` names all`);
