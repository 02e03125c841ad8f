// Doctor: what makes tools hard to find, the heaviest first, with what would help.
import { Problem, events } from "./calls.js";
import { fill, h, plural, select } from "./dom.js";
import { List, Split } from "./list.js";
import { showProblem } from "./notices.js";

const SHOWN = 200;
const words = (code) => code.replaceAll("_", " ");
const titleOf = (tool) => (tool.server ? `${tool.server}/${tool.name}` : tool.name);
const keyOf = (finding) => [finding.code, ...finding.tools.map((tool) => tool.tool_id), ...finding.skills].join(" ");
const subjectOf = (finding) => {
  const names = [...finding.skills, ...finding.tools.map(titleOf)];
  return names.length > 1 ? `${names[0]} and ${names.length - 1} more` : names[0] ?? "";
};

// Outlives the page: an examination goes on while others are looked at, and its report stays.
let report = null;
let running = null; // { doing, done, total, stop }
let drawn = () => {};
document.addEventListener("token", () => { // what another caller may see is no business of this one
  running?.stop();
  report = null;
  drawn();
});

async function examine(search) {
  const controller = new AbortController();
  const mine = { doing: "beginning", done: 0, total: null, stop: () => controller.abort() };
  running?.stop();
  running = mine;
  drawn();
  try {
    for await (const event of events("doctor/examine", { search }, { signal: controller.signal })) {
      if (running !== mine) return;
      if (event.report) report = { ...event.report, at: new Date() };
      else Object.assign(mine, event);
      mine.ended = "report" in event;
      drawn();
    }
    if (!mine.ended) throw new Problem(0, { detail: "the examination ended before its report" });
  } catch (error) {
    showProblem(error, "The catalogue could not be examined", () => examine(search));
  } finally {
    if (running === mine) running = null;
    drawn();
  }
}

export function make({ options, remember }) {
  const list = new List({
    label: "Findings", key: keyOf,
    row: (finding) => [
      h("span", { class: "num" }, finding.weight), h("span", {}, words(finding.code)),
      h("span", { class: "code" }, subjectOf(finding)), h("span", { class: "muted" }, finding.reason)],
    chosen: show, open: () => split.open(),
  });
  list.element.classList.add("finding-row");
  const split = new Split(list, "The finding");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter findings",
    placeholder: "Filter by tool, server, skill or reason", oninput: () => filter() });
  const code = select([["", "all kinds"]], "", () => filter());
  code.setAttribute("aria-label", "Kind");
  const deep = h("input", { type: "checkbox", checked: true, id: "doctor-search" });
  const button = h("button", { type: "button", class: "main", onclick: toggle });
  const count = h("span", { class: "count" });
  const state = h("div", {});
  let progress = null; // stays in its place while it moves on, or a reader of screens would begin anew
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, code, h("span", { class: "inline" }, deep, h("label", { for: deep.id }, "search for each tool")), button, count),
    state, split.element);

  function toggle() {
    if (running) running.stop();
    else examine(deep.checked);
  }

  function draw() {
    fill(button, running ? "Stop " : "Examine ", h("kbd", {}, "r"));
    drawProgress();
    code.disabled = search.disabled = report === null;
    if (report === null) {
      list.show([], running ? "The findings come at the end." : [
        h("p", {}, "The doctor looks for problems that make tools hard to find: empty, similar and overlong descriptions, uninformative names, near-duplicates, gaps in skills. It changes nothing."),
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
      fill(state, report && summary());
      return;
    }
    if (!progress) {
      progress = h("progress", { "aria-label": "Examined" });
      fill(state, h("p", { class: "inline" }, progress, h("span", { class: "muted" })));
    }
    const { doing, done, total } = running;
    if (total) { progress.max = total; progress.value = done; } else progress.removeAttribute("value");
    fill(progress.nextSibling, `${doing}${total ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : done ? `: ${done.toLocaleString("en")}` : ""}`);
  }

  function summary() {
    const { checked, findings, not_asked: notAsked, at } = report;
    const searches = checked.searches ? `${plural(checked.searches, "tool")} searched for` : "no searches";
    return [
      h("p", { class: "muted", role: "status" }, `${plural(findings.length, "finding")} in ${plural(checked.tools, "tool")} and ${plural(checked.skills, "skill")}, ${searches}, at ${at.toTimeString().slice(0, 5)}.`),
      notAsked.length > 0 && h("details", { class: "note" }, h("summary", {}, `${plural(notAsked.length, "tool")} could not be searched for: their findability is unknown.`),
        h("ul", { class: "plain" }, notAsked.slice(0, SHOWN).map((tool) => h("li", {}, link(tool), `: ${tool.reason}`)), more(notAsked)))];
  }

  function filter() {
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (found) => [words(found.code), found.reason, ...found.skills, ...found.agent_skills, ...found.tools.map(titleOf)].join(" ").toLowerCase();
    const rows = report.findings.filter((found) => (!code.value || found.code === code.value) && given.every((word) => text(found).includes(word)));
    list.show(rows, report.findings.length ? "No finding matches the filter." : "No problem was found.");
    fill(count, rows.length === report.findings.length ? plural(rows.length, "finding") : `${rows.length} of ${plural(report.findings.length, "finding")}`);
    remember("doctor", { code: code.value });
    if (!list.current && !list.choose(0)) split.show();
  }

  function show(finding) {
    split.show(
      h("h2", {}, words(finding.code)),
      h("p", { class: "muted" }, `severity ${finding.weight} of 100`),
      h("p", { class: "lead" }, finding.reason),
      h("h3", {}, "How to fix it"), h("p", { class: "lead" }, finding.help),
      finding.tools.length > 0 && [h("h3", {}, plural(finding.tools.length, "tool")),
        h("ul", { class: "plain" }, finding.tools.slice(0, SHOWN).map((tool) => h("li", {}, link(tool))), more(finding.tools))],
      finding.skills.length > 0 && [h("h3", {}, plural(finding.skills.length, "skill")),
        h("ul", { class: "plain" }, finding.skills.map((id) => h("li", {}, h("a", { href: `#/skills?skill=${encodeURIComponent(id)}` }, id))))],
      finding.agent_skills.length > 0 && [h("h3", {}, plural(finding.agent_skills.length, "Agent Skill")),
        h("ul", { class: "plain" }, finding.agent_skills.slice(0, SHOWN).map((path) => h("li", { class: "code" }, path)), more(finding.agent_skills))]);
  }

  const link = (tool) => h("a", { class: "code", href: `#/catalogue?tool=${tool.tool_id}` }, titleOf(tool));
  const more = (all) => all.length > SHOWN && h("li", { class: "muted" }, `and ${all.length - SHOWN} more: \`skillroute doctor --json\` names all`);

  drawn = draw;
  return {
    element, enter: draw, leave: () => { drawn = () => {}; }, list: () => list, escape: () => split.close(),
    keys: { r: { says: "examine the catalogue, or stop", run: toggle } },
  };
}
