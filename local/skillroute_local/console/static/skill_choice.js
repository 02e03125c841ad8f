// The skills that there are, for fields that name one.
import { act } from "./calls.js";
import { h, refuse } from "./dom.js";
import { showProblem } from "./notices.js";

/** Who gave a skill, or suggested one, in words. */
export const SOURCES = {
  llm_auto: "a language model", similarity: "similarity", human_manual: "a person", human_override: "a person, over a classifier",
};
const GOOD_FOR_MS = 20000;
let known = null;

/** Return the skills, active ones first read by the page Skills as well; read again after a while or `forget`. */
export async function skills() {
  if (!known || Date.now() - known.at > GOOD_FOR_MS) {
    const rows = act("skills/skills");
    known = { at: Date.now(), rows };
    rows.catch(() => { known = null; });
  }
  return known.rows;
}

export function forgetSkills() { known = null; }

let lists = 0;

/** Return the skill of an id or a name, or why there is none. */
function match(text, all) {
  const named = all.filter((skill) => skill.name.toLowerCase() === text.toLowerCase());
  const found = all.find((skill) => skill.id === text) ?? (named.length === 1 ? named[0] : null);
  if (!found) {
    return named.length ? `Several skills are called ${text}: give one of the ids ${named.map((skill) => skill.id).join(", ")}.`
      : `There is no skill ${text}: choose one from the list.`;
  }
  return found.is_active ? found : `The skill ${found.id} is off: switch it on first, or choose another one.`;
}

/**
 * A field for a skill, which completes ids and names.
 *
 * `resolve` returns the skill that is named now; null where there is none, or `unfit` says why it is not wanted: the
 * field says so at once.
 */
export function skillInput(label, { placeholder = "skill id or name", onenter, unfit = () => null } = {}) {
  const list = h("datalist", { id: `skills-${++lists}` });
  let resolving = null; // who asks meanwhile gets the same answer
  const input = h("input", {
    list: list.id, "aria-label": label, placeholder, autocomplete: "off", spellcheck: "false",
    onkeydown: (event) => {
      if (event.key === "Enter" && onenter) { event.preventDefault(); onenter(); }
    },
    onfocus: async () => {
      if (list.children.length) return;
      try {
        list.append(...(await skills()).filter((skill) => skill.is_active)
          .map((skill) => h("option", { value: skill.id }, skill.name)));
      } catch { /* the id can be typed as well */ }
    },
  });
  const resolve = () => { resolving ??= read().finally(() => { resolving = null; }); return resolving; };
  async function read() {
    const text = input.value.trim();
    if (!text) {
      refuse(input, "Enter the name of an existing skill.");
      return null;
    }
    try {
      forgetSkills(); // one that was made or switched off a moment ago counts
      const found = match(text, await skills());
      const why = typeof found === "string" ? found : unfit(found);
      if (why) refuse(input, why);
      return why ? null : found;
    } catch (error) {
      showProblem(error, `Whether there is a skill ${text} cannot be read`);
      return null;
    }
  }
  return { element: h("span", { class: "inline" }, input, list), input, resolve };
}
