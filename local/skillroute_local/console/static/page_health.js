// Health: what is wrong, the gravest first, with what to do; then each part of it in a place that can be linked to.
import { act } from "./calls.js";
import { fill, h, plural, redraw } from "./dom.js";
import { number, stateOf, stateWithHelp, table, words } from "./health_parts.js";
import { drawSystem } from "./health_system.js";
import { showProblem, solved } from "./notices.js";
import { PartReader } from "./part_reader.js";
import { makeWork } from "./work.js";

const EVERY_MS = 5000;
const SYSTEM_EACH = 12; // of the rounds: it measures folders
const KEPT = 120; // ten minutes
const SVG = "http://www.w3.org/2000/svg";
const STATES = {
  ok: ["ok", "All dependencies are available, and searches are answered."], degraded: ["so", "Searches are answered with reduced quality."],
  unavailable: ["no", "Searches are not answered."],
};
const SECTIONS = {
  queues: "Queues", failed: "Given-up work", refused: "Texts that the embedding model refused", parts: "Parts", index: "Index", latency: "Time by stage",
  models: "Models", migrations: "Migrations", versions: "Versions", disk: "Disk", check: "Consistency check", counts: "Counted since the process started",
};
const FROM_HERE = ["failed", "models", "migrations", "disk"]; // what needs the database or the machine
const COUNTS = [
  ["Tools", "index_items"], ["Skills", "index_skills"], ["Servers and agents", "index_entities"], ["Mail", "index_mail"], ["Agent Skills, in pieces", "index_agent_skills"],
];
const lags = []; // outlives the page: who comes back sees the minutes before

