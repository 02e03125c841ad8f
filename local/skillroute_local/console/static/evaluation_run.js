// Asking all judged requests: how far it is, the scorecard, what failed, what changed, and the runs before.
import { Problem, act, events } from "./calls.js";
import { fill, h, plural, progressLine, select, when } from "./dom.js";
import { inWords, searchFor } from "./evaluation_editor.js";
import { showProblem, solved } from "./notices.js";

const SHARES = ["recall@1", "recall@5", "ndcg@5", "comp@5", "no_match"];
const LOW = new Set(["empty", "refused"]); // the lower the better
const FAILED = "The requests could not be evaluated";
const share = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

// Outlives the page: a run goes on while others are looked at, and what came of it stays.
let outcome = null;
let running = null; // { doing, done, total, stop }
let drawn = () => {};
let kept = () => {};
let count = 0; // of the runs that have ended
document.addEventListener("token", () => { // what another caller may see is no business of this one
  running?.stop();
  running = outcome = null; // what was sent before it was stopped is not taken either
  drawn();
});

/** How many runs have ended: a list of runs that was asked for before one has not got it. */
export const runsEnded = () => count;

/** The requests of the last run that failed, by their text; null before one. */
export const failedNow = () => outcome && new Set(outcome.failed.map((row) => row.query));

async function run(settings, floors) {
  const controller = new AbortController();
  const mine = { doing: "beginning", done: 0, total: null, stop: () => controller.abort() };
  running?.stop();
  running = mine;
  solved(FAILED);
  drawn();
  try {
    for await (const event of events("evaluation/run", { settings, floors }, { signal: controller.signal })) {
      if (running !== mine) return;
      if (event.report) {
        outcome = event;
        count += 1;
        kept(event.history);
        mine.ended = true;
      } else Object.assign(mine, event);
      drawn();
    }
    if (!mine.ended) throw new Problem(0, { detail: "the run ended before its scorecard" });
  } catch (error) {
    if (running === mine) showProblem(error, FAILED, () => { run(settings, floors); }); // long: nothing waits for it
  } finally {
    if (running === mine) running = null;
    drawn();
  }
}

