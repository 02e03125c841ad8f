// The skills of a tool, which people give and take by hand, and who gave it them.
import { act } from "./calls.js";
import { tinted } from "./colours.js";
import { bar, fill, h, oneAtATime, when } from "./dom.js";
import { KEPT, draft, dropDraft, editorDraft, keepDraft, unsaved } from "./drafts.js";
import { say, showProblem } from "./notices.js";
import { SOURCES, forgetSkills, skillInput } from "./skill_choice.js";

const skillsOf = (id) => `skills-of/${id}`;
const addingTo = (id) => `skill-to-add/${id}`;

/** A mark for the row of a tool whose skills were changed and not saved. */
export const unsavedSkills = (id) => unsaved(skillsOf(id)) || unsaved(addingTo(id));

/** Return the editor of a tool's skills; `saved` is called with the tool as it is then, and whether that was taken back. */
export function toolSkills(tool, skills, saved) {
  const name = skillsOf(tool.id);
  const now = skills.map((skill) => skill.skill_id);
  // A draft goes on from what was seen when it was begun: what others changed since is told, not written over.
  let { wanted, seen } = draft(name) ?? { wanted: [...now], seen: now };
  if (draft(name) && String(wanted) === String(now)) dropDraft(name); // somebody else did the same
  const chips = h("div", { class: "chips" });
  const saving = h("div", {});
  const adding = skillInput("Skill to add", {
    placeholder: "add a skill", onenter: () => add(),
    unfit: (skill) => (wanted.includes(skill.id) ? `${tool.name} has the skill ${skill.id} already.` : null),
  });
  const typed = editorDraft(addingTo(tool.id), { skill: adding.input }, { skill: "" }, { typed: () => draw() });
  const add = async () => {
    const text = adding.input.value;
    const skill = await adding.resolve();
    if (!skill) return false;
    if (adding.input.value === text) { adding.input.value = ""; typed.drop(); }
    if (!wanted.includes(skill.id)) change([...wanted, skill.id]);
    return true;
  };
  const change = (value) => {
    wanted = value;
    if (String(wanted) === String(now)) dropDraft(name); else keepDraft(name, { wanted, seen });
    draw();
  };
  const row = h("span", { class: "inline" });
  const draw = () => {
    const isChanged = String(wanted) !== String(now);
    fill(row, wanted.map((id, at) => tinted(h("span", { class: at === 0 ? "chip skill first" : "chip skill" }, id,
      at > 0 && h("button", { type: "button", "aria-label": `Make ${id} the primary skill`, title: "make it the primary skill", onclick: () => change([id, ...wanted.filter((one) => one !== id)]) }, "↑"),
      h("button", { type: "button", "aria-label": `Remove ${id}`, title: "remove it", onclick: () => change(wanted.filter((one) => one !== id)) }, "×")), id)),
    wanted.length === 0 && h("span", { class: "muted" }, "none"));
    const isTyped = adding.input.value.trim() !== "";
    fill(saving, (isChanged || isTyped) && [h("p", { class: "actions" },
      h("button", { type: "button", class: "main", onclick: () => store() }, "Save skills"),
      h("button", { type: "button", onclick: () => { adding.input.value = ""; typed.drop(); seen = now; change([...now]); } }, "Discard changes")),
    h("p", { class: "muted" }, KEPT)]);
  };
  const store = oneAtATime(async (from) => {
    // What stands in the field was typed to be saved, too; one that is no skill is refused there.
    if (!adding.input.value.trim() || (await add())) await send(from);
  });
  const send = async (from) => {
    const sent = wanted;
    try {
      await act("catalogue/assign", { tool_id: tool.id, skill_ids: sent, seen: from ?? seen });
      const back = from ?? now;
      say(`${tool.name}: skills saved`, { action: "Undo", run: () => undo(back, sent), forMs: 10000 });
      const kept = draft(name)?.wanted ?? sent; // it may have been changed while it was sent
      if (String(kept) === String(sent)) dropDraft(name); else keepDraft(name, { wanted: kept, seen: sent });
      await done();
    } catch (error) {
      // What is there now was read by the error; saving again is then a decision with open eyes.
      showProblem(error, `The skills of ${tool.name} were not saved`, () => store(error.now));
    }
  };
  const undo = async (back, from) => {
    try {
      await act("catalogue/assign", { tool_id: tool.id, skill_ids: back, seen: from });
      say(`${tool.name}: skills as they were before`);
      await done(true);
    } catch (error) {
      showProblem(error, `The skills of ${tool.name} were not taken back`, error.now ? undefined : () => undo(back, from));
    }
  };
  const classify = async (force) => {
    if (draft(name)) return say(`The skills of ${tool.name} are changed and not saved: save or discard these changes first.`, { forMs: 12000 });
    try {
      const answer = await act("catalogue/classify", { tool_id: tool.id, force });
      if (/skipped|kept|human/.test(answer.decision) && !force) {
        return say(`A person decided on the skills of ${tool.name}: they stay.`, { action: "Classify anyway", run: () => classify(true), forMs: 12000 });
      }
      say(`${tool.name}: ${answer.decision.replaceAll("_", " ")}`);
      await done();
    } catch (error) {
      showProblem(error, `${tool.name} was not classified`, () => classify(force));
    }
    return undefined;
  };
  const done = async (isUndone = false) => {
    forgetSkills();
    try {
      const found = await act("catalogue/tool", { tool_id: tool.id });
      saved(found, isUndone);
    } catch (error) {
      showProblem(error, `${tool.name} cannot be read again`, done); // the earlier message stays true
    }
  };
  draw();
  fill(chips, row, adding.element, h("button", { type: "button", onclick: add }, "Add"), h("button", { type: "button", onclick: () => classify(false) }, "Classify again"));
  return h("div", {}, h("h3", {}, `Skills of ${tool.name}, the first one is the primary skill`), chips, saving, history(skills));
}

function history(skills) {
  if (!skills.length) return h("p", { class: "muted" }, "This tool has no skill.");
  return h("table", {}, h("thead", {}, h("tr", {}, ["Skill", "Confidence", "By, when and why"].map((name) => h("th", {}, name)))),
    h("tbody", {}, skills.map((skill) => h("tr", {},
      h("td", {}, h("a", { href: `#/skills?skill=${skill.skill_id}`, class: skill.is_active ? "" : "off" }, skill.skill_name)),
      h("td", {}, bar(skill.confidence)),
      h("td", {}, SOURCES[skill.source] ?? skill.source, ", ", when(skill.assigned_at), skill.reasoning && h("p", { class: "muted" }, skill.reasoning))))));
}
