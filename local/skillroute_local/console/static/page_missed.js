// Unanswered: what found nothing, by meaning, and which tool serves it, or that none does.
import { act } from "./calls.js";
import { fill, h, plural, select, when } from "./dom.js";
import { List, Split } from "./list.js";
import { askWhichToReplace, nearestPanel, placeInWords, placeNow } from "./missed_tools.js";
import { notRead, say, showProblem, solved } from "./notices.js";

const STATES = [["open", "to decide"], ["served", "served"], ["nothing", "nothing should"], ["missing", "a tool is missing"], ["dismissed", "not a request"], ["all", "all requests"]];
const SAYS = { open: ["so", "to decide"], served: ["ok", "served"], nothing: ["off", "nothing should"], missing: ["no", "a tool is missing"], dismissed: ["off", "not a request"] };
const DONE = { nothing: "Nothing should serve it", missing: "A tool is missing for it", dismissed: "Not a request" };
const DAYS = ["7", "30", "90"];
const SETTING = h("code", {}, "SKILLROUTE_RECEIPTS=on");
// Other tabs of this browser show at once what was decided in one; other people's decisions come when one looks at the page again.
const others = new BroadcastChannel("skillroute-console-missed");

/** What names a group: its text, or where texts are not kept when it was asked last. */
const keyOf = (row) => row.query ?? `without text ${row.last_at} ${row.searches}`;

const UNDONE = ["not served", "not decided", "not taken back"]; // of a request, as its errors say it
const UNREAD = "What found nothing cannot be read";

