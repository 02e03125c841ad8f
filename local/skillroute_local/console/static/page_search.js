// Search: what a request finds and why, two settings side by side, and marks that become judged requests.
import { act } from "./calls.js";
import { skillChip } from "./colours.js";
import { field, fill, h, plural, select } from "./dom.js";
import { draft, dropDraft, keepDraft } from "./drafts.js";
import { PARTS, PART_NAMES, figures, inWords, parts } from "./explanation.js";
import { say, showProblem, solved } from "./notices.js";

const MODES = [["", "the default"], "semantic", "lexical", "hybrid"];
const STRATEGIES = [["", "the default"], "hierarchical", "direct", "hybrid"];
const STAGES = [
  ["index_sync_time_ms", "index"], ["query_embedding_time_ms", "embedding"], ["skill_search_time_ms", "skills"],
  ["tool_search_time_ms", "tools"], ["schema_load_time_ms", "schemas"],
];
const LABELS = { mode: "Mode", strategy: "Strategy", limit: "Results", tool_threshold: "Minimum cosine similarity, tools", skill_threshold: "Minimum cosine similarity, skills", server: "Server" };
const FAILED = "The search failed";
const SKILLS_SHOWN = 4;
const FALLBACKS = {
  no_skill_matched: "no skill matched, so all tools were searched", no_skills: "there are no skills, so all tools were searched",
  skill_search_failed: "the search of skills failed, so all tools were searched",
  skill_search_timeout: "the search of skills took too long, so all tools were searched",
};
const FITS = { likely: ["ok", "The results likely serve the request"], unsure: ["so", "The results may not serve the request"], unlikely: ["no", "No result seems to serve the request"] };
const keyOf = (tool) => (tool.server ? `${tool.server}/${tool.name}` : tool.name);

