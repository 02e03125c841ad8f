// The tools that are selected on the map: giving all of them a skill, taking that back, and making a new skill of them.
import { act } from "./calls.js";
import { fill, h, plural } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { say, showProblem } from "./notices.js";
import { forgetSkills, skillInput } from "./skill_choice.js";

const AT_ONCE = 4;
const LISTED = 200; // of what was refused
const NEW = "new-skill"; // the draft of the page Skills
const ENDS = new Set([0, 401, 403]); // nothing that follows would be answered otherwise
const NAMED = 8;

/** The ids of the tools that are selected; they outlive the page. */
export const selection = new Set();

let isMaking = false; // the page Skills makes a skill for what is selected
document.addEventListener("skill-made", ({ detail: skill }) => {
  if (!isMaking || !selection.size) return;
  isMaking = false;
  say(`${plural(selection.size, "tool")} are selected on the map`, {
    action: `Give them ${skill.name}`, run: () => { location.hash = `#/map?give=${encodeURIComponent(skill.id)}`; }, forMs: 60_000,
  });
});

const runs = []; // { says, done, all, refused, isStopped }: they go on while other pages are looked at; the last one is shown
let refused = []; // { tool, why, target } of the last run
let hooks = { draw: () => {} }; // of the page that was opened last: a run goes on after it was left

/** Do something with each of many, a few at a time, until it is stopped or nothing can be done; returns what is left. */
async function each(says, tools, does) {
  const mine = { says, done: 0, all: tools.length, refused: [], isStopped: false };
  if (!runs.length) refused = [];
  runs.push(mine);
  const left = [...tools];
  let problem = null;
  const work = async () => {
    while (left.length && !mine.isStopped && !problem) {
      const tool = left.shift();
      try { await does(tool); } catch (error) {
        if (ENDS.has(error.status)) { problem = error; left.unshift(tool); } else mine.refused.push({ tool, why: error.message });
      }
      mine.done++;
      hooks.draw();
    }
  };
  hooks.draw();
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  runs.splice(runs.indexOf(mine), 1);
  refused.push(...mine.refused);
  forgetSkills();
  return { left, problem, mine };
}

/**
 * `changed` is called when the selection did, `given` with the id of a tool and its primary skill, or null, once that is
 * stored, and `isOnly` with whether the list shall show these alone.
 */