/** Return the panel of runs; `open` shows a request, `ended` is called with each change. */
export function runPanel({ open, ended }) {
  let history = [];
  const mode = select([["", "the default"], "semantic", "lexical", "hybrid"], "");
  const strategy = select([["", "the default"], "hierarchical", "direct"], "");
  const floor = h("input", { type: "number", min: "0", max: "1", step: "0.01", class: "short", placeholder: "0.80" });
  const button = h("button", { type: "button", class: "main", onclick: () => toggle() });
  const state = h("div", {});
  const shown = h("div", {});
  const labelled = (text, control) => h("label", { class: "inline" }, text, control);
  const element = h("div", { class: "scroll" },
    h("div", { class: "tools" }, labelled("Mode", mode), labelled("Strategy", strategy), labelled("recall@5 at least", floor), button),
    state, shown);
  let progress = null;
  act("health/state").then(({ modes }) => {
    for (const more of modes) if (![...mode.options].some((option) => option.value === more)) mode.append(h("option", { value: more }, more));
    for (const option of [...mode.options]) if (option.value && !modes.includes(option.value)) option.remove();
  }).catch(() => {}); // then the service says which there are

  function toggle() {
    if (running) running.stop();
    else run({ mode: mode.value, strategy: strategy.value }, floor.value ? [`recall@5=${floor.value}`] : []);
  }

  function draw() {
    fill(button, running ? "Stop " : "Run ", h("kbd", {}, "r"));
    drawProgress();
    fill(shown, outcome && [scorecard(outcome), changes(outcome), failed(outcome)], table(history));
    ended();
  }

  function drawProgress() {
    if (!running) {
      progress = null;
      fill(state, outcome && says(outcome));
      return;
    }
    if (!progress) {
      progress = progressLine("Evaluated");
      fill(state, progress.element);
    }
    progress.show(running);
  }

  function says({ report, gate, not_kept: notKept }) {
    const { requests, answerable, tools, left_out: leftOut, unknown_tools: unknown, degraded } = report;
    const names = Object.entries(unknown);
    return [
      h("p", { role: "status" }, h("span", { class: gate.length ? "state no" : "state ok" }, gate.length ? "✗ Not good enough: " : "✓ Good enough: "),
        gate.join("; ") || "no measure is below its floor, or below the run before"),
      h("p", { class: "muted" }, `${plural(requests, "request")}, ${requests - answerable} of them for nothing that is there; ${plural(tools, "tool")}.`),
      leftOut > 0 && h("p", { class: "note" }, `${plural(leftOut, "request")} left out: nothing that serves them is in the catalogue.`),
      names.length > 0 && h("details", { class: "note" }, h("summary", {}, `${plural(names.length, "name")} of tools that mean none`),
        h("ul", { class: "plain" }, names.map(([name, why]) => h("li", {}, h("span", { class: "code" }, name), `: ${why}`)))),
      Object.entries(degraded).map(([why, count]) => h("p", { class: "note" }, `${plural(count, "search")} degraded: ${why}`)),
      notKept && h("p", { class: "note" }, notKept)];
  }

  function scorecard({ report, says: what, changes: changed }) {
    const gained = (name) => changed?.differences[name];
    return [h("h2", {}, "Scorecard"), sideways("Scorecard", h("table", {},
      head("Measure", "", ...(changed ? ["Difference", "95 % interval"] : []), "Share of"),
      h("tbody", {}, Object.entries(report.measures).map(([name, value]) => h("tr", {},
        h("td", { class: "name" }, name), h("td", { class: "num" }, share(value)),
        changed && [h("td", { class: "num" }, gained(name) ? moved(gained(name).mean, LOW.has(name)) : "–"),
          h("td", { class: "num" }, gained(name) ? `${signed(gained(name).low)} to ${signed(gained(name).high)}` : "–")],
        h("td", {}, what[name])))))),
    h("p", { class: "muted" }, `A search took ${report.latency_ms.p50} ms (median), ${report.latency_ms.p95} ms (95th percentile).`,
      changed && " An interval that holds 0 shows no difference.")];
  }

  function changes({ changes: changed }) {
    if (!changed) return null;
    const { found, lost, compared, against } = changed;
    const listed = (title, mark, queries) => [h("h3", {}, h("span", { class: `state ${mark === "+" ? "ok" : "no"}` }, `${mark} `), `${title}: ${queries.length}`),
      queries.length > 0 && h("ul", { class: "plain" }, queries.map((query) => h("li", {}, h("a", { href: searchFor(query) }, query))))];
    return [h("h2", {}, "What changed"), h("p", { class: "muted" }, `${plural(compared, "request")} of this run and of that of `, when(against.at), ` (${settingsOf(against)}).`),
      listed("Newly found", "+", found), listed("Newly lost", "−", lost)];
  }

  function failed({ failed: rows, failed_in_all: all }) {
    if (!rows.length) return h("p", {}, "Every request was served by its first five results.");
    return [h("h2", {}, `Not served by the first five: ${all}`), h("table", {}, head("Request", "Expected", "Came instead"),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("td", {}, h("a", { href: searchFor(row.query) }, row.query), " ",
          h("button", { type: "button", class: "plain", "aria-label": `Edit ${row.query}`, onclick: () => open(row.query) }, "Edit")),
        h("td", { class: "name" }, row.needs.length ? inWords(row.needs) : "nothing"), h("td", { class: "name" }, row.came.join(", ") || "nothing"))))),
    all > rows.length && h("p", { class: "muted" }, `and ${all - rows.length} more: \`skillroute eval --worst ${all}\` shows all`)];
  }

  drawn = draw;
  kept = (runs) => { history = runs; };
  return {
    element, toggle, draw,
    setHistory: (runs) => { history = runs; draw(); },
    leave: () => { drawn = () => {}; kept = () => {}; },
  };
}

const head = (...names) => h("thead", {}, h("tr", {}, names.map((name) => h("th", {}, name || h("span", { class: "spoken" }, "Value")))));
const sideways = (label, table) => h("div", { class: "sideways", role: "region", tabindex: "0", "aria-label": label }, table);
const settingsOf = ({ settings }) => Object.entries(settings).map(([name, value]) => `${name} ${value}`).join(", ") || "default settings";

function moved(by, isLow) {
  if (!by) return "±0";
  const isBetter = by > 0 !== isLow;
  return h("span", { class: isBetter ? "state ok" : "state no" }, `${signed(by)} ${isBetter ? "better" : "worse"}`);
}

/** The runs, the newest first, each with the difference to the one before. */
function table(history) {
  if (!history.length) return [h("h2", {}, "Runs"), h("p", { class: "muted" }, "No run yet. Each is kept here with its scores, the newest hundred.")];
  const cell = (name, line, before) => {
    const [value, old] = [line.measures[name], before?.measures[name]];
    const isBoth = typeof value === "number" && typeof old === "number";
    return h("td", { class: "num" }, share(value), isBoth && value !== old && [" ", h("small", {}, signed(value - old))]);
  };
  return [h("h2", {}, "Runs"), sideways("Runs", h("table", {},
    head("When", ...SHARES, "Requests", "Settings", "Tools", "Version"),
    h("tbody", {}, history.map((line, at) => h("tr", {}, h("td", {}, when(line.at)), SHARES.map((name) => cell(name, line, history[at + 1])),
      h("td", {}, `${line.requests} `, h("small", { class: "code", title: "digest of the requests" }, line.digest)), h("td", {}, settingsOf(line)),
      h("td", { class: "num" }, line.tools.toLocaleString("en")), h("td", {}, line.version)))))),
  h("p", { class: "muted" }, "Behind a score is the difference to the run before. Where the digest is another, other requests were asked.")];
}
