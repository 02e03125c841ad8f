// Overview: how it goes now and went over hours and days; each figure leads to the page that has its list.
import { act } from "./calls.js";
import { Chart } from "./chart.js";
import { fill, h, redraw, when } from "./dom.js";
import { table } from "./health_parts.js";
import { figuresOf, KINDS, waitingOf } from "./overview_figures.js";
import { PartReader } from "./part_reader.js";

const EVERY_MS = 15_000;
const CATALOGUE_EACH = 4; // of the rounds
const RANGES = { "1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" };
const STATES = {
  ok: ["ok", "Searches are answered."], degraded: ["so", "Searches are answered with reduced quality."],
  unavailable: ["no", "Searches are not answered."],
};
const figure = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const count = (value) => (value === null || value === undefined ? "–" : figure.format(value));
const percent = (value) => (value === null ? "–" : `${count(value)} %`);
const inMs = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const ms = (value) => (value === null ? "–" : `${inMs.format(value)} ms`);
const [DASHED, DOTTED] = [[6, 4], [2, 3]]; // lines differ without colour, too
const line = (name, label, colour, dash) => ({ name, label, colour, dash });
const CHARTS = [
  ["Searches a minute", count, line("rate", "searches a minute", "--part-1")],
  ["Time of searches", ms, line("p50", "p50", "--part-1"), line("p95", "p95", "--part-2", DASHED)],
  ["Share of searches", percent, line("empty", "found nothing", "--part-1"),
    line("refused", "refused", "--part-2", DASHED),
    line("degraded", "degraded", "--part-4", DOTTED)],
  ["Writes", count, line("writes", "items written", "--part-3"), line("writes_failed", "failed", "--bad", DASHED)],
  ["Waiting work", count, line("queued", "in queues", "--part-1"),
    line("index_lag", "not yet indexed", "--part-3", DASHED),
    line("dead", "given up", "--bad", DOTTED)],
].map(([title, format, ...lines]) => ({ title, format, lines }));

const rangeOf = (address) => (Object.hasOwn(RANGES, address.get("range")) ? address.get("range") : "24h");

