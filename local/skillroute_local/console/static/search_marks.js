// Marks of what a request finds, which become judged requests: what is right for it, what is wrong, and what it needs.
import { act } from "./calls.js";
import { fill, h, plural } from "./dom.js";
import { draft, dropDraft, keepDraft } from "./drafts.js";
import { say, showProblem, solved } from "./notices.js";

// Of the file, which outlives the page.
let writing = Promise.resolve(); // one change after the other
let changes = 0; // begun or ended

export const keyOf = (tool) => (tool.server ? `${tool.server}/${tool.name}` : tool.name);

/** The marks of the request that is shown; `answers` are those that show it, `draw` draws them anew. */
export function makeMarks({ answers, draw }) {
  const notWritten = (what, request) => `${what} for “${request}” was not written`;
  let judged = { right: [], wrong: [], none: false, wanted: "any", file: null };
  const verdict = h("div", {});

  function of(tool) {
    const key = keyOf(tool);
    const button = (kind, sign, label) => h("button", {
      type: "button", class: kind, disabled: judged.isWriting, "aria-pressed": String(judged[kind].includes(key)),
      "aria-label": `${label}: ${key}`, title: label, "data-mark": `${kind} ${key}`, onclick: () => mark(kind, key),
    }, sign);
    return h("span", { class: "marks" }, button("right", "✓", "right for the request"), button("wrong", "✗", "wrong for the request"));
  }

  /** Read the marks of a request, with all changes that were begun before they are here. */
  async function read(request) {
    let [seen, file] = [-1, null];
    for (await writing; seen !== changes; await writing) {
      seen = changes;
      file = await act("search/judged", { query: request });
    }
    return judgedOf(request, file);
  }

  function judgedOf(request, file) {
    const needs = file.judged?.needs ?? null;
    const local = draft(`judged/${request}`) ?? {};
    return {
      right: needs ? needs.flat() : [], wrong: file.judged?.wrong ?? local.wrong ?? [],
      none: needs !== null && needs.length === 0, stored: needs !== null, wanted: wantedBy(needs ?? [], judged, request), of: request, file,
    };
  }

  function show(wanted) {
    judged = wanted;
    draw();
    drawVerdict();
  }

  async function mark(kind, key) {
    const has = judged[kind].includes(key);
    await store(`The mark of ${key}`, ({ right, wrong, none, ...marks }) => {
      const others = { right: right.filter((one) => one !== key), wrong: wrong.filter((one) => one !== key) };
      if (!has) others[kind].push(key);
      return { ...marks, ...others, none: none && !others.right.length };
    }, has ? null : { key, outcome: kind === "right" ? "succeeded" : "wrong" });
    if (document.activeElement === document.body) document.querySelector(`[data-mark="${CSS.escape(`${kind} ${key}`)}"]`)?.focus();
  }

  /** Write a change of the marks of the request that is shown; tried again, it changes what is marked by then. */
  function store(what, change, outcome = null) {
    const [request, reported] = [judged.of, outcome ? outcomesOf(outcome) : []];
    const failed = notWritten(what, request);
    const again = () => (writing = writing.catch(() => {}).then(() => write(request, change, reported, failed, again)));
    return again();
  }

  /** What could not be written is not shown as if it were. */
  async function write(request, change, reported, failed, again) {
    const isShown = () => judged.of === request;
    let before = isShown() ? judged : null;
    changes += 1;
    try {
      before ??= judgedOf(request, await act("search/judged", { query: request }));
      const wanted = change(before);
      if (isShown()) show({ ...wanted, isWriting: true });
      let { file } = wanted;
      if (wanted.right.length || wanted.none) file = await act("search/judge", { query: request, right: wanted.right, wrong: wanted.wrong, wanted: wanted.wanted === "divided" ? null : wanted.wanted });
      else if (wanted.stored) file = await act("search/forget", { query: request });
      // Of a request that nothing is known to serve the file has no line: what does not serve it stays here.
      if (wanted.wrong.length && !file.judged) keepDraft(`judged/${request}`, { wrong: wanted.wrong }); else dropDraft(`judged/${request}`);
      solved(failed);
      if (isShown()) show(judgedOf(request, file));
    } catch (error) {
      if (isShown() && before) show(before);
      showProblem(error, failed, again);
      return;
    } finally {
      changes += 1;
    }
    if (reported.length) await report(reported);
  }

  /** A mark as outcomes of the searches that showed the tool, or of all where nothing fits; of none that left no receipt. */
  function outcomesOf({ key, outcome }) {
    return answers().filter((answer) => answer.metadata.search_id).flatMap(({ metadata, tools }) => {
      if (!key) return [{ search_id: metadata.search_id, outcome }];
      return tools.filter((tool) => keyOf(tool) === key).map((tool) => ({ search_id: metadata.search_id, outcome, tool_id: tool.db_id }));
    });
  }

  async function report(outcomes) {
    try {
      await act("search/report", { outcomes });
    } catch (error) {
      showProblem(error, "The mark is in the file, but nothing will be learned from it", () => report(outcomes));
    }
  }

  function drawVerdict() {
    if (!judged.file) return fill(verdict);
    const none = h("button", { type: "button", "aria-pressed": String(judged.none), disabled: judged.isWriting, onclick: () => {
      const wanted = !judged.none;
      const refused = ({ right, wrong }) => ({ right: [], wrong: [...new Set([...wrong, ...right])] });
      store("“No result is right”", (marks) => ({ ...marks, ...(wanted && refused(marks)), none: wanted }), wanted ? { outcome: "nothing_fits" } : null);
    } }, "No result is right");
    const state = judged.isWriting ? "Writing the marks to" : judged.stored ? "This request is in"
      : judged.wrong.length ? "Mark the right results, or that none is right, to write this request to" : "Mark results to write this request to";
    return fill(verdict, h("p", { class: "actions" }, none, h("span", { class: "muted" }, `${state} `, h("span", { class: "code" }, judged.file.name), `: ${plural(judged.file.count, "request")}.`),
      judged.file.count > 0 && h("button", { type: "button", class: "plain", onclick: download }, "Download it")),
    judged.right.length > 1 && several());
  }

  /** What several ticks mean, for the person to say. */
  function several() {
    const all = judged.right.length === 2 ? "both" : `all ${judged.right.length}`;
    const options = [["any", "any of these: one is enough"], ["all", "all of these: each is needed"]];
    if (judged.wanted === "divided") options.push(["divided", `as the file divides them: ${judged.file.judged.needs.map((need) => (need.length > 1 ? `(${need.join(" or ")})` : need[0])).join(" and ")}`]);
    const says = { any: `An answer is right with one of the ${judged.right.length} ticked tools.`, all: `An answer is right with ${all} ticked tools only.`, divided: "A tool that you tick now is added to the first need." };
    return h("fieldset", { disabled: judged.isWriting, class: "ticks" }, h("legend", {}, `The request needs, of the ${judged.right.length} ticked tools`),
      h("p", { class: "actions" }, options.map(([value, label]) => {
        const id = `ticks-${value}`;
        const radio = h("input", { type: "radio", name: "ticks", id, value, checked: judged.wanted === value, onchange: () => store("The choice of needs", (marks) => ({ ...marks, wanted: value })).then(() => { if (document.activeElement === document.body) document.getElementById(id)?.focus(); }) });
        return h("span", { class: "inline" }, radio, h("label", { for: id }, label));
      })),
      h("p", { class: "muted", role: "status" }, says[judged.wanted]));
  }

  async function download() {
    try {
      const { name, text } = await act("search/requests");
      const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
      h("a", { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
      say(`In the folder of ${name}, evaluate with: skillroute eval --queries '${name}'`, { forMs: 15000 });
    } catch (error) {
      showProblem(error, "The requests cannot be read", download);
    }
  }

  return { element: verdict, of, read, show };
}

/** What several ticks mean, by the needs that are stored; one alone says nothing, and what was chosen before stays. */
function wantedBy(needs, before, asked) {
  if (needs.flat().length < 2) return before.of === asked ? before.wanted : "any";
  if (needs.length === 1) return "any";
  return needs.every((need) => need.length === 1) ? "all" : "divided";
}
