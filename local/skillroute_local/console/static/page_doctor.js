// Doctor: what makes tools hard to find, the heaviest first, with what would help, to be mended where it stands.
import { Problem, act, events } from "./calls.js";
import { Mends, mending, more, toolLink } from "./doctor_mending.js";
import { choose, fill, h, plural, progressLine, select, when } from "./dom.js";
import { draft, dropDraft, editorDraft } from "./drafts.js";
import { List, Split } from "./list.js";
import { say, showProblem, solved } from "./notices.js";
import { titleOf } from "./tool_choice.js";

const UNKNOWN = "The catalogue could not be examined";
const UNREAD = "Which findings were dismissed cannot be read";
const SHOWN = 200;
const STATES = [["", "not dismissed"], ["open", "to mend"], ["mended", "mended"], ["dismissed", "dismissed"]];
const words = (code) => code.replaceAll("_", " ");
const subjectOf = (finding) => {
  const names = [...finding.skills, ...finding.tools.map(titleOf), ...finding.agent_skills];
  return names.length > 1 ? `${names[0]} and ${names.length - 1} more` : names[0] ?? "";
};
const reasonFor = (finding) => `dismiss/${finding.id}`; // its draft
const FAILED = {
  dismiss: (finding) => `The finding was not dismissed (${words(finding.code)}, ${subjectOf(finding)})`,
  restore: (finding) => `The finding is still dismissed (${words(finding.code)}, ${subjectOf(finding)})`,
};

// Outlives the page: an examination goes on while others are looked at, and its report stays, with what was mended.
let report = null;
const mends = new Mends(); // one: the finding that stays open writes to it after an examination, too
let dismissed = new Map(); // by the ids of findings
let changes = 0; // of what is dismissed: a reading that was begun before one is older
const writing = new Set(); // the ids of findings whose dismissal, or its end, is under way
let running = null; // { doing, done, total, stop }
let drawn = () => {};
let shownAgain = () => {}; // a finding that was dismissed, or is no longer, on the page that is open
let mended = () => {}; // of the page that is open: what was written may be answered, or taken back, after it was opened anew
document.addEventListener("token", () => { // what another caller may see is no business of this one
  running?.stop();
  running = report = null; // also of what has its report already
  dismissed = new Map();
  changes++;
  drawn();
});

const stateOf = (finding) => (dismissed.has(finding.id) ? "dismissed" : mends.isMended(finding) ? "mended" : "open");

/** Take over one change: the answers of several may come in another order than they were written, with all as it was then. */
function know(finding, rows) {
  const row = rows.find(({ id }) => id === finding.id);
  if (row) dismissed.set(finding.id, row); else dismissed.delete(finding.id);
  changes++;
}

async function readDismissed() {
  const before = changes;
  try {
    const rows = await act("doctor/dismissed");
    if (before === changes) {
      dismissed = new Map(rows.map((row) => [row.id, row]));
      solved(UNREAD);
    }
  } catch (error) {
    if (before === changes) showProblem(error, UNREAD, () => readDismissed().then(() => drawn()));
  }
  if (before !== changes) await readDismissed();
}

async function examine(search) {
  const controller = new AbortController();
  const mine = { doing: "beginning", done: 0, total: null, stop: () => controller.abort() };
  running?.stop();
  running = mine;
  mends.begin();
  drawn();
  try {
    for await (const event of events("doctor/examine", { search }, { signal: controller.signal })) {
      if (running !== mine) return;
      if (event.report) {
        await readDismissed();
        if (running !== mine) return;
        solved(UNKNOWN);
        report = { ...event.report, at: new Date() };
        mends.renew();
      } else Object.assign(mine, event);
      mine.ended = "report" in event;
      drawn();
    }
    if (!mine.ended) throw new Problem(0, { detail: "the examination ended before its report" });
  } catch (error) {
    if (running === mine) showProblem(error, UNKNOWN, () => { examine(search); }); // long: nothing waits for it
  } finally {
    if (running === mine) running = null;
    drawn();
  }
}

