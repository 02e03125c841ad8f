// Suggestions: a queue to be worked through by keys; a decision is sent a moment later, so that it can be undone.
import { act, Problem } from "./calls.js";
import { fill, h, plural, select, when } from "./dom.js";
import { draft, dropDraft, editorDraft, unsaved } from "./drafts.js";
import { List, Split } from "./list.js";
import { notRead, say, showProblem, solved } from "./notices.js";
import { Selection, showFailed } from "./selection.js";
import { SOURCES, forgetSkills, skillInput } from "./skill_choice.js";
import { formOf, isNew, proof } from "./suggestion_forms.js";
import { DECIDED, Decided } from "./suggestions_decided.js";

const UNREAD = "Suggestions cannot be read";
const UNDO_MS = 6000;
const DOING = { approve: "Approving", reject: "Rejecting", merge: "Merging" }; // not sent, nothing is known yet
const DONE = { approve: "Approved", reject: "Rejected", merge: "Merged" };
const keyOf = (group) => `${group.kind}/${group.org_id ?? ""}/${group.skill_id}/${group.name}`;
const draftOf = (group) => `suggestion/${keyOf(group)}`;
const notDecided = (group) => `${group.name} was not decided, and is in the list again`;
const statusIn = (options) => (DECIDED.includes(options.get("show")) ? options.get("show") : "");