export function make({ options, remember }) {
  let found = { rows: [], receipts: null };
  let turn = 0;
  let proofs = 0; // of what was served: the line is of the last one, however often the page reads anew meanwhile
  const deciding = new Set(); // what is being decided on, by its name: a button may be pressed twice
  let isRead = false;
  let sought = null; // the request that shall be open once it is read, also where a reading fails or another one overtakes it
  let panel = null; // of the nearest tools of the group that is open
  const list = new List({
    label: "Requests that found nothing", key: keyOf,
    row: (row) => [
      h("span", {}, row.query ?? h("span", { class: "muted" }, "texts are not kept"), row.asked.length > 1 && h("span", { class: "muted" }, ` and ${plural(row.asked.length - 1, "wording")}`)),
      h("span", { class: "num" }, `${row.searches.toLocaleString("en")}×`),
      h("span", { class: "num" }, row.callers === null ? "" : plural(row.callers, "caller")),
      h("span", { class: "muted" }, when(row.last_at)), mark(row)],
    chosen: (row) => { sought = null; show(row); }, open: () => split.open(), none: () => { panel = null; split.of = null; split.show(h("p", { class: "empty" }, "Nothing is open.")); },
  });
  list.element.classList.add("missed-row");
  const split = new Split(list, "The request");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter requests", placeholder: "Filter by words or tools", value: options.get("filter") ?? "", oninput: chosen });
  list.openedFrom(search);
  const choice = (label, values, value, run) => { const made = select(values, value, run); made.setAttribute("aria-label", label); return made; };
  const given = (name, values, other, from = options) => (values.includes(from.get(name)) ? from.get(name) : other);
  const state = choice("State", STATES, given("state", STATES.map(([id]) => id), "open"), chosen);
  const order = choice("Order", [["count", "most searches first"], ["latest", "latest first"]], given("sort", ["latest"], "count"), () => filter());
  const days = choice("Days", DAYS.map((number) => [number, `${number} days`]), given("days", DAYS, "30"), () => load());
  const count = h("span", { class: "count" });
  const says = h("div", {});
  const proof = h("p", { role: "status", tabindex: "-1" });
  const download = (form, text) => h("button", { type: "button", title: "the requests of this state, to plan with", onclick: () => save(form) }, text);
  const element = h("div", { class: "stack" },
    h("div", { class: "tools" }, search, state, order, days, download("csv", "CSV"), download("jsonl", "JSON Lines"),
      h("button", { type: "button", onclick: () => load() }, "Reload ", h("kbd", {}, "r")), count),
    says, proof, split.element);

  const mark = (row) => { const [shape, text] = SAYS[row.state]; return h("span", { class: `state ${shape}` }, text); };
  const recall = () => remember("missed", {
    filter: search.value, state: state.value !== "open" && state.value, sort: order.value !== "count" && order.value, days: days.value !== "30" && days.value,
    request: list.current?.query,
  });

  async function load() {
    const mine = ++turn;
    try {
      const answer = await act("missed/groups", { days: Number(days.value) });
      if (mine !== turn) return;
      found = answer;
      isRead = true;
      list.unread = null;
      solved(UNREAD);
      drawSays();
      const wanted = sought;
      sought = null;
      if (wanted) reach(wanted);
      else filter();
      if (!list.current && !list.choose(0)) list.none();
      else if (list.current && split.of !== seenOf(list.current)) show(list.current); // decided elsewhere meanwhile
    } catch (error) {
      if (mine !== turn) return;
      if (!isRead) list.unread = notRead(error);
      const wanted = sought; // filtering may choose another one
      filter();
      sought = wanted;
      showProblem(error, UNREAD, load);
    }
  }

  const seenOf = (row) => `${keyOf(row)} ${row.decision?.at ?? ""} ${row.searches}`;

  function drawSays() {
    const { receipts, receipts_days: keptDays, scope, of_process: ofProcess, left_out: leftOut } = found;
    const memory = ofProcess ? " Shown are the last ones that the process which answers remembers, until it ends." : "";
    fill(says,
      scope && h("p", { class: "note" }, `To see the requests that found nothing takes a token with scope ${scope}${scope === "admin" ? ", as you are in no organisation" : ""}. Shown is what was judged already.${memory}`),
      receipts === "off" && h("p", { class: "note" }, "Receipts are not kept, so what found nothing is not known for long: set ", SETTING.cloneNode(true), ` where Skillroute runs.${memory}`),
      receipts === "without-texts" && h("p", { class: "note" }, "Receipts are kept without texts, so there are counts and tools alone: set ", SETTING.cloneNode(true), ` where Skillroute runs, to see what was asked.${memory}`),
      keptDays !== null && receipts !== "off" && keptDays < Number(days.value) && h("p", { class: "muted" }, `Receipts are kept for ${plural(keptDays, "day")}: SKILLROUTE_RECEIPTS_DAYS says how long.`),
      leftOut > 0 && h("p", { class: "muted" }, `${plural(leftOut, "rarer group")} left out.`));
  }

  function emptyWords() {
    if (!isRead) return "Reading …";
    if (found.scope && !found.rows.length) return "Nothing was judged yet.";
    if (!found.rows.length) return [h("p", {}, `No search of the last ${days.value} days found nothing: each had a tool that seems to fit.`),
      h("p", {}, "Requests come here by themselves when callers search, or report that nothing fits. To try one yourself, go to ", h("a", { href: "#/search" }, "Search"), ".")];
    if (state.value === "open" && !search.value) return [h("p", {}, "All requests that found nothing are decided on."),
      h("p", {}, "Those that are served stand under “served”, until a search finds their tool.")];
    return "No request matches the filter.";
  }

  /** Filter as the person says, who looks for nothing else now. */
  function chosen() {
    sought = null;
    filter({ first: true });
  }

  function filter(how) {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (row) => [...row.asked.map(({ query }) => query), ...row.tools.map(({ server, name }) => `${server ?? ""}/${name}`), row.decision?.tool?.title ?? ""].join(" ").toLowerCase();
    // Where a tool is typed, the request stays open though another tab has decided it: the next letters are not for the next one.
    const isTyping = split.detail.contains(document.activeElement) && Boolean(document.activeElement.value);
    const rows = found.rows.filter((row) => (isTyping && list.shows(keyOf(row)))
      || ((state.value === "all" || row.state === state.value) && words.every((word) => text(row).includes(word))));
    rows.sort(order.value === "latest" ? (a, b) => (b.last_at ?? "").localeCompare(a.last_at ?? "") : (a, b) => b.searches - a.searches);
    const wanted = isRead ? options.get("request") : null;
    if (isRead) options.delete("request");
    if (wanted && rows.some((row) => row.query === wanted)) list.expect(wanted);
    else if (wanted) return reach(wanted);
    list.show(rows, isRead ? emptyWords() : undefined, how);
    const of = found.rows.filter((row) => row.state === "open").length;
    fill(count, `${plural(rows.length, "request")}${state.value === "open" ? "" : `, ${of} to decide`}`);
    if (wanted && list.current?.query === wanted) show(list.current);
    recall();
    return undefined;
  }

  /** Show what another address of the page has. */
  function follow(address) {
    search.value = address.get("filter") ?? "";
    state.value = given("state", STATES.map(([id]) => id), "open", address);
    order.value = given("sort", ["latest"], "count", address);
    const before = days.value;
    days.value = given("days", DAYS, "30", address);
    const request = sought = address.get("request");
    if (!isRead) {
      sought = null;
      options = address; // its request is opened once it is known what there is
      return load();
    }
    if (days.value !== before) return load();
    sought = null;
    return request ? reach(request) : filter({ first: true });
  }

  /** Open a request, of any state; where it is gone, say so. */
  function reach(query) {
    const row = found.rows.find((one) => one.asked.some((each) => each.query === query));
    if (row && state.value !== "all" && row.state !== state.value) state.value = row.state;
    filter();
    if (!row) return void say(`Not among those of the last ${days.value} days: ${query}`);
    if (!list.rows.includes(row)) { // what is open stands in the list
      search.value = "";
      filter();
    }
    if (list.chooseKey(keyOf(row))) split.open();
    return undefined;
  }

  function show(row) {
    const isFocused = split.detail.contains(document.activeElement);
    split.of = seenOf(row);
    const canDecide = row.query !== null && !found.scope;
    panel = row.query === null ? null : nearestPanel(row, canDecide && row.state !== "served" ? (tool) => serve(row, tool) : null);
    const served = h("p", {});
    split.show(
      h("h2", {}, row.query ?? "Texts are not kept"),
      h("p", { class: "muted" }, mark(row), " ", about(row)),
      row.decision && decided(row, canDecide), served,
      canDecide && row.state !== "served" && endings(row),
      row.asked.length > 1 && wordings(row),
      panel?.element,
      row.query === null && row.tools.length > 0 && h("p", {}, "Shown all the same: ", row.tools.map((tool, at) => [at > 0 && ", ", h("a", { href: `#/catalogue?tool=${tool.id}` }, tool.server ? `${tool.server}/${tool.name}` : tool.name)])));
    if (isFocused && !split.detail.contains(document.activeElement)) split.detail.focus();
    panel?.load().then((answer) => answer && row.state === "served" && fill(served, inWordsOf(row, answer)));
    recall();
  }

  function inWordsOf(row, { tools, no_match: isNothing }) {
    const [shape, text] = placeInWords({ place: tools.findIndex((tool) => tool.db_id === row.decision.tool.id) + 1, isNothing });
    return h("span", { class: `state ${shape}` }, text);
  }

  function about(row) {
    if (row.source === "decision") return "No such search in this time.";
    return [`${plural(row.searches, "search").replace(/searchs$/, "searches")}${row.callers === null ? "" : ` of ${plural(row.callers, "caller")}`}`, row.last_at && [", last ", when(row.last_at)], "."];
  }

  function decided(row, canDecide) {
    const { decision, tool, at } = row.decision;
    const since = row.last_at && row.last_at > at && row.source !== "decision";
    return h("div", { class: "actions" },
      h("span", {}, decision === "served" ? ["Served by ", h("a", { class: "code", href: `#/catalogue?tool=${tool.id}` }, tool.title)] : DONE[decision], ", decided ", when(at), "."),
      since && h("span", { class: "state so" }, "found nothing again since"),
      canDecide && h("button", { type: "button", onclick: () => undo(row.decision) }, "Take it back ", h("kbd", {}, "b")));
  }

  function endings(row) {
    const button = (decision, text, key) => row.state !== decision && h("button", { type: "button", onclick: () => decide(row, decision) }, text, " ", h("kbd", {}, key));
    return h("p", { class: "actions" }, button("nothing", "Nothing should", "n"), button("missing", "A tool is missing", "m"), button("dismissed", "Not a request", "x"),
      h("a", { href: `#/search?q=${encodeURIComponent(row.query)}` }, "Search for it"));
  }

  const wordings = (row) => h("details", { open: row.asked.length < 8 }, h("summary", {}, `${row.asked.length} wordings`),
    h("div", { class: "sideways" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Wording"), h("th", { class: "num" }, "Searches"), h("th", { class: "num" }, "Callers"), h("th", {}, "Last"))),
      h("tbody", {}, row.asked.map((each) => h("tr", {}, h("td", {}, each.query), h("td", { class: "num" }, each.searches ?? ""), h("td", { class: "num" }, each.callers ?? ""), h("td", {}, when(each.last_at))))))));

  const groupOf = (row) => ({ query: row.query, wordings: row.asked.map(({ query }) => query), seen: row.decision?.at ?? null, searches: row.searches, callers: row.callers ?? 0, last_at: row.last_at });

  /** Send a decision; one that was made elsewhere meanwhile is shown, and not written over. */
  async function send(query, what, action, fields, again) {
    try {
      const answer = await act(action, fields);
      if (!answer.full) for (const each of UNDONE) solved(`${query}: ${each}`);
      others.postMessage("decided");
      return answer;
    } catch (error) {
      showProblem(error, `${query}: ${what}`, error.now === undefined ? again : undefined);
      if (error.now !== undefined) await readAnew();
      return null;
    }
  }

  /** Read what was changed; where the page was left meanwhile, the one that is shown does. */
  const readAnew = () => (element.isConnected ? load() : document.dispatchEvent(new CustomEvent("changed-elsewhere")));

  /** Decide on a request, once until that is shown. */
  async function once(row, run) {
    const key = keyOf(row);
    if (deciding.has(key)) return null;
    deciding.add(key);
    try { return await run(); } finally { deciding.delete(key); }
  }

  async function serve(row, tool, replace = null) {
    if (row.state === "served" || found.scope || row.query === null) return;
    let mine = null; // its turn on the line, from when it was written: before it is shown it may be taken back, or another served
    const answer = await once(row, async () => {
      const sent = await send(row.query, "not served", "missed/serve", { group: groupOf(row), tool_id: tool.id, replace }, () => serve(row, tool, replace));
      if (!sent || sent.full) return sent;
      mine = ++proofs;
      await done(sent, `${tool.title} serves it: ${row.query}`);
      return sent;
    });
    if (answer?.full) askWhichToReplace(answer, row.query, (text) => serve(row, tool, text));
    if (mine && mine === proofs && element.isConnected) await prove(row.query, tool);
  }

  async function prove(query, tool) {
    const mine = ++proofs;
    if (proof.contains(document.activeElement)) proof.focus(); // the button there goes
    fill(proof, h("span", { class: "muted" }, `Searching again: ${query} …`));
    try {
      const [shape, text] = placeInWords(await placeNow(query, tool.id, () => mine === proofs));
      if (mine !== proofs) return;
      fill(proof, h("span", { class: `state ${shape}` }, `${query}: ${tool.title} is ${text}.`), shape !== "ok" && [" ", h("button", { type: "button", onclick: () => prove(query, tool) }, "Search again")]);
    } catch (error) {
      if (mine !== proofs) return;
      fill(proof);
      showProblem(error, "Whether a search finds it now is not known", () => prove(query, tool));
    }
  }

  async function decide(row, decision) {
    if (found.scope || row.query === null || row.state === "served" || row.state === decision) return;
    await once(row, async () => {
      const answer = await send(row.query, "not decided", "missed/decide", { group: groupOf(row), decision }, () => decide(row, decision));
      if (answer) await done(answer, `${DONE[decision]}: ${row.query}`);
    });
  }

  async function done(answer, text) {
    say(text, { action: "Undo", run: () => undo(answer), forMs: 10000 });
    fill(proof);
    await readAnew();
    if (!document.activeElement || document.activeElement === document.body) (split.element.classList.contains("open") ? split.detail : list.box).focus();
  }

  async function undo({ query, at }) {
    const answer = await send(query, "not taken back", "missed/undo", { query, seen: at }, () => undo({ query, at }));
    if (!answer) return;
    say(answer.kept.length ? `Taken back, but for ${answer.kept.join(" and ")}: others have changed it since.` : `Taken back: ${query}`);
    proofs += 1; // what was taken back is not to be found
    fill(proof);
    sought = query;
    await readAnew();
  }

  async function save(form) {
    try {
      const { name, text } = await act("missed/export", { days: Number(days.value), state: state.value === "all" ? "" : state.value, form });
      const url = URL.createObjectURL(new Blob([text], { type: form === "csv" ? "text/csv" : "application/jsonl" }));
      h("a", { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } catch (error) {
      showProblem(error, "The requests cannot be read", () => save(form));
    }
  }

  const looked = () => { if (!document.hidden) load(); };
  const withRow = (run) => () => { if (list.current) run(list.current); };
  const withTool = (tool) => withRow((row) => { if (panel && tool()) serve(row, tool()); });
  const byDays = (by) => () => { days.value = DAYS[Math.max(0, Math.min(DAYS.length - 1, DAYS.indexOf(days.value) + by))]; load(); };
  const nth = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [String(number), {
    says: number === 1 && "the first of the nearest tools serves it; 2 to 9 the others", run: withTool(() => panel.nth(number)), isOnce: true }]));
  return {
    element, list: () => list, escape: () => split.close(),
    enter: () => { document.addEventListener("visibilitychange", looked); others.onmessage = () => load(); return load(); },
    leave: () => { turn += 1; proofs += 1; document.removeEventListener("visibilitychange", looked); others.onmessage = null; },
    options: follow,
    keys: {
      ...nth,
      s: { says: "the chosen tool serves it", run: withTool(() => panel.chosen()), isOnce: true },
      f: { says: "find another tool that serves it", run: () => panel?.toOther() },
      n: { says: "nothing should serve it", run: withRow((row) => decide(row, "nothing")), isOnce: true },
      m: { says: "a tool is missing", run: withRow((row) => decide(row, "missing")), isOnce: true },
      x: { says: "not a request", run: withRow((row) => decide(row, "dismissed")), isOnce: true },
      b: { says: "take the decision back", run: withRow((row) => row.decision && !found.scope && undo(row.decision)), isOnce: true },
      "[": { says: "fewer days", run: byDays(-1) }, "]": { says: "more days", run: byDays(1) },
      r: { says: "read everything again", run: () => load() },
    },
  };
}