export function selectionPanel({ tools, changed, given, isOnly }) {
  const count = h("strong", { role: "status" });
  const only = h("button", { type: "button", "aria-pressed": "false", onclick: () => { isOnly(only.getAttribute("aria-pressed") !== "true"); } }, "Only these");
  const clear = h("button", { type: "button", onclick: () => { selection.clear(); refused = []; changed(); } }, "Clear");
  const skill = skillInput("Skill for the selected tools", { placeholder: "skill id or name", onenter: () => ask() });
  const give = h("button", { type: "button", class: "main", onclick: () => ask() }, "Give them the skill");
  const make = h("button", { type: "button", onclick: () => makeSkill(chosen()) }, "Make a new skill of them");
  const progress = h("div", { role: "status" });
  const wrong = h("div", {});
  const bar = h("div", {},
    h("p", { class: "actions" }, count, only, clear), h("p", { class: "actions" }, skill.element, give, make));
  const element = h("section", { class: "selected", "aria-label": "Selected tools" }, bar, progress, wrong);
  const chosen = () => tools().filter((tool) => selection.has(tool.id));

  async function ask() {
    const target = await skill.resolve();
    if (target && !runs.length) assign(target, chosen());
  }

  /** Add a skill as the primary one; `anyway`: also where it is not as the map showed it when that was decided. */
  async function assign(target, to, { anyway = false, shown = new Map(to.map((tool) => [tool, tool.skill?.id ?? null])) } = {}) {
    const done = [];
    const { left, problem, mine } = await each(`Giving ${target.id}`, to, async (tool) => {
      const now = (await act("catalogue/tool", { tool_id: tool.id })).skills;
      const primary = now.find((one) => one.is_primary && one.is_active)?.skill_id ?? null;
      const before = now.map((one) => one.skill_id);
      if (primary !== shown.get(tool) && primary !== target.id && !anyway) throw new Error(`was changed meanwhile: it has ${before.join(", ") || "no skill"} now`);
      if (before[0] !== target.id) {
        const after = [target.id, ...before.filter((id) => id !== target.id)];
        await act("catalogue/assign", { tool_id: tool.id, skill_ids: after, seen: before });
        done.push({ tool, before, after, primary });
      }
      hooks.given(tool.id, target);
    });
    ended(`${plural(done.length, "tool")} got the skill ${target.id}`, done, { left, problem, mine, again: (rest) => assign(target, rest, { anyway, shown }), target });
  }

  async function undo(done) {
    const of = new Map(done.map((one) => [one.tool, one]));
    let count_ = 0;
    const { left, problem, mine } = await each("Taking the skill back", [...of.keys()], async (tool) => {
      const { before, after, primary } = of.get(tool);
      await act("catalogue/assign", { tool_id: tool.id, skill_ids: before, seen: after });
      hooks.given(tool.id, primary && { id: primary });
      count_++;
    });
    ended(`${plural(count_, "tool")} as they were before`, [], { left, problem, mine, again: (rest) => undo(rest.map((tool) => of.get(tool))) });
  }

  function ended(text, done, { left, problem, mine, again, target = null }) {
    for (const one of mine.refused) one.target = target;
    if (problem) showProblem(problem, `${text}, ${left.length} were not reached`, () => again(left));
    else say(`${text}${mine.refused.length ? `; ${mine.refused.length} were refused` : ""}${left.length ? `; stopped before ${left.length}` : ""}`, done.length ? { action: "Undo", run: () => undo(done), forMs: 10_000 } : {});
    if (problem && done.length) say(text, { action: "Undo", run: () => undo(done), forMs: 10_000 });
    hooks.changed();
  }

  function draw() {
    const size = chosen().length;
    const running = runs.at(-1);
    fill(count, size ? `${plural(size, "tool")} selected` : "");
    bar.hidden = size === 0;
    element.hidden = size === 0 && !running && refused.length === 0;
    give.disabled = make.disabled = Boolean(running);
    if (!running) fill(progress);
    else if (progress.of === running && progress.firstChild) {
      progress.querySelector("progress").value = running.done;
      fill(progress.querySelector("span"), `${running.done} of ${running.all}`);
    } else {
      const stop = h("button", { type: "button", onclick: () => { running.isStopped = true; } }, "Stop");
      progress.of = running;
      fill(progress, h("p", { class: "actions" }, h("progress", { max: running.all, value: running.done, "aria-label": running.says }), h("span", { class: "muted" }), stop));
    }
    drawRefused();
  }

  function drawRefused() {
    const { target } = refused.find((one) => one.target) ?? {};
    fill(wrong, refused.length > 0 && !runs.length && h("div", { class: "note" },
      h("p", {}, h("strong", {}, `${plural(refused.length, "tool")} refused:`)),
      h("ul", { class: "plain names", tabindex: "0", "aria-label": "Refused tools" }, refused.slice(0, LISTED).map(({ tool, why }) => h("li", {}, h("a", { class: "code", href: `#/catalogue?tool=${tool.id}` }, tool.name), `: ${why}`))),
      h("p", { class: "actions" }, target && h("button", { type: "button", onclick: () => assign(target, refused.filter((one) => one.target === target).map(({ tool }) => tool), { anyway: true }) }, "Give it to these all the same"),
        h("button", { type: "button", onclick: () => { refused = []; draw(); } }, "Dismiss"))));
  }

  hooks = { draw, changed, given };
  return {
    element, draw, setOnly: (isOn) => only.setAttribute("aria-pressed", String(isOn)),
    name: (id) => { skill.input.value = id; skill.input.focus(); },
  };
}

/** Lead to the page Skills with a draft of a skill for some tools; one that was begun is not written over. */
function makeSkill(tools) {
  isMaking = true;
  if (draft(NEW)) say("The new skill that was begun before is still a draft: it was not written over.", { forMs: 12_000 });
  else {
    const name = commonWords(tools.map((tool) => tool.name));
    const names = tools.slice(0, NAMED).map((tool) => tool.name.replaceAll("_", " "));
    const description = `What these tools do: ${names.join(", ")}${tools.length > NAMED ? ", and others like them" : ""}.`;
    keepDraft(NEW, { texts: { name, description, ...(name && { skill_id: name.toLowerCase().replaceAll(" ", "_") }) }, version: null });
  }
  location.hash = "#/skills?new=1";
}

/** Return the words that half of the names have, in the order of the first. */
function commonWords(names) {
  const words = names.map((name) => [...new Set(name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z]+/).filter((word) => word.length > 2))]);
  const counts = new Map();
  for (const word of words.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const common = [...counts].filter(([, times]) => times > 1 && times >= names.length / 2).map(([word]) => word).slice(0, 3);
  return common.map((word) => word[0].toUpperCase() + word.slice(1)).join(" ");
}