export function make({ options }) {
  const places = Object.fromEntries(Object.keys(SECTIONS).map((name) => [name, h("div", {})]));
  const state = h("p", {});
  const top = h("div", { role: "status", class: "findings" });
  const changedDefinitions = h("p", {});
  const nothing = h("p", {});
  const found = { state: null, queues: null, system: null }; // what is wrong, by the part of it that was read
  const parts = new PartReader(readAll);
  let timer = null;
  let round = 0;
  let health = null;
  let system = null;
  let isRead = false;
  let wanted = null; // { name, focused } of the section that the address names, until it was gone to
  const button = h("button", { type: "button", "data-first": true, onclick: verify }, "Check stored data ", h("kbd", { "aria-hidden": "true" }, "v"));
  const checked = h("div", {});
  fill(places.check, h("p", { class: "actions" }, button), checked);
  const sections = Object.entries(SECTIONS).map(([name, title]) => h("section", { id: `health-${name}`, "aria-labelledby": `health-${name}-title` },
    h("h2", { id: `health-${name}-title`, tabindex: "-1" }, title), places[name]));
  const sectionOf = (name) => sections[Object.keys(SECTIONS).indexOf(name)];
  const element = h("div", { class: "scroll stack health", tabindex: "-1" }, state, top, changedDefinitions, nothing, sections);
  const work = makeWork(places, (findings) => { found.queues = findings; drawTop(); });
  for (const name of ["refused", ...FROM_HERE, "latency", "counts"]) sectionOf(name).hidden = true;

  async function load() {
    clearTimeout(timer);
    const mine = parts.visit;
    await Promise.all([
      parts.read("Health cannot be read", () => act("health/state"), (answer) => { health = answer; drawState(); }, top),
      parts.read("The queues cannot be read", () => (round === 0 ? work.load() : work.refresh()), undefined, top),
      round % SYSTEM_EACH === 0 && parts.read("Models, versions and disks cannot be read", () => act("health/system"), (answer) => { system = answer; drawMachine(); }, top),
      round % SYSTEM_EACH === 0 && parts.read("Changed definitions cannot be counted", () => act("changes/count"), drawChanged, top),
    ]);
    if (mine !== parts.visit) return;
    round += 1;
    isRead = true;
    reach();
    clearTimeout(timer);
    if (element.isConnected && !document.hidden) timer = setTimeout(load, EVERY_MS);
  }

  /** Read also what is read seldom; what fails again is shown again. */
  function readAll() {
    parts.renew();
    round = 0;
    return load();
  }

  function drawTop() {
    const order = ["no", "so"];
    const wrong = Object.values(found).flatMap((some) => some ?? []).sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    const isWhole = Object.values(found).every(Boolean);
    redraw(top, [wrong, isWhole], () => {
      if (wrong.length === 0) return h("p", {}, isWhole ? [stateOf({ kind: "ok", word: "Nothing needs you" }), "."] : h("span", { class: "muted" }, "Reading …"));
      return [h("p", {}, stateOf({ kind: wrong[0].kind, word: wrong.length === 1 ? "One problem" : `${wrong.length} problems, the gravest first` })),
        h("ol", { class: "plain" }, wrong.map((one) => h("li", {}, h("span", { class: `state ${one.kind}` }, h("a", { href: `#/health?at=${one.at}` }, one.what)), one.help && [" ", words(one.help)])))];
    });
  }

  function drawState() {
    found.state = health.findings;
    drawTop();
    const [kind, says] = STATES[health.status] ?? ["so", health.status];
    redraw(state, [health.status, health.search_mode], () => [stateOf({ kind, word: health.status }), ` ${says}`, health.search_mode && ` Search mode: ${health.search_mode}.`]);
    redraw(places.parts, [health.dependencies, health.parts], () => table("Parts", [{ name: "Part", isHead: true }, "State", "Details"],
      Object.entries(health.dependencies).map(([name, { detail }]) => [name.replaceAll("_", " "), stateWithHelp(health.parts[name]), detail ?? "–"])));
    lags.push({ lag: health.index_lag, at: Date.now() });
    lags.splice(0, lags.length - KEPT);
    drawIndex();
    sectionOf("latency").hidden = !health.latency;
    redraw(places.latency, health.latency, () => health.latency && stages(health.latency));
    const missed = (health.found_nothing ?? []).length;
    redraw(nothing, [missed], () => missed > 0 && h("a", { href: "#/missed" }, `${plural(missed, "request")} found nothing`));
    sectionOf("counts").hidden = !health.counts;
    redraw(places.counts, health.counts, () => health.counts && table("Counted since the process started", [{ name: "What", isHead: true }, { name: "Count", num: true }],
      Object.entries(health.counts).sort(([a], [b]) => a.localeCompare(b)).map(([name, value]) => [name[0] + name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), number(value)])));
  }

  function drawMachine() {
    found.system = system.findings;
    for (const name of FROM_HERE) sectionOf(name).hidden = name === "failed" ? system.models === null : !system[name];
    drawSystem(places, system);
    drawIndex();
    drawTop();
  }

  function drawIndex() {
    if (!health) return;
    const kind = system?.index ?? null;
    const shown = COUNTS.map(([name, field]) => [name, health[field]]).filter(([, value]) => value !== null && value !== undefined);
    redraw(places.index, [health.index, kind, shown, health.index_lag, health.index_lag !== null && lags], () => [
      h("p", {}, stateOf(health.index), health.index.words && `: ${health.index.words}`, "."),
      health.index.help && h("p", {}, words(health.index.help)),
      kind && (kind.problem ? stateWithHelp(kind.state) : h("p", {}, "Kind: ", kind.kind, ". Generation ", h("code", {}, kind.epoch), ", which each reindex changes.")),
      kind?.generations && table("Generations", [{ name: "Generation", isHead: true }, "Model", "State", "Position"], kind.generations.map((one) => [
        one.number, one.model, stateOf(one.is_ready ? { kind: "ok", word: "searched" } : { kind: "so", word: "being filled" }), one.position ?? "–"])),
      shown.length === 0 ? h("p", { class: "note" }, "Counts are shown to callers with scope admin that belong to no organisation.")
        : h("dl", { class: "cards" }, [...shown, ["Changes not yet indexed", health.index_lag]].map(([name, value]) => h("div", { class: "card" }, h("dt", {}, name), h("dd", {}, number(value))))),
      health.index_lag !== null && [h("h3", {}, "Changes not yet indexed, while this page was open"), spark()]]);
  }

  function drawChanged({ waiting }) {
    redraw(changedDefinitions, [waiting], () => (waiting === null ? h("span", { class: "muted" }, "Changed definitions are shown to callers with scope catalog.")
      : waiting === 0 ? h("span", { class: "muted" }, "No changed definition waits.")
        : h("a", { href: "#/changes" }, `${plural(waiting, "changed definition")} to be approved or rejected`)));
  }

  function stages(latency) {
    if (Object.keys(latency).length === 0) return h("p", { class: "muted" }, "No search yet, since the process started.");
    const order = Object.entries(latency).sort(([a, x], [b, y]) => (a === "total") - (b === "total") || y.p50_ms - x.p50_ms);
    const most = Math.max(...order.map(([, { p95_ms: time }]) => time), 0.001);
    const piece = (width, name) => {
      const inner = h("span", { class: name });
      inner.style.width = `${(100 * width) / most}%`;
      return inner;
    };
    const picture = ({ p50_ms: half, p95_ms: tail }) => h("span", { class: "bar took", "aria-hidden": "true" }, piece(half, "p1"), piece(Math.max(0, tail - half), "p2"));
    return [h("p", { class: "legend" }, h("span", {}, h("i", { class: "p1" }), "p50"), h("span", {}, h("i", { class: "p2" }), "from there to p95"), h("span", {}, "of the last searches of the process that answers")),
      table("Time by stage", [{ name: "Stage", isHead: true }, "Time", { name: "Searches", num: true }, { name: "p50, ms", num: true }, { name: "p95, ms", num: true }],
        order.map(([name, took]) => [name.replaceAll("_", " "), picture(took), number(took.searches), took.p50_ms.toFixed(1), took.p95_ms.toFixed(1)]))];
  }

  function spark() {
    const most = Math.max(1, ...lags.map(({ lag }) => lag ?? 0));
    const make = (tag, attributes) => {
      const made = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const picture = make("svg", { class: "spark", viewBox: `0 0 ${KEPT} 20`, preserveAspectRatio: "none", role: "img",
      "aria-label": `${lags.at(-1).lag ?? "unknown"} now, ${most === 1 ? "at most one" : most} at the highest, of ${lags.length} readings` });
    lags.forEach(({ lag }, at) => {
      const height = Math.max(0.4, (20 * (lag ?? 0)) / most);
      picture.append(make("rect", { x: at + KEPT - lags.length, y: 20 - height, width: 0.8, height }));
    });
    return [picture, h("p", { class: "muted" }, `${lags.at(-1).lag ?? "–"} now, read every ${EVERY_MS / 1000} s`)];
  }

  async function verify() {
    if (button.disabled) return; // the key v was pressed twice
    const mine = parts.visit;
    button.disabled = true;
    fill(checked, h("p", { class: "muted" }, "Checking …"));
    try {
      const answer = await act("health/verify");
      solved("The check failed");
      fill(checked, h("p", { role: "status" }, stateOf({ kind: answer.ok ? "ok" : "no", word: answer.ok ? "No inconsistency found" : plural(answer.findings.length, "finding") }),
        ` in ${plural(answer.tools, "tool")}, ${plural(answer.skills, "skill")}, ${answer.entities} servers and agents, ${plural(answer.mail, "message")}.`),
      answer.findings.length > 0 && table("Findings", [{ name: "Rule", isHead: true }, "Subject", "Reason", "What helps"],
        answer.findings.slice(0, 200).map((one) => [one.rule.replaceAll("_", " "), one.subject, one.detail, words(one.help)])));
    } catch (error) {
      fill(checked);
      if (mine === parts.visit) showProblem(error, "The check failed", verify);
    }
    button.disabled = false;
  }

  function want(name) {
    wanted = Object.hasOwn(SECTIONS, name) ? { name, focused: document.activeElement } : null;
  }

  /** Scroll to the section that is wanted and focus it; again once all is read, as what stands above it comes late. */
  function reach() {
    if (!wanted || (!isRead && sectionOf(wanted.name).hidden)) return;
    const { name, focused } = wanted;
    const isMoved = ![focused, document.body].includes(document.activeElement); // the person went on meanwhile
    if (isRead || isMoved) wanted = null;
    if (isMoved) return;
    const section = sectionOf(sectionOf(name).hidden ? "queues" : name); // there it says what is missing
    section.scrollIntoView({ block: "start" });
    section.querySelector("h2").focus({ preventScroll: true });
    if (wanted) wanted.focused = document.activeElement;
  }

  want(options.get("at"));
  const onShown = () => {
    if (document.hidden) clearTimeout(timer);
    else if (element.isConnected) load();
  };
  return {
    element,
    enter: () => { document.addEventListener("visibilitychange", onShown); readAll(); },
    leave: () => { parts.left(); clearTimeout(timer); document.removeEventListener("visibilitychange", onShown); },
    options: (given) => { want(given.get("at")); reach(); },
    keys: { v: { says: "check stored data", run: verify }, r: { says: "read everything again", isOnce: true, run: readAll }, ...work.keys },
  };
}