export function make({ options, remember }) {
  let range = rangeOf(options);
  let state = { now: null, history: null };
  let round = 0;
  const parts = new PartReader(readAll);
  let timer = null;
  const status = h("p", { role: "status" });
  const read = h("p", { class: "muted" });
  const waiting = h("ul", { class: "plain cards" });
  const figures = h("ul", { class: "plain cards" });
  const why = h("div", {});
  const first = h("div", {});
  const kinds = h("ul", { class: "plain cards" });
  const latest = h("div", {});
  const charts = CHARTS.map((chart) => new Chart(chart));
  const graphs = h("div", { class: "charts", hidden: true }, charts.map(({ element }) => element));
  const buttons = Object.entries(RANGES).map(([name, title]) =>
    h("button", { type: "button", "data-range": name, onclick: () => choose(name) }, title));
  const element = h("div", { class: "scroll stack overview", tabindex: "-1" },
    status, first, h("h2", {}, "What waits"), waiting,
    h("h2", {}, "Searches"), h("div", { class: "actions", role: "group", "aria-label": "Range" },
      buttons, h("span", { class: "muted" }, "Times are UTC.")),
    figures, why, graphs,
    h("h2", {}, "Catalogue"), kinds, h("h2", {}, "Last changes"), latest, read);

  async function load() {
    clearTimeout(timer);
    const mine = parts.visit;
    await Promise.all([
      parts.read("The present state cannot be read", () => act("overview/now"), (now) => {
        state.now = now;
        draw();
      }, status),
      history(),
      parts.read("The last changes cannot be read", () => act("overview/latest"), drawLatest, latest),
      round++ % CATALOGUE_EACH === 0 && parts.read("The catalogue cannot be counted", () => act("overview/catalogue"), drawCatalogue),
    ]);
    if (mine === parts.visit) again();
  }

  function again() {
    clearTimeout(timer);
    if (element.isConnected && !document.hidden) timer = setTimeout(load, EVERY_MS);
  }

  /** Read also what is read seldom; what fails again is shown again. */
  function readAll() {
    parts.renew();
    round = 0;
    return load();
  }

  async function history() {
    const asked = range;
    await parts.read("The history cannot be read", () => act("overview/series", { range_: asked }), (found) => {
      state.history = { ...found, range: asked };
      draw();
    });
  }

  function choose(name) {
    range = name;
    remember("overview", { range });
    mark();
    history();
  }

  function mark() {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.range === range));
  }

  function draw() {
    const { now, history: found } = state;
    if (now) {
      const [kind, says] = STATES[now.health.status] ?? ["so", ""];
      redraw(status, [now.health.status, says],
        () => [h("span", { class: `state ${kind}` }, now.health.status), ` ${says}`]);
      const at = new Date().toISOString().slice(11, 19);
      fill(read, `Read at ${at} UTC, and again each ${EVERY_MS / 1000} s while you look at it.`);
    }
    if (found) {
      redraw(why, [found.why], () => found.why && h("p", { class: "note" }, `${found.why} ${found.remedy}`));
      graphs.hidden = !found.series;
      if (found.series) for (const chart of charts) chart.show(shares(found.series), found.step_s);
    }
    if (!now) return;
    cards(waiting, waitingOf(now));
    cards(figures, figuresOf(now, found?.series ?? null, RANGES[found?.range]));
  }

  function drawCatalogue(counts) {
    cards(kinds, KINDS.map(([name, label, href]) =>
      ({ label, href, value: count(counts[name]), about: counts[name] === null ? "your token may not list them" : "" })));
    const isEmpty = Object.values(counts).every((value) => !value) && counts.tool !== null;
    redraw(first, [isEmpty], () => isEmpty && h("div", { class: "empty" },
      h("p", {}, "The catalogue is empty: searches find nothing yet."),
      h("p", {}, "First take in the tools of your MCP servers: ", h("a", { href: "#/servers?view=import" }, "import a file or an address"),
        " on the page Servers. Servers that are programs, ", h("code", {}, "skillroute import mcp.json"), " starts and asks, in a terminal.")));
  }

  function drawLatest({ events, items, may_read: mayRead }) {
    const ended = (outcome) => h("span", { class: `state ${outcome === "ok" ? "ok" : "no"}` }, outcome);
    const rows = events
      ? events.map((event) => [when(event.at), event.actor ?? "–", event.what, targetsOf(event), ended(event.outcome)])
      : items.map((item) => [when(item.at), item.kind, link(item.kind, item.id, item.name)]);
    const names = events ? ["Time", "Who", "What", "On", "Outcome"] : ["Time", "Kind", "Name"];
    redraw(latest, [events, items, mayRead], () => [
      !events && h("p", { class: "muted" }, mayRead ? "The trace has no change yet; these changed last."
        : "Who made them is shown to callers with scope admin, from the trace."),
      rows.length === 0 ? h("p", { class: "muted" }, "Nothing was changed yet.") : table("Last changes", names, rows),
      events && h("p", {}, h("a", { href: "#/log" }, "All events"))]);
  }

  const onShown = () => {
    if (document.hidden) clearTimeout(timer);
    else if (element.isConnected) load();
  };
  const move = (by) => {
    const names = Object.keys(RANGES);
    choose(names[Math.max(0, Math.min(names.length - 1, names.indexOf(range) + by))]);
  };
  mark();
  return {
    element,
    enter: () => { document.addEventListener("visibilitychange", onShown); readAll(); },
    leave: ({ last = false } = {}) => {
      parts.left();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onShown);
      if (!last) for (const chart of charts) chart.destroy();
    },
    options: (given) => {
      const wanted = rangeOf(given);
      if (wanted !== range) choose(wanted);
    },
    keys: {
      r: { says: "read everything again", run: readAll },
      "[": { says: "a shorter range", run: () => move(-1) },
      "]": { says: "a longer range", run: () => move(1) },
    },
  };
}

/** Show figures as cards; those that are there are changed in their place, so that the focus stays. */
function cards(list, wanted) {
  while (list.children.length > wanted.length) list.lastChild.remove();
  wanted.forEach((card, at) => {
    const item = list.children[at] ?? list.appendChild(h("li", {}));
    redraw(item, card, () => h(card.href ? "a" : "div", { class: "card figure", href: card.href },
      h("span", { class: "figure-label" }, card.label), h("span", { class: "figure-value" }, card.value),
      h("span", { class: "figure-about" },
        card.state && [h("span", { class: `state ${card.state[0]}` }, card.state[1]), card.about && " · "], card.about)));
  });
}

/** Return the figures with shares in place of the counts of searches that went badly. */
function shares(series) {
  const share = (name) => series[name].map((value, at) => {
    const all = series.searches[at] + (name === "refused" ? value : 0); // a refused one is not among the searches
    return value === null ? null : all > 0 ? Math.round((1000 * value) / all) / 10 : 0;
  });
  return { ...series, empty: share("empty"), refused: share("refused"), degraded: share("degraded") };
}

function link(kind, id, name) {
  const pages = {
    tool: `#/catalogue?tool=${id}`, skill: `#/skills?skill=${encodeURIComponent(id)}`, server: "#/servers",
  };
  return kind in pages ? h("a", { href: pages[kind] }, name) : name;
}

function targetsOf(event) {
  const found = Object.entries(event.targets ?? {});
  return found.length === 0 ? "–" : found.map(([kind, id], at) => [at > 0 && ", ", link(kind, id, `${kind} ${id}`)]);
}
