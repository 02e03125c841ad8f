// Learning: what was learned from use and which state is live, and judged requests to review.
import { act } from "./calls.js";
import { fill, h, plural, when } from "./dom.js";
import { table as stacked } from "./health_parts.js";
import { say, sayNotRead, showProblem, solved } from "./notices.js";
import { titleOf } from "./tool_choice.js";

const RECEIPTS = { on: "Receipts are kept", "without-texts": "Receipts are kept without texts", off: "Receipts are not kept" };
const MEASURES = { "recall@1": "recall@1", "recall@5": "recall@5", "ndcg@5": "nDCG@5" };
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
const toolOf = (tool) => h("a", { href: `#/catalogue?tool=${tool.tool_id ?? tool.id}` }, titleOf(tool));
const numbers = new Set(["Searches", "Callers", "Share", "Requests", "Tools", "Outcomes", "Before", "After", "Change"]);

const table = (label, names, rows) => stacked(label, names.map((name) => ({ name, num: numbers.has(name) })), rows);

export function make() {
  const state = h("div", {});
  const learned = h("div", {});
  const missed = h("p", {}, h("a", { href: "#/missed" }, "Unanswered"), " has the requests that found nothing.");
  const judged = h("div", {});
  const reload = h("button", { type: "button", "data-first": true, onclick: load }, "Reload ", h("kbd", {}, "r"));
  const learning = h("button", { type: "button", hidden: true, onclick: learn }, "Learn now");
  const became = h("p", { role: "status" }); // of what was learned now
  const element = h("div", { class: "scroll stack", tabindex: "-1" }, h("p", { class: "actions" }, reload, learning), became, state, learned, missed, judged);
  let visit = 0; // what is learned for another caller, or after the page was left, is not shown here
  let looked = null; // the state whose words are asked for
  let turn = 0; // of what is read: an answer that comes late is of no use
  let switched = 0; // what was asked of the states before one was switched is older, and nothing else is
  let switching = Promise.resolve(); // of states: one after the other, so that the last answer is of the last one
  let decided = 0; // likewise of the judged requests
  let waiting = { rows: [], name: "" }; // the judged requests that are shown

  async function load() {
    const mine = ++turn;
    await Promise.all([
      readNow(mine, () => switched, "learning/status", "What was learned cannot be read", (found) => {
        learning.hidden = !found.can_learn;
        drawState(found);
      }, state),
      readNow(mine, () => decided, "learning/judged", "Judged requests cannot be read", drawJudged, judged)]);
  }

  /** Read what is shown; again where it was changed, as `changes` counts, before that was answered. */
  async function readNow(mine, changes, ...what) {
    const before = changes();
    const [name, ...others] = what;
    await read(() => mine === turn && before === changes(), name, {}, ...others);
    if (mine === turn && before !== changes()) await readNow(mine, changes, ...what);
  }

  async function read(isMeant, name, fields, what, draw, place) {
    try {
      const answer = await act(name, fields);
      if (!isMeant()) return;
      solved(what);
      draw(answer);
    } catch (error) {
      if (!isMeant()) return;
      sayNotRead(place, error, h("h2", {}, what));
      showProblem(error, what, load);
    }
  }

  /** Do something that changes what is shown; the button waits, so that it is done once. */
  async function change(button, name, fields, what, done, again = () => change(button, name, fields, what, done)) {
    button.disabled = true;
    try {
      const answer = await act(name, fields);
      solved(what);
      await done(answer);
    } catch (error) {
      button.disabled = false;
      showProblem(error, what, again);
    }
  }

  function changeState(button, name, fields, what, done) {
    button.disabled = true; // also while it waits for another change
    return (switching = switching.then(() => change(button, name, fields, what, (found) => {
      switched += 1;
      done(found);
    }, () => changeState(button, name, fields, what, done))));
  }

  /** Learn of what there is, without waiting for the hour at which it is done by itself. */
  async function learn() {
    const mine = visit;
    const isMeant = () => mine === visit;
    learning.disabled = true;
    fill(became, "Learning and measuring: this may take a minute.");
    try {
      const { state_id: id, is_live: isLive, reason } = await act("learning/learn");
      if (!isMeant()) {
        if (element.isConnected) await load(); // what was read meanwhile may be older
        return;
      }
      fill(became, h("span", { class: `state ${isLive ? "ok" : "so"}` }, id === null ? "nothing learned" : isLive ? "live" : "not live"),
        ` ${id === null ? "" : `State ${id}: `}${reason}.`);
      await load();
    } catch (error) {
      if (!isMeant()) return;
      fill(became);
      showProblem(error, "Nothing was learned", learn);
    } finally {
      learning.disabled = false;
    }
  }

  function drawState(found) {
    const { live, states, use } = found;
    fill(state,
      h("p", { role: "status" }, h("span", { class: `state ${live ? "ok" : "so"}` }, live ? "live" : "off"), " ",
        live ? [`Searches go by state ${live.id} of `, when(live.made_at), `: ${plural(live.requests, "request")} of ${plural(live.tools, "tool")}, learned of ${plural(live.counted, "outcome")} of ${plural(live.callers, "caller")}.`]
          : "Searches go by nothing that was learned."),
      !found.is_automatic && h("p", {}, "This was chosen by hand, and stays so. ", goOn()),
      h("p", { class: "muted" }, `${RECEIPTS[found.receipts] ?? found.receipts}${found.receipts === "off" ? "" : ` for ${plural(found.receipts_days, "day")}`}: `
        + `${use.searches.toLocaleString("en")} searches of ${plural(use.callers, "caller")}, ${plural(use.outcomes, "outcome")}.`),
      live?.compared_with_none && [h("h2", {}, "What it changed"), compared(live)],
      h("h2", {}, "States"),
      states.length === 0 ? h("p", { class: "muted" }, "Nothing was learned yet: outcomes of searches are needed.")
        : table("States", ["State", "Learned", "Requests", "Tools", "Outcomes", "Reason", ""], states.map(stateRow)));
    fill(learned);
    if (live) showLearned(live);
  }

  function goOn() {
    const button = h("button", { type: "button",
      onclick: () => changeState(button, "learning/go_on", {}, "It does not go on by itself", (found) => {
        say("What is measured to find better goes live by itself again.");
        drawState(found);
      }) }, "Let it go on by itself");
    return button;
  }

  function compared({ compared_with_none: found, held_out: searches }) {
    return [h("p", { class: "muted" }, `Measured on ${searches.toLocaleString("en")} later searches, compared with nothing learned.`),
      table("What it changed", ["Measure", "Before", "After", "Change", "95 % interval"], Object.entries(found.before).map(([name, before]) => {
        const { mean, low, high } = found.differences[name];
        return [MEASURES[name] ?? name, before.toFixed(3), found.after[name].toFixed(3), signed(mean), `${signed(low)} to ${signed(high)}`];
      }))];
  }

  function stateRow(one) {
    const use = h("button", { type: "button", "aria-label": one.is_live ? `Switch off state ${one.id}` : `Use this one: state ${one.id}`,
      onclick: () => changeState(use, "learning/switch", { state_id: one.is_live ? null : one.id }, "It was not switched", (found) => {
        say(found.live ? `Searches go by state ${found.live.id} within 15 seconds.` : "Searches go by nothing that was learned within 15 seconds.");
        drawState(found);
      }) }, one.is_live ? "Switch off" : "Use this one");
    const look = h("button", { type: "button", "aria-label": `Show what state ${one.id} has learned`, onclick: () => showLearned(one) }, "Show");
    return [[String(one.id), one.is_live && [" ", h("span", { class: "state ok" }, "live")]], when(one.made_at), one.requests, one.tools, one.outcomes,
      one.reason ?? "", h("span", { class: "actions" }, use, look)];
  }

  async function showLearned(one) {
    looked = one; // another one may be asked for before this is answered
    const [mine, before] = [turn, switched];
    await read(() => mine === turn && before === switched && looked === one, "learning/requests", { state_id: one.id },
      `What state ${one.id} has learned cannot be read`, (rows) => drawLearned(one, rows), learned);
  }

  function drawLearned(one, rows) {
    fill(learned, h("h2", {}, `What state ${one.id} has learned`),
      rows.length === 0 ? h("p", { class: "muted" }, "Nothing, or all of it was forgotten.")
        : table(`What state ${one.id} has learned`, ["Tool", "Words", "Searches", "Callers", "Share", ""], rows.map((row, at) => [toolOf(row), row.words.join(", ") || h("span", { class: "muted" }, "none in three or more"),
          row.searches, row.callers, row.share.toFixed(2), rows[at - 1]?.tool_id === row.tool_id ? "" : forgetting(one, row)])),
      rows.length < one.requests && h("p", { class: "muted" }, `and ${one.requests - rows.length} more: \`skillroute learn show ${one.id} --all\` lists them`));
  }

  function forgetting(one, row) {
    const button = h("button", { type: "button", "aria-label": `Forget what was learned of ${titleOf(row)}`, onclick: () => agreed(titleOf(row), () =>
      change(button, "learning/forget", { tool_id: row.tool_id }, `${titleOf(row)} was not forgotten`, async ({ requests, outcomes }) => {
        say(`${titleOf(row)}: ${plural(requests, "learned request")} and ${plural(outcomes, "outcome")} forgotten.`);
        await load();
      })) }, "Forget");
    return button;
  }

  /** Ask before what cannot be taken back. */
  function agreed(title, run) {
    const dialog = h("dialog", { "aria-labelledby": "forget-title", onclose: () => dialog.remove() },
      h("h2", { id: "forget-title" }, `Forget what was learned of ${title}?`),
      h("p", {}, "It goes out of all states, and the outcomes of its calls are deleted. This cannot be taken back."),
      h("p", { class: "actions" },
        h("button", { type: "button", class: "main", onclick: () => { dialog.close(); run(); } }, "Forget it"),
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
    document.body.append(dialog);
    dialog.showModal();
  }

  function drawJudged({ rows, name }) {
    waiting = { rows, name };
    fill(judged, h("h2", {}, "Judged requests from use"),
      h("p", { class: "muted" }, "What was called was not always right. Accepted requests go into ", h("code", {}, name), ", which evaluations read; rejected ones are not shown again, unless use judges otherwise."),
      rows.length === 0 ? h("p", { class: "muted" }, "None is waiting to be looked at.")
        : table("Judged requests from use", ["Request", "Right tools", "Searches", ""], rows.map((row) => judgedRow(row, name))));
  }

  function judgedRow(row, name) {
    const right = row.needs.flat();
    const decide = (action, says, done) => {
      const button = h("button", { type: "button", "aria-label": `${says} ${row.query}`, onclick: () =>
        change(button, `learning/${action}`, { query: row.query, needs: row.needs }, `“${row.query}” was not decided`, () => {
          say(done);
          decided += 1;
          // They may have been read anew meanwhile, and this one decided on by its other button.
          const at = waiting.rows.findIndex(({ query }) => query === row.query);
          if (at < 0) return;
          const rows = waiting.rows.filter(({ query }) => query !== row.query);
          drawJudged({ rows, name });
          // Who works through the list by keys goes on at the next one.
          judged.querySelectorAll(`button[data-action=${action}]`)[Math.min(at, rows.length - 1)]?.focus();
        }) }, says);
      button.dataset.action = action;
      return button;
    };
    return [h("a", { href: `#/search?q=${encodeURIComponent(row.query)}` }, row.query), right.length ? right.join(", ") : h("span", { class: "muted" }, "nothing fits"), row.searches,
      h("span", { class: "actions" }, decide("accept", "Accept", `Written into ${name}.`), decide("reject", "Reject", "Rejected."))];
  }

  return { element, enter: () => { visit += 1; fill(became); return load(); }, again: load, leave: () => { turn += 1; visit += 1; }, keys: { r: { says: "read everything again", run: load } } };
}