export function make({ options, remember }) {
  const kept = draft("search") ?? {};
  const query = h("input", {
    type: "search", maxlength: 1000, "aria-label": "Request", "data-first": true, required: true,
    placeholder: "What is needed, in plain words", value: options.get("q") ?? kept.query ?? "",
  });
  const settings = [settingsOf("A", kept.a), settingsOf("B", kept.b)];
  let comparing = Boolean(kept.comparing);
  let answers = []; // of A and of B
  let asked = ""; // of the answers that are shown
  let sent = ""; // the request that was sent last, unless it failed
  let judged = { right: [], wrong: [], none: false, wanted: "any", file: null };
  let areOffered = false;
  let turn = 0;
  let writing = Promise.resolve(); // of marks: one change after the other
  let changes = 0; // of marks, begun or ended

  query.addEventListener("input", () => keep());
  const compare = h("button", { type: "button", "aria-pressed": String(comparing), onclick: () => setComparing(!comparing) }, "Compare two settings ", h("kbd", {}, "c"));
  const rows = h("div", { class: "compare" });
  const verdict = h("div", {});
  const results = h("div", { class: "compare", "aria-live": "off" });
  const status = h("p", { class: "muted", role: "status" });
  const form = h("form", { class: "tools", onsubmit: (event) => { event.preventDefault(); run(); } },
    query, h("button", { type: "submit", class: "main" }, "Search"), compare);
  const chosen = h("span", { class: "chips" });
  // Results come first where there is little room: there the settings are opened by who wants them.
  const folded = h("details", { class: "settings", open: !matchMedia("(max-width: 1000px)").matches },
    h("summary", {}, "Settings ", chosen), rows);
  const element = h("div", { class: "scroll stack", tabindex: "-1" }, form, folded, status, verdict, results);

  function settingsOf(name, values = {}) {
    const number = (label, max) => h("input", { type: "number", min: 0, max, step: max === 1 ? 0.05 : 1, class: "short", placeholder: max === 50 ? "10" : "", value: values[label] ?? "" });
    const fields = {
      mode: select(MODES, values.mode), strategy: select(STRATEGIES, values.strategy),
      limit: number("limit", 50), tool_threshold: number("tool_threshold", 1), skill_threshold: number("skill_threshold", 1),
      server: h("input", { value: values.server ?? "", placeholder: "all", spellcheck: "false" }),
    };
    const element = h("fieldset", {}, h("legend", {}, `Settings ${name}`),
      h("div", { class: "fields" }, Object.entries(fields).map(([key, input]) => field(LABELS[key], input))));
    const values_ = () => Object.fromEntries(Object.entries(fields).map(([key, input]) => [key, input.value.trim()]));
    let isModeChosen = false; // by hand, since the page was opened
    fields.mode.addEventListener("input", () => { isModeChosen = true; });
    for (const input of Object.values(fields)) {
      input.addEventListener("input", () => keep());
      input.addEventListener("change", () => { if (asked) run(); });
    }
    return {
      element, values: values_,
      offer: (modes, chosen) => {
        const offered = new Set([...fields.mode.options].map((option) => option.value));
        for (const mode of modes) if (!offered.has(mode)) fields.mode.append(h("option", { value: mode }, mode));
        if (chosen && !isModeChosen && modes.includes(chosen)) fields.mode.value = chosen;
      },
      request: () => {
        const { limit, tool_threshold, skill_threshold, server, ...words } = values_();
        const figures = Object.fromEntries(Object.entries({ limit, tool_threshold, skill_threshold })
          .filter(([, value]) => value !== "").map(([key, value]) => [key, Number(value)]));
        const servers = server.split(",").map((name) => name.trim()).filter(Boolean);
        return { limit: 10, ...words, ...figures, ...(servers.length ? { server: servers } : {}) };
      },
    };
  }

  /** Offer the modes that this deployment has: only the service knows whether a reranker is configured. */
  async function offerModes() {
    const { modes } = await act("health/state");
    settings.forEach((setting, place) => setting.offer(modes, (place ? kept.b : kept.a)?.mode));
    areOffered = true;
  }
  offerModes().catch(() => {}); // a service that is away says so at the first search

  function keep() {
    keepDraft("search", { query: query.value, comparing, a: settings[0].values(), b: settings[1].values() });
    drawChosen();
  }

  /** Say what of the settings is not the default, also while they are folded. */
  function drawChosen() {
    const used = settings.slice(0, comparing ? 2 : 1).flatMap((one, at) =>
      Object.entries(one.values()).filter(([, value]) => value).map(([name, value]) => `${comparing ? `${"AB"[at]} ` : ""}${LABELS[name].toLowerCase()}: ${value}`));
    fill(chosen, used.length ? used.map((text) => h("span", { class: "chip" }, text)) : h("span", { class: "muted" }, "all default"));
  }

  function setComparing(value) {
    comparing = value;
    compare.setAttribute("aria-pressed", String(value));
    if (value) folded.open = true;
    keep();
    fill(rows, settings.slice(0, value ? 2 : 1).map((one) => one.element));
    settings[0].element.firstChild.classList.toggle("spoken", !value); // one alone needs no letter
    if (asked) run();
  }

  async function run() {
    if (!query.value.trim()) return query.focus();
    const mine = ++turn;
    const request = query.value.trim();
    let seen = changes;
    sent = request;
    keep();
    remember("search", { q: request });
    fill(status, "Searching …");
    try {
      const used = settings.slice(0, comparing ? 2 : 1);
      let [found, file] = await Promise.all([
        Promise.all(used.map((one) => act("search/run", { request: { query: request, ...one.request() } }))),
        act("search/judged", { query: request })]);
      for (await writing; seen !== changes && mine === turn; await writing) { // else it is older than marks that were written
        seen = changes;
        file = await act("search/judged", { query: request });
      }
      if (mine !== turn) return undefined;
      [answers, asked] = [found, request];
      solved(FAILED);
      if (!areOffered) offerModes().catch(() => {});
      judged = judgedOf(request, file);
      draw();
    } catch (error) {
      if (mine !== turn) return undefined;
      sent = "";
      fill(status, asked ? `Below is still what was found for “${asked}”.` : "");
      showProblem(error, FAILED, run);
    }
    return undefined;
  }

  function draw() {
    fill(status, answers.length === 2 ? movedText() : "");
    results.dataset.asked = asked;
    fill(results, answers.map((answer, at) => column(answer, at)));
    drawVerdict();
  }

  function movedText() {
    const [a, b] = answers.map((answer) => answer.tools.map(keyOf));
    const stayed = a.filter((key, at) => b[at] === key).length;
    const only = (list, other) => list.filter((key) => !other.includes(key)).length;
    return `${stayed} in the same place, ${a.filter((key, at) => b.includes(key) && b[at] !== key).length} moved, ${only(a, b)} only in A, ${only(b, a)} only in B`;
  }

  function column(answer, at) {
    const other = answers.length === 2 ? answers[1 - at].tools.map(keyOf) : null;
    return h("section", { "aria-label": answers.length === 2 ? `Results of settings ${"AB"[at]}` : "Results" },
      about(answer, answers.length === 2 ? "AB"[at] : ""),
      answer.tools.length ? h("ol", { class: "hits" }, answer.tools.map((tool, rank) => hit(tool, rank, other, at)))
        : h("div", { class: "empty" }, h("p", {}, "Nothing was found."),
          h("p", {}, "Lower the minimum cosine similarity, remove the server filter, or try the mode lexical; then check on the page Catalogue that a tool for it exists.")));
  }

  function about({ metadata, matched_skills: matched, unknown_servers: unknown }, name) {
    const total = metadata.total_time_ms;
    const stages = STAGES.map(([key, label], at) => ({ label, ms: metadata[key] ?? 0, at: at + 1 })).filter((stage) => stage.ms > 0);
    const strip = h("div", { class: "stages", role: "img", "aria-label": `Time: ${stages.map((s) => `${s.label} ${s.ms.toFixed(1)} ms`).join(", ")}` },
      stages.map((stage) => { const part = h("span", { class: `p${stage.at}` }); part.style.width = `${(100 * stage.ms) / Math.max(total, 0.001)}%`; return part; }));
    const confidence = metadata.confidence ?? null;
    const [state, fits] = FITS[metadata.fit] ?? ["off", plural(metadata.stage2_candidate_count, "candidate")];
    return h("div", { class: "found" },
      h("p", { class: "actions" }, name && h("strong", {}, `${name}:`), h("span", { class: `state ${state}` }, fits),
        h("span", { class: "muted" }, confidence !== null && `confidence ${confidence.toFixed(2)}, `, `${total.toFixed(1)} ms`), h("a", { href: `#/map?q=${encodeURIComponent(asked)}` }, "On the map")),
      h("details", {}, h("summary", {}, `${metadata.search_mode}, ${metadata.strategy_used}, ${plural(metadata.stage2_candidate_count, "candidate")}`),
        strip, h("p", { class: "legend" }, "Time: ", stages.map((stage) => h("span", {}, h("i", { class: `p${stage.at}` }), `${stage.label} ${stage.ms.toFixed(1)} ms`))),
        h("p", { class: "legend" }, "Score: ", PART_NAMES.map(([part, label]) => h("span", {}, h("i", { class: `p${PARTS[part]}` }), label)))),
      metadata.no_match && h("p", { class: "note" }, "no_match: no result seems to fit; these are the nearest."),
      metadata.fallback_reason && h("p", { class: "note" }, FALLBACKS[metadata.fallback_reason] ?? metadata.fallback_reason),
      metadata.degraded.length > 0 && h("p", { class: "note" }, `Reduced quality: ${metadata.degraded.join(", ").replaceAll("_", " ")}. See the page Health.`),
      unknown?.length > 0 && h("p", { class: "note" }, `No items from these servers: ${unknown.join(", ")}`),
      h("p", { class: "chips" }, h("span", { class: "muted" }, "Skills matched:"),
        matched.length ? matched.slice(0, SKILLS_SHOWN).map((skill) => skillChip(skill.id, { text: `${skill.name} ${skill.score.toFixed(2)}` })) : h("span", { class: "muted" }, "none"),
        matched.length > SKILLS_SHOWN && h("span", { class: "muted" }, `and ${matched.length - SKILLS_SHOWN} more`)));
  }

  function hit(tool, rank, other, side) {
    const before = other ? other.indexOf(keyOf(tool)) : null;
    return h("li", { class: "hit" },
      h("span", { class: "rank" }, rank + 1),
      h("div", { class: "title" },
        h("a", { class: "code", href: `#/catalogue?tool=${tool.db_id}` }, tool.name), h("span", { class: "muted" }, tool.server ?? "no server"),
        other && moved(rank, before, side), tool.type !== "tool" && h("span", { class: "chip" }, tool.type)),
      marks(tool),
      h("p", { class: "text" }, tool.description),
      h("div", { class: "rest" }, h("span", { class: "score" }, parts(tool), h("strong", {}, tool.score.toFixed(3))),
        h("span", { class: "chips" }, tool.skill_ids.map((id) => skillChip(id, { isPrimary: id === tool.primary_skill_id })))),
      h("p", { class: "why" }, inWords(tool).join("; ")),
      h("details", {}, h("summary", {}, "Figures and arguments"), figures(tool.explain), schema(tool.input_schema)));
  }

  function moved(rank, before, side) {
    const there = side === 0 ? "B" : "A";
    if (before < 0) return h("span", { class: "moved new" }, `not in ${there}`);
    // Movements are those from A to B, and stand there; A says only where to look.
    if (side === 0 || before === rank) return h("span", { class: "moved muted" }, `place ${before + 1} in ${there}`);
    const up = before > rank;
    return h("span", { class: `moved ${up ? "up" : "down"}` }, `${up ? "▲" : "▼"} ${Math.abs(before - rank)}, from place ${before + 1} in A`);
  }

  function marks(tool) {
    const key = keyOf(tool);
    const button = (kind, sign, label) => h("button", {
      type: "button", class: kind, disabled: judged.isWriting, "aria-pressed": String(judged[kind].includes(key)),
      "aria-label": `${label}: ${key}`, title: label, "data-mark": `${kind} ${key}`, onclick: () => mark(kind, key),
    }, sign);
    return h("span", { class: "marks" }, button("right", "✓", "right for the request"), button("wrong", "✗", "wrong for the request"));
  }

  function judgedOf(request, file) {
    const needs = file.judged?.needs ?? null;
    const local = draft(`judged/${request}`) ?? {};
    return {
      right: needs ? needs.flat() : [], wrong: file.judged?.wrong ?? local.wrong ?? [],
      none: needs !== null && needs.length === 0, stored: needs !== null, wanted: wantedBy(needs ?? [], judged, request), of: request, file,
    };
  }

  async function mark(kind, key) {
    const has = judged[kind].includes(key);
    await store(({ right, wrong, none, ...marks }) => {
      const others = { right: right.filter((one) => one !== key), wrong: wrong.filter((one) => one !== key) };
      if (!has) others[kind].push(key);
      return { ...marks, ...others, none: none && !others.right.length };
    }, has ? null : { key, outcome: kind === "right" ? "succeeded" : "wrong" });
    if (document.activeElement === document.body) document.querySelector(`[data-mark="${CSS.escape(`${kind} ${key}`)}"]`)?.focus();
  }

  /** Write a change of the marks of the request that is shown; tried again, it changes what is marked by then. */
  function store(change, outcome = null) {
    const [request, reported] = [judged.of, outcome ? outcomesOf(outcome) : []];
    const again = () => (writing = writing.then(() => write(request, change, reported, again)));
    return again();
  }

  /** What could not be written is not shown as if it were. */
  async function write(request, change, reported, again) {
    const isShown = () => judged.of === request;
    let before = isShown() ? judged : null;
    changes += 1;
    try {
      before ??= judgedOf(request, await act("search/judged", { query: request }));
      const wanted = change(before);
      if (isShown()) { judged = { ...wanted, isWriting: true }; draw(); }
      let { file } = wanted;
      if (wanted.right.length || wanted.none) file = await act("search/judge", { query: request, right: wanted.right, wrong: wanted.wrong, wanted: wanted.wanted === "divided" ? null : wanted.wanted });
      else if (wanted.stored) file = await act("search/forget", { query: request });
      // Of a request that nothing is known to serve the file has no line: what does not serve it stays here.
      if (wanted.wrong.length && !file.judged) keepDraft(`judged/${request}`, { wrong: wanted.wrong }); else dropDraft(`judged/${request}`);
      if (isShown()) { judged = judgedOf(request, file); draw(); }
    } catch (error) {
      if (isShown() && before) { judged = before; draw(); }
      showProblem(error, `The mark of “${request}” was not written`, again);
      return;
    } finally {
      changes += 1;
    }
    if (reported.length) await report(reported);
  }

  /** A mark as outcomes of the searches that showed the tool, or of all where nothing fits; of none that left no receipt. */
  function outcomesOf({ key, outcome }) {
    return answers.filter((answer) => answer.metadata.search_id).flatMap(({ metadata, tools }) => {
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
      store((marks) => ({ ...marks, ...(wanted && refused(marks)), none: wanted }), wanted ? { outcome: "nothing_fits" } : null);
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
        const radio = h("input", { type: "radio", name: "ticks", id, value, checked: judged.wanted === value, onchange: () => store((marks) => ({ ...marks, wanted: value })).then(() => document.getElementById(id)?.focus()) });
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

  setComparing(comparing);
  fill(verdict);
  return {
    element,
    enter: () => (query.value ? run() : query.focus()),
    options: (more) => { if (more.get("q") && more.get("q") !== sent) { query.value = more.get("q"); run(); } },
    leave: () => { turn += 1; keep(); },
    keys: { c: { says: "compare two settings", run: () => setComparing(!comparing) } },
  };
}

/** What several ticks mean, by the needs that are stored; one alone says nothing, and what was chosen before stays. */
function wantedBy(needs, before, asked) {
  if (needs.flat().length < 2) return before.of === asked ? before.wanted : "any";
  if (needs.length === 1) return "any";
  return needs.every((need) => need.length === 1) ? "all" : "divided";
}

function schema(value) {
  return value ? h("pre", { tabindex: "0", role: "group", "aria-label": "Input schema" }, JSON.stringify(value, null, 2)) : h("p", { class: "muted" }, "The tool has no schema, or the answer had no room for it.");
}
