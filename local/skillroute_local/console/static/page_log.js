// Log: who searched, called and changed what; the latest first, and what comes.
import { act } from "./calls.js";
import { choose, field, fill, h, later, plural, select, when } from "./dom.js";
import { table } from "./health_parts.js";
import { notRead, showProblem, solved } from "./notices.js";

const UNREAD = "The log cannot be read";
const KINDS = [["", "all"], "search", "call", "refusal", "change"];
const OUTCOMES = [["", "all"], "ok", "refused", "failed"];
const NAMES = ["Time", "Kind", "Outcome", "Actor", "What", "On", "ms"];
const STATES = { ok: "ok", refused: "so", failed: "no" };
const EVERY_MS = 1000;
const LATE_MS = 5000; // searches are written a second or two after their answer
const NIL = "00000000-0000-0000-0000-000000000000";
const MOST = 1000; // rows that are shown

export function make({ options, remember }) {
  let rows = [];
  let turn = 0; // of what is read: an answer to other filters is of no use
  let reader = 0; // of those who follow: one that was stopped adds nothing
  let timer = null;
  const kind = select(KINDS, options.get("kind"), load);
  const outcome = select(OUTCOMES, options.get("outcome"), load);
  const actor = h("input", { type: "search", maxlength: 1000, value: options.get("actor") ?? "", oninput: later(() => { if (element.isConnected) load(); }, 300) });
  const follow = h("input", { type: "checkbox", onchange: () => (follow.checked ? wait() : stop()) });
  const reload = h("button", { type: "button", "data-first": true, onclick: load }, "Reload ", h("kbd", {}, "r"));
  const shown = h("div", {});
  const element = h("div", { class: "scroll stack", tabindex: "-1" },
    h("div", { class: "actions log-bar" }, field("Kind", kind), field("Outcome", outcome), field("Actor", actor),
      h("label", { class: "inline" }, follow, " Follow"), reload), shown);

  const asked = () => Object.fromEntries(Object.entries({ kind: kind.value, outcome: outcome.value, actor: actor.value.trim() }).filter(([, value]) => value));

  async function load() {
    const mine = ++turn;
    remember("log", asked());
    try {
      const found = await act("log/events", asked());
      if (mine !== turn) return;
      rows = found.rows;
      solved(UNREAD);
      draw();
    } catch (error) {
      if (mine === turn) {
        if (!rows.length) fill(shown, notRead(error));
        showProblem(error, UNREAD, load);
      }
    }
    if (mine === turn && follow.checked) wait();
  }

  /** Read what came since a little before the latest event; a page that is full is followed by the next one at once. */
  async function more() {
    const mine = turn;
    const own = reader;
    const isOver = () => mine !== turn || own !== reader;
    const known = new Set(rows.map((row) => row.id));
    const last = rows.length ? Math.max(...rows.map((row) => Date.parse(row.at))) : Date.now();
    let after = `${new Date(last - LATE_MS).toISOString()},${NIL}`;
    try {
      for (let full = true; full;) {
        const found = await act("log/events", { ...asked(), after });
        if (isOver()) return;
        const fresh = found.rows.filter((row) => !known.has(row.id));
        fresh.forEach((row) => known.add(row.id));
        if (fresh.length) {
          rows = [...rows, ...fresh].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, MOST);
          draw();
        }
        full = found.rows.length === found.most;
        if (full) after = `${found.rows.at(-1).at},${found.rows.at(-1).id}`;
      }
    } catch (error) {
      if (isOver()) return;
      follow.checked = false;
      showProblem(error, "The log is not followed any more", load);
    }
    if (!isOver() && follow.checked) wait();
  }

  function wait() {
    stop();
    timer = setTimeout(more, EVERY_MS);
  }

  function stop() {
    reader += 1;
    clearTimeout(timer);
  }

  function draw() {
    if (rows.length === 0) {
      fill(shown, h("p", { class: "muted" }, "There is no such event. ", h("code", {}, "SKILLROUTE_TRACE"), " says which are kept."));
      return;
    }
    fill(shown, h("p", { class: "muted", role: "status" }, plural(rows.length, "event")),
      table("Events", NAMES.map((name) => ({ name, num: name === "ms" })), rows.map(line)));
  }

  const line = (row) => [when(row.at, { seconds: true }), row.kind,
    [h("span", { class: `state ${STATES[row.outcome]}` }, row.outcome), row.code && ` ${row.code}`],
    row.actor ?? row.agent ?? "", row.what,
    Object.entries(row.targets).map(([of, id]) => `${of} ${id}`).join(", "), row.took_ms.toFixed(1)];

  function reach(address) {
    choose(kind, address.get("kind"));
    choose(outcome, address.get("outcome"));
    actor.value = address.get("actor") ?? "";
    return load();
  }

  return {
    element,
    enter: load,
    options: reach,
    leave: () => { turn += 1; follow.checked = false; stop(); },
    keys: { r: { says: "read everything again", run: load } },
  };
}
