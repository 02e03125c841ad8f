// Search: what a request finds and why, and two settings side by side.
import { act } from "./calls.js";
import { skillChip } from "./colours.js";
import { field, fill, h, plural, select } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { PARTS, PART_NAMES, figures, inWords, parts } from "./explanation.js";
import { showProblem, solved } from "./notices.js";
import { keyOf, makeMarks } from "./search_marks.js";

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
  let areOffered = false;
  let turn = 0;

  query.addEventListener("input", () => keep());
  const compare = h("button", { type: "button", "aria-pressed": String(comparing), onclick: () => setComparing(!comparing) }, "Compare two settings ", h("kbd", {}, "c"));
  const rows = h("div", { class: "compare" });
  const marks = makeMarks({ answers: () => answers, draw });
  const results = h("div", { class: "compare", "aria-live": "off" });
  const status = h("p", { class: "muted", role: "status" });
  const form = h("form", { class: "tools", onsubmit: (event) => { event.preventDefault(); run(); } },
    query, h("button", { type: "submit", class: "main" }, "Search"), compare);
  const chosen = h("span", { class: "chips" });
  // Results come first where there is little room: there the settings are opened by who wants them.
  const folded = h("details", { class: "settings", open: !matchMedia("(max-width: 1000px)").matches },
    h("summary", {}, "Settings ", chosen), rows);
  const element = h("div", { class: "scroll stack", tabindex: "-1" }, form, folded, status, marks.element, results);

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
    sent = request;
    keep();
    remember("search", { q: request });
    fill(status, "Searching …");
    try {
      const used = settings.slice(0, comparing ? 2 : 1);
      const found = await Promise.all(used.map((one) => act("search/run", { request: { query: request, ...one.request() } })));
      const judged = await marks.read(request);
      if (mine !== turn) return undefined;
      [answers, asked] = [found, request];
      solved(FAILED);
      if (!areOffered) offerModes().catch(() => {});
      marks.show(judged);
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
      marks.of(tool),
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

  setComparing(comparing);
  return {
    element,
    enter: () => (query.value ? run() : query.focus()),
    again: () => { if (asked && query.value.trim() === asked) run(); }, // what is half typed is no request yet
    options: (more) => { if (more.get("q") && more.get("q") !== sent) { query.value = more.get("q"); run(); } },
    leave: () => { turn += 1; keep(); },
    keys: { c: { says: "compare two settings", run: () => setComparing(!comparing) } },
  };
}

function schema(value) {
  return value ? h("pre", { tabindex: "0", role: "group", "aria-label": "Input schema" }, JSON.stringify(value, null, 2)) : h("p", { class: "muted" }, "The tool has no schema, or the answer had no room for it.");
}
