// The figures of Overview: what each one is, how it stands, and the page that has its list.

const count = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });

/** The kinds of the catalogue: name, words, and the page that lists them, where there is one. */
export const KINDS = [
  ["tool", "Tools", "#/catalogue"], ["prompt", "Prompts", "#/catalogue"], ["resource", "Resources", "#/catalogue"],
  ["skills", "Skills", "#/skills"], ["servers", "Servers", "#/servers"], ["agents", "Agents", null],
  ["agent_skills", "Agent Skills", null], ["messages", "Messages", null],
];

const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0);
const unknown = (label, about, href) => ({ label, value: "–", about, href });
const failedIf = (number) => (number > 0 ? ["no", "failed"] : null);
const lastOf = (values) => values.findLast((value) => value !== null) ?? null;

/** Return the cards of searches, from what is there now and the series of a range, which may be null. */
export const figuresOf = (now, series, range) => (series ? ofRange(series, range) : ofProcess(now.health));

function ofRange(series, range) {
  const known = series.rate.filter((value) => value !== null);
  if (!known.length) return [unknown("Searches a minute", "the first figures come within a minute", "#/log?kind=search")];
  const [searches, empty, degraded] = [sum(series.searches), sum(series.empty), sum(series.degraded)];
  const [refused, failed] = [sum(series.refused), sum(series.failed)];
  const [writes, wrong] = [sum(series.writes), sum(series.writes_failed)];
  const over = `over ${range}`;
  return [
    { label: "Searches a minute", value: count(lastOf(series.rate)), about: `${count(searches)} ${over}`, href: "#/log?kind=search" },
    times(lastOf(series.p50), lastOf(series.p95), "the latest"),
    share("Found nothing", empty, searches, over, "#/missed", null),
    share("Refused", refused, searches + refused, over, "#/log?outcome=refused", ["so", "refused"]),
    share("Degraded", degraded, searches, over, "#/health?at=parts", ["so", "degraded"]),
    { label: "Failed searches", value: count(failed), about: over, href: "#/log?kind=search&outcome=failed", state: failedIf(failed) },
    { label: "Items written", value: count(writes), about: wrong > 0 ? `${count(wrong)}, ${over}` : over,
      href: "#/log?kind=change", state: failedIf(wrong) },
  ];
}

/** Where nothing is kept: what the process that answers has counted itself. */
function ofProcess({ counts, latency }) {
  if (!counts) return [unknown("Searches", "shown to callers with scope admin that belong to no organisation", "#/health")];
  const since = "since the process started";
  const [searches, refused] = [counts.Search ?? 0, counts.SearchRefused ?? 0];
  const total = latency?.total ?? null;
  const names = Object.keys(counts).filter((name) => name.endsWith("Written") && !name.startsWith("Re"));
  return [
    { label: "Searches", value: count(searches), about: since, href: "#/log?kind=search" },
    times(total?.p50_ms ?? null, total?.p95_ms ?? null, "of the last searches"),
    share("Found nothing", counts.SearchEmpty ?? 0, searches, since, "#/missed", null),
    share("Refused", refused, searches + refused, since, "#/log?outcome=refused", ["so", "refused"]),
    share("Degraded", counts.SearchDegraded ?? 0, searches, since, "#/health?at=parts", ["so", "degraded"]),
    { label: "Items written", value: count(sum(names.map((name) => counts[name]))), about: since, href: "#/log?kind=change" },
  ];
}

function times(half, most, about) {
  const label = "Time of a search";
  if (half === null) return unknown(label, "no search yet", "#/health?at=latency");
  const text = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  return { label, value: `${text(half)} ms`, about: `p50; p95 ${text(most)} ms, ${about}`, href: "#/health?at=latency" };
}

function share(label, some, all, about, href, state) {
  if (all <= 0) return unknown(label, "no search", href);
  const value = some > 0 && some / all < 0.0005 ? "< 0.1 %" : `${count(Math.round((1000 * some) / all) / 10)} %`;
  return { label, value, about: `${count(some)} of ${count(all)}, ${about}`, href, state: some > 0 ? state : null };
}

/** Return the cards of what waits for a person or for the machine: what failed first, what nothing waits of last. */
export function waitingOf({ health, changed, suggested, waiting: queues }) {
  const card = (label, value, href, state, hidden) => {
    if (value === null || value === undefined) return unknown(label, hidden, href);
    return { label, value: count(value), href, state: value > 0 ? state : null, about: value > 0 ? "" : "none waits" };
  };
  const needsParts = "needs the database: see the page Health";
  const urgency = ({ state, value }) => (state ? (state[0] === "no" ? 0 : 1) : value === "–" ? 3 : 2);
  return [
    card("Work given up", queues?.dead, "#/health?at=failed", ["no", "failed"], needsParts),
    card("Changed definitions", changed, "#/changes", ["so", "to be decided"], "shown to scope catalog"),
    card("Suggested skills", suggested, "#/suggestions", ["so", "to be decided"], "shown to scope skills"),
    card("Waiting for classification", queues?.classify, "#/health?at=queues", ["so", "waits"], needsParts),
    card("Work in queues", queues?.queued, "#/health?at=queues", ["so", "waits"], needsParts),
    card("Changes not yet indexed", health.index_lag, "#/health?at=index", ["so", "waits"], "shown to scope admin"),
  ].sort((a, b) => urgency(a) - urgency(b));
}