export function make({ options, remember }) {
  const list = new List({
    label: "Findings", key: (finding) => finding.id,
    row: (finding) => [
      h("span", { class: "num" }, finding.weight), h("span", {}, words(finding.code)),
      h("span", { class: "code" }, subjectOf(finding)), h("span", { class: "muted" }, mark(finding), finding.reason)],
    chosen: show, open: () => split.open(), none: () => { split.of = null; split.show(); },
  });
  list.element.classList.add("finding-row");
  const split = new Split(list, "The finding");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter findings",
    placeholder: "Filter by tool, server, skill or reason", value: options.get("filter") ?? "", oninput: () => filter({ first: true }) });
  list.openedFrom(search);
  const code = select([["", "all kinds"]], "", () => { options.delete("code"); filter({ first: true }); });
  code.setAttribute("aria-label", "Kind");
  const state = select(STATES, options.get("state"), () => filter({ first: true }));
  state.setAttribute("aria-label", "State");
  const deep = h("input", { type: "checkbox", checked: true, id: "doctor-search" });
  const button = h("button", { type: "button", class: "main", onclick: toggle });
  const count = h("span", { class: "count" });
  const says = h("div", {});
  let progress = null; // stays in its place while it moves on, or a reader of screens would begin anew
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, code, state,
      h("span", { class: "inline" }, deep, h("label", { for: deep.id }, "search for each tool")), button, count),
    says, split.element);

  function mark(finding) {
    const is = stateOf(finding);
    return is !== "open" && [h("span", { class: is === "mended" ? "state ok" : "state so" }, is === "mended" ? "✓ mended" : "– dismissed"), " "];
  }

  function toggle() {
    if (running) running.stop();
    else examine(deep.checked);
  }

  function draw() {
    fill(button, running ? "Stop " : "Examine ", h("kbd", {}, "r"));
    drawProgress();
    code.disabled = state.disabled = search.disabled = report === null;
    if (report === null) {
      list.expect(undefined);
      list.show([], running ? "The findings come at the end." : [
        h("p", {}, "The doctor looks for problems that make tools hard to find: empty, similar and overlong descriptions, uninformative names, near-duplicates, gaps in skills. It changes nothing itself: each finding says what would help, with the fields to do it."),
        h("p", {}, "Searching for each tool by its own description takes a minute for a thousand tools, and lists the tools that no search finds."),
      ]);
      split.show();
      fill(count);
      return;
    }
    const chosen = code.value || options.get("code") || "";
    fill(code, h("option", { value: "" }, "all kinds"), Object.entries(report.counts).filter(([, found]) => found)
      .map(([name, found]) => h("option", { value: name }, `${words(name)} (${found})`)));
    code.value = report.counts[chosen] ? chosen : "";
    filter();
  }

  function drawProgress() {
    if (!running) {
      progress = null;
      fill(says, report && summary());
      return;
    }
    if (!progress) {
      progress = progressLine("Examined");
      fill(says, progress.element);
    }
    progress.show(running);
  }

  function summary() {
    const { checked, findings, not_asked: notAsked, at } = report;
    const counted = (wanted) => findings.filter((finding) => stateOf(finding) === wanted).length;
    const done = [["mended", counted("mended")], ["dismissed", counted("dismissed")]].filter(([, number]) => number)
      .map(([name, number]) => `, ${number} ${name}`).join("");
    const searches = checked.searches ? `${plural(checked.searches, "tool")} searched for` : "no searches";
    return [
      h("p", { class: "muted", role: "status" }, `${plural(findings.length, "finding")} in ${plural(checked.tools, "tool")} and ${plural(checked.skills, "skill")}, ${searches}, at ${at.toTimeString().slice(0, 5)}${done}.`),
      notAsked.length > 0 && h("details", { class: "note" }, h("summary", {}, `${plural(notAsked.length, "tool")} could not be searched for: their findability is unknown.`),
        h("ul", { class: "plain" }, notAsked.slice(0, SHOWN).map((tool) => h("li", {}, toolLink(tool), `: ${tool.reason}`)), more(notAsked)))];
  }

  function filter(how) {
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (found) => [words(found.code), found.reason, ...found.skills, ...found.agent_skills, ...found.tools.map(titleOf)]
      .join(" ").toLowerCase();
    const fits = (found) => { const is = stateOf(found); return state.value ? is === state.value : is !== "dismissed"; };
    // Where a person types, the finding stays open though it is mended by now: the next letters are not meant for another.
    const rows = report.findings.filter((found) => (isTyping() && found.id === list.current?.id && !dismissed.has(found.id))
      || ((!code.value || found.code === code.value) && fits(found) && given.every((word) => text(found).includes(word))));
    const wanted = options.get("finding");
    options.delete("finding");
    if (wanted && rows.some((row) => row.id === wanted)) list.expect(wanted);
    list.show(rows, report.findings.length ? "No finding matches the filter." : "No problem was found.", how);
    fill(count, rows.length === report.findings.length ? plural(rows.length, "finding") : `${rows.length} of ${plural(report.findings.length, "finding")}`);
    if (wanted && list.current?.id === wanted) show(list.current);
    else if (!list.current && !list.choose(0)) split.show();
    recall();
  }

  const isTyping = () => split.detail.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");

  const recall = () => remember("doctor", { filter: search.value, code: code.value, state: state.value, finding: list.current?.id });

  function changed(finding, isShown) {
    if (!report) return;
    if (!running) fill(says, summary());
    filter();
    if (!isShown && list.current?.id === finding.id && !isTyping()) show(list.current); // it was closed and opened again since
  }

  function show(finding) {
    const isFocused = split.detail.contains(document.activeElement);
    const is = dismissed.get(finding.id);
    split.of = finding.id;
    split.show(
      h("h2", {}, words(finding.code)),
      h("p", { class: "muted" }, `severity ${finding.weight} of 100`),
      h("p", { class: "lead" }, finding.reason),
      h("h3", {}, "How to fix it"), h("p", { class: "lead" }, finding.help),
      mending(finding, mends, (isShown) => mended(finding, isShown)),
      h("h3", {}, "Not a problem here?"), is ? takingBack(finding, is) : dismissing(finding));
    if (isFocused && !split.detail.contains(document.activeElement)) split.detail.focus();
    recall();
  }

  function dismissing(finding) {
    const reason = h("input", { "aria-label": "Reason", placeholder: "why, if you like", maxlength: "1000" });
    editorDraft(reasonFor(finding), { reason }, { reason: "" });
    return h("form", { class: "actions", onsubmit: (event) => { event.preventDefault(); dismiss(finding); } }, reason,
      h("button", { type: "submit" }, "Dismiss ", h("kbd", {}, "x")),
      h("small", {}, "It comes back once the texts that it is about have changed."));
  }

  function takingBack(finding, { reason, at }) {
    return h("div", {}, h("p", {}, "Dismissed ", when(at), reason ? `: ${reason}` : ", without a reason."),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => restore(finding) }, "Take it back")));
  }

  /** Dismiss a finding, with the reason that is typed by then where none is given. */
  async function dismiss(finding, given) {
    if (writing.has(finding.id)) return;
    writing.add(finding.id);
    const of = reasonFor(finding);
    const reason = given ?? draft(of)?.texts.reason ?? "";
    try {
      know(finding, await act("doctor/dismiss", { finding: finding.id, code: finding.code, about: subjectOf(finding).slice(0, 600), reason }));
      if (draft(of)?.texts.reason === reason) dropDraft(of);
      solved(FAILED.dismiss(finding));
      say(`Dismissed: ${words(finding.code)}, ${subjectOf(finding)}`, { action: "Undo", run: () => restore(finding), forMs: 10000 });
      shownAgain(finding);
    } catch (error) {
      showProblem(error, FAILED.dismiss(finding), () => dismiss(finding, given));
    } finally {
      writing.delete(finding.id);
    }
  }

  async function restore(finding) {
    if (writing.has(finding.id)) return;
    writing.add(finding.id);
    const { reason } = dismissed.get(finding.id) ?? {};
    try {
      know(finding, await act("doctor/restore", { finding: finding.id }));
      solved(FAILED.restore(finding));
      say(`Taken back: ${words(finding.code)}, ${subjectOf(finding)}`, { action: "Undo", run: () => dismiss(finding, reason), forMs: 10000 });
      shownAgain(finding);
    } catch (error) {
      showProblem(error, FAILED.restore(finding), () => restore(finding));
    } finally {
      writing.delete(finding.id);
    }
  }

  function again(finding) {
    drawn();
    if (list.current?.id === finding.id) show(list.current);
  }

  function dismissHere() {
    const finding = list.current;
    if (finding && !dismissed.has(finding.id)) dismiss(finding);
  }

  [drawn, mended, shownAgain] = [draw, changed, again];
  return {
    element, enter: draw, leave: () => { drawn = mended = shownAgain = () => {}; }, list: () => list, escape: () => split.close(),
    options: (address) => {
      options = address;
      choose(code, address.get("code"));
      choose(state, address.get("state"));
      search.value = address.get("filter") ?? "";
      draw();
    },
    keys: {
      r: { says: "examine the catalogue, or stop", run: toggle },
      x: { says: "dismiss the finding", run: dismissHere, isOnce: true },
    },
  };
}
