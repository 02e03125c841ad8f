// Health: how the parts stand now and over the last minutes, and whether all that is stored agrees.
import { act } from "./calls.js";
import { fill, h, plural, when } from "./dom.js";
import { showProblem } from "./notices.js";
import { makeWork } from "./work.js";

const EVERY_MS = 5000;
const KEPT = 120; // ten minutes
const SVG = "http://www.w3.org/2000/svg";
const STATES = {
  ok: ["ok", "All dependencies are available, and searches are answered."], degraded: ["so", "Searches are answered with reduced quality."],
  unavailable: ["no", "Searches are not answered."],
};
const HELP = {
  database: "Is PostgreSQL up, and may Skillroute log in? `skillroute status` checks it too.",
  index: "The next search builds the index, or run `skillroute reindex`.",
  embedding_model: "Searches match words only until the model is available: check its provider and its settings.",
};
const lags = []; // outlives the page: who comes back sees the minutes before

export function make() {
  const element = h("div", { class: "scroll stack", tabindex: "-1" });
  const state = h("div", {});
  const found = h("div", {});
  const changed = h("p", {});
  const work = makeWork();
  const button = h("button", { type: "button", "data-first": true, onclick: verify }, "Check stored data ", h("kbd", {}, "v"));
  let timer = null;
  let failed = false;

  async function load() {
    clearTimeout(timer);
    try {
      const health = await act("health/state");
      if (failed) document.querySelector("#errors .problem button:last-of-type")?.click();
      failed = false;
      lags.push({ lag: health.index_lag, at: Date.now() });
      lags.splice(0, lags.length - KEPT);
      draw(health);
    } catch (error) {
      if (!failed) showProblem(error, "Health cannot be read", load);
      failed = true;
    }
    if (element.isConnected) timer = setTimeout(load, EVERY_MS);
  }

  function draw(health) {
    const [kind, says] = STATES[health.status] ?? ["so", health.status];
    const cards = [
      ["Version", health.version], ["Search mode", health.search_mode], ["Tools in the index", health.index_items], ["Skills", health.index_skills],
      ["Servers and agents", health.index_entities], ["Mail", health.index_mail],
      ["Agent Skills, in pieces", health.index_agent_skills], ["Changes not yet indexed", health.index_lag],
      ["Texts the model refused", health.embedding_refused], ["Index", health.index_rebuilding === null ? null : health.index_rebuilding ? "rebuilding" : "ready"],
    ].filter(([, value]) => value !== null && value !== undefined);
    fill(state,
      h("p", { role: "status" }, h("span", { class: `state ${kind}` }, health.status), ` ${says}`),
      health.index_items === null && h("p", { class: "note" }, "Counts are shown to callers with scope admin that belong to no organisation."),
      health.embedding_refused > 0 && h("p", { class: "note" }, `${plural(health.embedding_refused, "text")} found by words only: \`skillroute dlq refused\` lists them.`),
      h("dl", { class: "cards" }, cards.map(([name, value]) => h("div", { class: "card" }, h("dt", {}, name), h("dd", {}, typeof value === "number" ? value.toLocaleString("en") : value)))),
      h("h2", {}, "Parts"),
      h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ["Part", "State", "Details"].map((name) => h("th", {}, name)))),
        h("tbody", {}, Object.entries(health.dependencies).map(([name, part]) => h("tr", {},
          h("td", {}, name.replaceAll("_", " ")), h("td", {}, h("span", { class: `state ${part.ok ? "ok" : "no"}` }, part.ok ? "ok" : "unavailable")),
          h("td", {}, part.detail ?? "", !part.ok && h("p", { class: "muted" }, HELP[name] ?? "")))))),
      health.index_lag !== null && [h("h2", {}, "Changes not yet indexed, while this page was open"), spark()],
      health.latency && Object.keys(health.latency).length > 0 && stages(health.latency),
      health.found_nothing && [h("h2", {}, "Requests that found nothing"), nothing(health.found_nothing)],
      health.counts && [h("h2", {}, "Counted since the process started"),
        h("table", { class: "figures" }, h("tbody", {}, Object.entries(health.counts).sort(([a], [b]) => a.localeCompare(b)).map(([name, value]) =>
          h("tr", {}, h("td", {}, name.replace(/(?<=[a-z])(?=[A-Z])/g, " ")), h("td", { class: "num" }, value.toLocaleString("en"))))))]);
  }

  async function countChanged() {
    try {
      const { waiting } = await act("changes/count");
      fill(changed, waiting === null ? h("span", { class: "muted" }, "Changed definitions are shown to callers with scope catalog.")
        : waiting === 0 ? h("span", { class: "muted" }, "No changed definition waits.")
          : h("a", { href: "#/changes" }, `${plural(waiting, "changed definition")} to be approved or rejected`));
    } catch (error) {
      showProblem(error, "Changed definitions cannot be counted", countChanged);
    }
  }

  function stages(latency) {
    const times = ({ searches, p50_ms: half, p95_ms: most }) => [searches.toLocaleString("en"), half.toFixed(1), most.toFixed(1)];
    const order = Object.entries(latency).sort(([a, x], [b, y]) => (a === "total") - (b === "total") || y.p50_ms - x.p50_ms);
    return [h("h2", {}, "Time by stage, of the last searches of this process"),
      h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ["Stage", "Searches", "p50, ms", "p95, ms"].map((name, at) => h("th", { class: at ? "num" : null }, name)))),
        h("tbody", {}, order.map(([name, took]) => h("tr", {}, h("td", {}, name.replaceAll("_", " ")), times(took).map((value) => h("td", { class: "num" }, value))))))];
  }

  function nothing(requests) {
    if (requests.length === 0) return h("p", { class: "muted" }, "None, since this process started.");
    return h("table", {}, h("thead", {}, h("tr", {}, ["Request", "Times", "Last"].map((name) => h("th", {}, name)))),
      h("tbody", {}, requests.map(({ query, times, last_at: last }) => h("tr", {},
        h("td", {}, h("a", { href: `#/search?q=${encodeURIComponent(query)}` }, query)), h("td", { class: "num" }, times), h("td", {}, when(last))))));
  }

  function spark() {
    const most = Math.max(1, ...lags.map(({ lag }) => lag ?? 0));
    const picture = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({ class: "spark", viewBox: `0 0 ${KEPT} 20`, preserveAspectRatio: "none", role: "img",
      "aria-label": `${lags.at(-1).lag ?? "unknown"} now, ${most === 1 ? "at most one" : most} at the highest, of ${lags.length} readings` })) picture.setAttribute(name, value);
    lags.forEach(({ lag }, at) => {
      const height = Math.max(0.4, (20 * (lag ?? 0)) / most);
      const rect = document.createElementNS(SVG, "rect");
      for (const [name, value] of Object.entries({ x: at + KEPT - lags.length, y: 20 - height, width: 0.8, height })) rect.setAttribute(name, value);
      picture.append(rect);
    });
    return [picture, h("p", { class: "muted" }, `${lags.at(-1).lag ?? "–"} now, read every 5 s; the next search indexes them first`)];
  }

  async function verify() {
    button.disabled = true;
    fill(found, h("p", { class: "muted" }, "Checking …"));
    try {
      const answer = await act("health/verify");
      fill(found, h("p", { role: "status" }, h("span", { class: `state ${answer.ok ? "ok" : "no"}` }, answer.ok ? "No inconsistency found" : plural(answer.findings.length, "finding")),
        ` in ${plural(answer.tools, "tool")}, ${plural(answer.skills, "skill")}, ${answer.entities} servers and agents, ${plural(answer.mail, "message")}.`),
      answer.findings.length > 0 && h("table", {}, h("thead", {}, h("tr", {}, ["Rule", "Subject", "Reason"].map((name) => h("th", {}, name)))),
        h("tbody", {}, answer.findings.slice(0, 200).map((one) => h("tr", {}, h("td", {}, one.rule.replaceAll("_", " ")), h("td", {}, one.subject), h("td", {}, one.detail))))));
    } catch (error) {
      fill(found);
      showProblem(error, "The check failed", verify);
    }
    button.disabled = false;
  }

  fill(element, state, h("h2", {}, "Consistency check"), h("p", { class: "actions" }, button), found,
    h("h2", {}, "Queues and failed work"), changed, work.element);
  return { element, enter: () => { load(); countChanged(); work.load(); }, leave: () => clearTimeout(timer), keys: { v: { says: "check stored data", run: verify } } };
}