export function make({ options, remember }) {
  let groups = [];
  let wanted = options.get("open"); // that shall be open once it is read
  let loading = null;
  const waiting = []; // decisions that can be undone still, the last one last
  const sending = new Set(); // keys of those that are sent: a list that was read meanwhile has them still
  const evidence = new Map();

  const list = new List({
    label: "Suggestions", key: keyOf, heights: [50, 50],
    row: (group) => [
      selection.cell(group), h("span", {}, group.name, " ", unsaved(draftOf(group))), h("span", { class: "num" }, group.count),
      h("span", { class: "under" }, isNew(group) ? group.description : `description of ${group.skill_id}`)],
    chosen: (group) => { wanted = null; show(group); }, open: () => split.open(), none: () => { current = null; loading?.abort(); split.nothing(); },
    empty: [h("p", {}, "No open suggestions."),
      h("p", {}, "Classifying a tool that fits no skill creates a suggestion; ", h("code", {}, "skillroute skills propose"), " derives skills from the tools.")],
  });
  const split = new Split(list, "The suggestion");
  split.element.classList.add("even");
  list.element.classList.add("group-row");
  const selection = new Selection(list, { word: "name" });
  const count = h("span", { class: "count" });
  const search = h("input", {
    type: "search", placeholder: "Filter by name, description or tool", "aria-label": "Filter suggestions", "data-first": true,
    value: options.get("filter") ?? "", oninput: () => filter({ first: true }),
  });
  list.openedFrom(search);
  const decided = new Decided();
  const shown = select([["", "waiting"], ...DECIDED], statusIn(options), () => { look(); load(); });
  shown.setAttribute("aria-label", "Which suggestions");
  const undoButton = h("button", { type: "button", disabled: true, onclick: undo }, "Undo ", h("kbd", {}, "u"));
  const several = selection.bar(
    h("button", { type: "button", onclick: () => decideSeveral("approve") }, "Approve them ", h("kbd", {}, "a")),
    h("button", { type: "button", onclick: () => decideSeveral("reject") }, "Reject them ", h("kbd", {}, "x")));
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, shown, search, undoButton, h("button", { type: "button", onclick: load }, "Reload"), count),
    several, split.element, decided.element);

  /** Show those that wait, with all that decides on them, or those that were decided on. */
  function look() {
    const isWaiting = !shown.value;
    for (const one of [search, undoButton, count, several, split.element]) one.hidden = !isWaiting;
    (isWaiting ? search : shown).dataset.first = true; // where / leads
    delete (isWaiting ? shown : search).dataset.first;
  }
  look();

  /** What was sent is among the decided ones at once. */
  const showDecided = () => { if (shown.value && element.isConnected) decided.load({ anew: true }); };

  function filter(how) {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (group) =>
      [group.name, group.description, group.skill_id, ...group.examples.map((e) => `${e.server ?? ""} ${e.source_tool_name ?? ""}`)]
        .join(" ").toLowerCase();
    const rows = groups.filter((group) => !isGoing(group) && words.every((word) => text(group).includes(word)));
    list.show(rows, words.length && groups.length ? "No suggestion matches the filter: press Esc and clear it." : undefined, how);
    const all = rows.reduce((sum, group) => sum + group.count, 0);
    fill(count, !list.unread && `${plural(rows.length, "name")}, ${plural(all, "suggestion")}`);
    undoButton.disabled = waiting.length === 0;
    selection.mark();
    recall();
  }

  const recall = () => remember("suggestions", shown.value ? { show: shown.value } : { open: wanted ?? (list.isEmptied ? "" : list.chosenKey), filter: search.value });

  let reading = 0;
  let isReading = false;
  let isStale = false; // what was read, or is being read, has what was decided since

  async function load() {
    const mine = ++reading;
    isReading = isStale = false;
    recall();
    if (shown.value) return decided.status === shown.value ? decided.load({ anew: true }) : decided.show(shown.value);
    decided.show("");
    evidence.clear();
    isReading = true;
    try {
      const found = await act("suggestions/groups").finally(() => { if (mine === reading) isReading = false; });
      if (mine !== reading) return; // an answer that comes late has older rows
      groups = found;
      list.unread = null;
      solved(UNREAD);
      const wish = wanted; // filtering may choose another one
      filter();
      const isOpened = wish && wish !== list.chosenKey && list.chooseKey(wish);
      wanted = null;
      if (!isOpened && list.current) show(list.current); // what speaks for it is read again
      else if (!isOpened) list.choose(0);
      if (!list.rows.length) split.show(h("p", { class: "empty" }, "Decided suggestions are under “approved”, “merged” and “rejected” above."));
    } catch (error) {
      if (mine !== reading || !element.isConnected) return;
      if (!groups.length) list.unread = notRead(error);
      filter();
      showProblem(error, UNREAD, load);
    }
  }

  function show(group) {
    if (shown.value) return undefined; // those that were decided on are shown
    recall();
    return read(group, draw(group));
  }

  async function read(group, fillIn) {
    loading?.abort();
    const mine = (loading = new AbortController());
    const hidden = `The evidence for ${group.name} cannot be read`;
    try {
      if (!evidence.has(keyOf(group))) {
        // Who holds a key down passes many by: only where they stop is anything read.
        await new Promise((done) => setTimeout(done, 80));
        if (mine.signal.aborted) return;
        evidence.set(keyOf(group), await act("suggestions/evidence", { group }, { signal: mine.signal }));
      }
      solved(hidden);
      fillIn(evidence.get(keyOf(group)));
    } catch (error) {
      if (element.isConnected) showProblem(error, hidden, () => read(group, fillIn));
    }
  }

  /** Show a group; what is returned shows what speaks for it, and touches nothing that was typed meanwhile. */
  function draw(group) {
    const form = formOf(group);
    const proofs = h("div", {}, h("p", { class: "muted" }, "Loading the evidence …"));
    const into = skillInput("Skill to merge into", { onenter: () => merge() });
    into.input.id = "merge-into";
    const reason = h("input", { "aria-label": "Reason of a rejection", placeholder: "reason (optional)" });
    editorDraft(draftOf(group), { ...form.inputs, into: into.input, reason },
      { ...form.before, into: group.skill_exists && isNew(group) ? group.skill_id : "" });
    const approve = async () => { if (await form.isFit() && isHere(group)) decide("approve", group, { skill: form.edits() }); };
    const reject = () => decide("reject", group, reason.value.trim() ? { reason: reason.value.trim() } : {});
    const merge = async () => {
      const target = await into.resolve();
      if (target && isHere(group)) decide("merge", group, { skill_id: target.id }, ` into ${target.name}`);
    };
    current = { of: keyOf(group), approve, reject, merge, edit: form.focus };
    split.show(
      h("h2", {}, group.name),
      h("p", { class: "muted" }, isNew(group) ? "A new skill, " : `A description of ${group.skill_id}, `,
        `suggested ${group.count === 1 ? "once" : `${group.count} times`} by ${group.sources.map((source) => SOURCES[source] ?? source.replaceAll("_", " ")).join(", ")}, last `, when(group.last_created_at)),
      isNew(group) && group.skill_exists && h("p", { class: "note" },
        `There is a skill ${group.skill_id} already: merge into it, or give the new one another id.`),
      form.element,
      h("p", { class: "actions" },
        h("button", { type: "button", class: "main", onclick: approve }, "Approve ", h("kbd", {}, "a")),
        isNew(group) && h("span", { class: "inline" }, into.element,
          h("button", { type: "button", onclick: merge }, "Merge ", h("kbd", {}, "m"))),
        h("span", { class: "inline" }, reason, h("button", { type: "button", onclick: reject }, "Reject ", h("kbd", {}, "x")))),
      proofs);
    return (found) => {
      form.found?.(found);
      fill(proofs, proof(group, found, (skill) => {
        into.input.value = skill.id;
        current.merge();
      }));
    };
  }

  let current = null;

  /** Whether the page is open still: what is decided on after it was left nobody could undo. */
  function isHere(group) {
    if (!element.isConnected) say(`${group.name} was not decided: the page was left before.`, { forMs: 12000 });
    return element.isConnected;
  }

  /** Whether a decision on a group waits, or is being sent. */
  const isGoing = (group) => sending.has(keyOf(group)) || waiting.some((one) => keyOf(one.group) === keyOf(group));

  function decide(action, group, more, where = "") {
    if (isGoing(group)) return; // the button was pressed twice
    solved(notDecided(group)); // this decision stands for the one that failed
    const found = evidence.get(keyOf(group));
    // What was looked at is decided on; a suggestion of the name that came later waits for another look.
    const target = found ? { ids: found.suggestions.map((row) => row.id) } : { name: group.name };
    const skill = more.skill && Object.keys(more.skill).length ? { skill: more.skill } : {};
    const { skill: _, ...others } = more;
    const one = { group, decision: { action, ...target, ...skill, ...others } };
    one.where = where;
    one.silence = say(`${DOING[action]} ${group.name}${where}: it is sent in ${UNDO_MS / 1000} seconds`, { action: "Undo (u)", run: () => takeBack(one), forMs: UNDO_MS });
    one.timer = setTimeout(() => send(one), UNDO_MS);
    waiting.push(one);
    filter(); // the next one is chosen
    if (!list.rows.length) split.show(h("p", { class: "empty" }, "No open suggestions."));
    if (split.element.classList.contains("open")) split.close();
    list.box.focus();
  }

  /**
   * Decide on all that are selected, as they stand in the list: what was typed and not decided on stays, and so does a
   * new skill whose id is taken. They are sent together, and taken back together.
   */
  async function decideAll(action, chosen) {
    const all = chosen.filter((group) => !isGoing(group));
    const isOpen = (group) => draft(draftOf(group)) === undefined && !(action === "approve" && isNew(group) && group.skill_exists);
    const rows = all.filter(isOpen);
    // What the list had is decided on; a suggestion of a name that came later waits for another look.
    const { done, failed } = await selection.each(rows, (group) => act("suggestions/ids", { group, until: group.last_created_at }), "Reading");
    showFailed(failed, `${plural(failed.length, "name")} not decided`, (group) => group.name, async () => {
      while (deciding) await deciding; // of another batch
      await decideSeveral(action, failed.map(({ row }) => row));
    });
    if (!element.isConnected) return void say("Nothing was decided: the page was left before all suggestions were read.", { forMs: 12000 });
    const batch = done.filter(({ row }) => !isGoing(row)).map(({ row, answer }) => ({ group: row, where: "", decision: { action, ids: answer } })).filter(({ decision }) => decision.ids.length);
    const left = all.length - rows.length;
    const leftSays = left ? ` ${plural(left, "name")} stay${left === 1 ? "s" : ""}: changed and not saved, or the id is taken.` : "";
    if (!batch.length) return void say(`Nothing was decided.${leftSays}`, { forMs: 12000 });
    const silence = say(`${DOING[action]} ${plural(batch.length, "name")}: sent in ${UNDO_MS / 1000} seconds.${leftSays}`, { action: "Undo (u)", run: () => takeBack(batch[0]), forMs: UNDO_MS });
    const timer = setTimeout(() => sendTogether(batch, action), UNDO_MS);
    for (const one of batch) Object.assign(one, { batch, silence, timer });
    waiting.push(...batch);
    for (const { group } of batch) solved(notDecided(group));
    filter();
    list.box.focus();
  }

  let deciding = null; // who presses a button twice means it once
  const decideSeveral = (action, chosen = selection.among(groups)) => (deciding ??= decideAll(action, chosen).finally(() => { deciding = null; }));

  async function sendTogether(batch, action) {
    const { done, failed } = await selection.each(batch.filter((one) => waiting.includes(one)), (one) => send(one, { isQuiet: true }), DOING[action]);
    filter();
    readAnew();
    showDecided();
    if (done.length) say(`${DONE[action]}: ${plural(done.length, "name")}`);
    showFailed(failed, `${plural(failed.length, "name")} not decided, and in the list again`, (one) => one.group.name, () => {
      // What was decided on otherwise since goes by that.
      const open = failed.map(({ row }) => row).filter(({ group }) => groups.some((one) => keyOf(one) === keyOf(group)) && !isGoing(group));
      waiting.push(...open);
      return sendTogether(open, action);
    });
  }

  function takeBack(one) {
    if (!waiting.includes(one)) return;
    const back = (one.batch ?? [one]).filter((each) => waiting.includes(each));
    for (const each of back) waiting.splice(waiting.indexOf(each), 1);
    clearTimeout(one.timer);
    one.silence();
    filter();
    list.chooseKey(keyOf(one.group));
  }

  function undo() {
    if (waiting.length) takeBack(waiting.at(-1));
    else say("There is nothing to undo: decisions that were sent are final.");
  }

  async function send(one, { last = false, isQuiet = false } = {}) {
    if (!waiting.includes(one)) return;
    clearTimeout(one.timer);
    waiting.splice(waiting.indexOf(one), 1);
    const key = keyOf(one.group);
    const others = () => groups.filter((group) => keyOf(group) !== key);
    groups = others();
    sending.add(key);
    selection.among(groups); // what is sent is selected no longer
    one.silence();
    try {
      const result = await act("suggestions/review", { decision: one.decision }, { last }).finally(() => sending.delete(key));
      if (result.status === "failed") throw failure(result);
      isStale ||= isReading || others().length < groups.length;
      groups = others();
      if (!isQuiet) readAnew();
      dropDraft(draftOf(one.group));
      forgetSkills();
      if (!isQuiet) showDecided();
      if (isQuiet && !result.failed) return;
      const also = result.also_resolved ? `, and ${result.also_resolved} more of the name` : "";
      say(`${DONE[one.decision.action]}: ${one.group.name}${one.where || (result.skill ? ` as ${result.skill.id}` : "")}, ${plural(result.decided, "suggestion")}${also}`);
      if (result.failed) showProblem(failure(result), `${plural(result.failed, "suggestion")} of ${one.group.name} stayed`);
    } catch (error) {
      groups = [one.group, ...others()];
      if (isQuiet) throw error;
      showProblem(error, notDecided(one.group), () => again(one));
    }
    filter();
  }

  function readAnew() {
    if (isStale && !shown.value && element.isConnected) load();
  }

  function again(one) {
    if (isGoing(one.group)) return undefined;
    waiting.push(one);
    return send(one);
  }

  // With several selected the keys that decide are about these.
  const actAll = (name) => () => (!shown.value && selection.among(groups).length ? decideSeveral(name) : act_(name)());
  const act_ = (name) => () => { if (!shown.value && list.current && current?.of === keyOf(list.current)) current[name](); };
  return {
    element, list: () => (shown.value ? null : list),
    enter: load,
    options: (more) => {
      wanted = more.get("open");
      search.value = more.get("filter") ?? "";
      if (statusIn(more) !== shown.value) {
        shown.value = statusIn(more);
        look();
        load();
      } else if (!shown.value) {
        const wish = wanted; // filtering may choose another one
        filter({ first: !wish });
        if (wish && !list.chooseKey(wish)) wanted = wish;
      }
    },
    leave: (how) => Promise.all([...waiting].map((one) => send(one, how))),
    escape: () => split.close(),
    keys: {
      a: { says: "approve", run: actAll("approve") },
      e: { says: "edit before approving", run: act_("edit") },
      m: { says: "merge into the named skill, or name one", run: act_("merge") },
      x: { says: "reject", run: actAll("reject") },
      t: { says: "select the name in the list, or not (Space in the list)", run: () => { if (!shown.value) selection.toggle(list.current); } },
      u: { says: "undo the last decision, until it is sent", run: undo },
    },
  };
}

function failure(result) {
  const error = result.error ?? result.suggestions.find((one) => one.error)?.error ?? { detail: "no reason was given" };
  return new Problem(409, error);
}
