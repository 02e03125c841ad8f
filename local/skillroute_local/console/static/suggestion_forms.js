// What can be changed of a suggestion before it is approved, and what speaks for it.
import { field, fill, h, plural, refuse } from "./dom.js";
import { showProblem } from "./notices.js";
import { forgetSkills, skills } from "./skill_choice.js";

export const isNew = (group) => group.kind === "new_skill";

/** The fields of a suggestion: { inputs, before, element, edits, isFit, focus, found }, the last shows the evidence in them. */
export const formOf = (group) => (isNew(group) ? newSkillForm(group) : descriptionForm(group));

function newSkillForm(group) {
  const names = { id: group.skill_id, name: group.name, description: group.description, keywords: "", parent_domain: "" };
  const inputs = {
    name: h("input"), id: h("input", { spellcheck: "false", class: "code" }), parent_domain: h("input"),
    description: h("textarea", { rows: 3 }), keywords: h("input"),
  };
  const changed = () => Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]).filter(([name, value]) => value !== names[name]));
  return {
    inputs, before: names,
    element: h("fieldset", {}, h("legend", { class: "spoken" }, `The new skill ${group.name}`),
      h("div", { class: "fields" }, field("Name", inputs.name), field("Id", inputs.id), field("Domain", inputs.parent_domain)),
      field("Description", inputs.description), field("Keywords, with commas between", inputs.keywords)),
    edits: () => {
      const { keywords, ...others } = changed();
      // The API makes the id of the name unless it is given: it shall be the one that stands here.
      if (others.name !== undefined && others.id === undefined) others.id = inputs.id.value.trim();
      return keywords ? { ...others, keywords: keywords.split(",").map((word) => word.trim()).filter(Boolean) } : others;
    },
    isFit: () => areFilled(inputs.name, inputs.id, inputs.description) && isFree(inputs.id),
    focus: () => { inputs.name.focus(); inputs.name.select(); },
  };
}

function descriptionForm(group) {
  const now = h("p", { class: "lead" }, "…");
  const input = h("textarea", { rows: 4 });
  return {
    inputs: { description: input }, before: { description: group.description },
    element: h("fieldset", {}, h("legend", { class: "spoken" }, `A description of ${group.skill_id}`),
      h("h3", {}, "Current description"),
      now,
      field("Suggested description", input)),
    edits: () => (input.value.trim() === group.description ? {} : { description: input.value.trim() }),
    isFit: () => areFilled(input),
    focus: () => input.focus(),
    found: ({ target }) => fill(now, target?.description || "(none)"),
  };
}

/** What speaks for a suggestion: its tools, why, and for a new skill the nearest ones, each with what merges into it. */
export function proof(group, found, mergeInto) {
  const reasons = (row) => row.reasoning || "no reason was given";
  return h("div", {},
    isNew(group) && h("h3", {}, "Tools of the new skill"),
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", {}, isNew(group) ? "Tool" : "Suggestion"), h("th", {}, "Why"))),
      h("tbody", {}, found.suggestions.slice(0, 100).map((row) => {
        const tool = found.tools[row.source_tool_id];
        return h("tr", {},
          h("td", {}, tool ? [h("a", { href: `#/catalogue?tool=${tool.id}`, class: "code" }, tool.name), h("br"), h("small", {}, tool.server ?? "")]
            : row.source_tool_name ?? row.suggested_name),
          h("td", {}, tool && h("p", {}, tool.description), h("p", { class: "muted" }, reasons(row))));
      }))),
    found.suggestions.length > 100 && h("p", { class: "muted" }, `and ${found.suggestions.length - 100} more`),
    isNew(group) && found.nearest.length > 0 && [
      h("h3", {}, "Existing skills, most similar first"),
      h("table", {}, h("tbody", {}, found.nearest.map((skill) => h("tr", {},
        h("td", {}, h("a", { href: `#/skills?skill=${skill.id}` }, skill.name), h("br"), h("small", {}, plural(skill.tool_count, "tool"))),
        h("td", {}, h("button", { type: "button", class: "plain", "aria-label": `Merge into ${skill.name}`,
          onclick: () => mergeInto(skill) }, "Merge"))))))]);
}

function areFilled(...inputs) {
  const empty = inputs.find((input) => !input.value.trim());
  if (empty) refuse(empty, "It cannot be empty.");
  return !empty;
}

/** Whether no skill has the id that stands in a field, which else says so. */
async function isFree(input) {
  const id = input.value.trim();
  try {
    forgetSkills();
    if (!(await skills()).some((skill) => skill.id === id)) return true;
    refuse(input, `There is a skill ${id} already: merge into it, or choose another id.`);
  } catch (error) {
    showProblem(error, `Whether there is a skill ${id} cannot be read`);
  }
  return false;
}
