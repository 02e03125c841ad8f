// The skills that there are, for fields that name one.
import { act } from "./calls.js";
import { h } from "./dom.js";

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

/** A field for the id of a skill, which completes ids and names. */
export function skillInput(label, { placeholder = "skill id", onenter } = {}) {
  const list = h("datalist", { id: `skills-${++lists}` });
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
  return { element: h("span", { class: "inline" }, input, list), input };
}
