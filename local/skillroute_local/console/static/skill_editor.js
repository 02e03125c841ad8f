// The texts of a skill, edited with its version in hand, and merging it into another one.
import { act } from "./calls.js";
import { field, fill, h, plural } from "./dom.js";
import { KEPT, dropDraft, editorDraft, unsaved } from "./drafts.js";
import { say, showProblem, solved } from "./notices.js";
import { skillInput } from "./skill_choice.js";

const asText = (skill) => ({
  name: skill.name, description: skill.description, keywords: skill.keywords.join(", "), examples: skill.examples.join(", "),
  parent_domain: skill.parent_domain ?? "",
});
const draftOf = (skill) => `skill/${skill.org_id ?? ""}/${skill.id}`;
const mergeOf = (skill) => `merge/${skill.org_id ?? ""}/${skill.id}`;
const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);

/** A mark for the row of a skill that was changed and not saved. */
export const unsavedSkill = (skill) => unsaved(draftOf(skill)) || unsaved(mergeOf(skill));

/**
 * Return the editor of a skill of this `version`.
 *
 * `changed` is called with the skill as it is stored, `again` to show it anew, and `saved` once what was typed is
 * stored, or with true once that was taken back.
 */
export function skillEditor(skill, version, { changed, again, saved = () => {} }) {
  const before = asText(skill);
  const inputs = {
    name: h("input"), parent_domain: h("input"), description: h("textarea", { rows: 4 }), keywords: h("textarea", { rows: 2 }),
    examples: h("textarea", { rows: 2 }),
  };
  const conflict = h("div", {});
  const kept = h("p", { class: "muted" });
  const save = h("button", { type: "button", class: "main", onclick: () => store(typing.version) }, "Save");
  const reset = h("button", { type: "button", onclick: () => { typing.drop(); again(skill); } }, "Discard changes");
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
      const { skill: stored, version: current } = await act("skills/save", { skill_id: skill.id, fields, version: known });
      typing.settle(current);
      solved(`${skill.name} was not saved`);
      const back = Object.fromEntries(Object.keys(fields).map((key) => [key, skill[key]]));
      const isMine = known === version; // what others wrote meanwhile is not brought back
      say(`${stored.name}: saved`, isMine ? { action: "Undo", run: () => undo(back, current), forMs: 10000 } : {});
      changed(stored);
      again(stored);
      saved(false);
    } catch (error) {
      typing.failed();
      const isConflict = error.code === "version_conflict" && error.now;
      if (isConflict && conflict.isConnected) {
        compare(error.now);
        conflict.querySelector("button").focus();
      } else if (isConflict) {
        showProblem(error, `${skill.name} was not saved`);
        again(skill); // where it is open it is compared
      } else showProblem(error, `${skill.name} was not saved`, () => store(known));
    } finally {
      isSaving = false;
      typed();
    }
  }
  async function undo(fields, known) {
    try {
      const { skill: stored } = await act("skills/save", { skill_id: skill.id, fields, version: known });
      say(`${stored.name}: as it was before`);
      changed(stored);
      again(stored);
      saved(true);
    } catch (error) {
      showProblem(error, `The change of ${skill.name} was not taken back`, error.now ? undefined : () => undo(fields, known));
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
        h("button", { type: "button", onclick: () => { typing.drop(); changed(now); again(now); } }, "Discard my changes"))));
  }
  if (typing.isOld) compare({ skill, version });
  return h("fieldset", {}, h("legend", { class: "spoken" }, `Skill ${skill.id}`), h("div", { class: "fields" }, field("Name", inputs.name), field("Domain", inputs.parent_domain)),
    field("Description", inputs.description, "What the skill is for, in plain words: searches match this text."),
    field("Keywords, with commas between", inputs.keywords), field("Typical tools, with commas between", inputs.examples),
    h("p", { class: "actions", id: "skill-save" }, save, reset), kept, conflict);
}

/** Return a field for the skill that a skill is merged into; `merged` is called with its id, and whether all tools moved. */
export function mergeInto(skill, merged, { into: likely = "" } = {}) {
  const into = skillInput("Skill that gets the tools", {
    placeholder: "merge into …", onenter: () => ask(),
    unfit: (found) => (found.id === skill.id ? `${skill.id} is this skill: name another one.` : null),
  });
  editorDraft(mergeOf(skill), { into: into.input }, { into: likely });
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
      await merged(id, failed.length === 0);
    } catch (error) {
      showProblem(error, `${skill.name} was not merged`, () => merge(id));
    }
  };
  return h("span", { class: "inline" }, into.element, h("button", { type: "button", onclick: ask }, "Merge"));
}
