// What is done with several tools of the catalogue at once: on and off, and skills by hand.
import { act } from "./calls.js";
import { h, plural } from "./dom.js";
import { say } from "./notices.js";
import { Selection, showFailed } from "./selection.js";
import { forgetSkills, skillInput } from "./skill_choice.js";
import { titleOf } from "./tool_choice.js";

const says = (rows) => (rows.length === 1 ? rows[0].name : plural(rows.length, "tool"));

/** Return the selection of a list of tools and its bar; `all` returns all tools, `changed` takes what one has become. */
export function severalTools(list, { all, changed }) {
  const selection = new Selection(list, { word: "tool" });
  const chosen = () => selection.among(all());
  const on = h("button", { type: "button", onclick: () => switchTools(chosen().filter((tool) => tool.is_switched_off), true) }, "Switch on");
  const off = h("button", { type: "button", onclick: () => switchTools(chosen().filter((tool) => !tool.is_switched_off), false) }, "Switch off");
  const skill = skillInput("Skill for the selected tools", { placeholder: "skill for them", onenter: () => give(withFirst) });
  const adding = h("button", { type: "button", title: "as their primary skill; they keep the others", onclick: () => give(withFirst) }, "Add");
  const moving = h("button", { type: "button", title: "as their only skill", onclick: () => give((_, id) => [id]) }, "Move");
  const withFirst = (tool, id) => [id, ...tool.skill_ids.filter((other) => other !== id)];

  async function switchTools(rows, to) {
    if (!rows.length) return say(`None of the selected tools is switched ${to ? "off" : "on"}.`);
    const { done, failed } = await selection.each(rows, (tool) => act("catalogue/switch", { tool_id: tool.id, on: to }), to ? "Switching on" : "Switching off");
    changed(done.map(({ answer: { id, is_active, is_switched_off } }) => ({ id, is_active, is_switched_off })));
    const switched = done.map(({ answer }) => answer);
    if (switched.length) say(`${says(switched)} ${switched.length === 1 ? "is" : "are"} switched ${to ? "on" : "off"}`, { action: "Undo", run: () => switchTools(switched, !to) });
    showFailed(failed, `${plural(failed.length, "tool")} not switched`, titleOf, () => switchTools(failed.map(({ row }) => row), to));
    return undefined;
  }

  /** Give the selected tools a skill; `wanted` returns the skills that one has then. */
  async function give(wanted) {
    const rows = chosen();
    if (!rows.length) return;
    const found = await skill.resolve();
    if (!found) return;
    const fresh = rows.filter((tool) => String(wanted(tool, found.id)) !== String(tool.skill_ids));
    if (!fresh.length) return void say(`The selected tools have the skill ${found.id} so already.`);
    skill.input.value = "";
    await assign(fresh, (tool) => wanted(tool, found.id), `${found.id}: given to`);
  }

  async function assign(rows, wanted, words) {
    const { done, failed } = await selection.each(rows, async (tool) => {
      const skill_ids = wanted(tool);
      await act("catalogue/assign", { tool_id: tool.id, skill_ids, seen: tool.skill_ids });
      return { ...tool, skill_ids };
    }, "Giving skills");
    forgetSkills();
    changed(done.map(({ answer: { id, skill_ids } }) => ({ id, skill_ids }))); // what else they are may be older
    if (done.length) {
      const before = new Map(done.map(({ row }) => [row.id, row.skill_ids]));
      say(`${words} ${says(done.map(({ row }) => row))}`, { action: "Undo", run: () => assign(done.map(({ answer }) => answer), ({ id }) => before.get(id), "The earlier skills were given back to") });
    }
    showFailed(failed, `${plural(failed.length, "tool")} not changed`, titleOf, () => assign(failed.map(({ row }) => row), wanted, words));
  }

  return { selection, bar: selection.bar(off, on, h("span", { class: "inline" }, skill.element, adding, moving)) };
}
