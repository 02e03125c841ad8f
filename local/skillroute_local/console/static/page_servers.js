// Servers: all that items have, how they answered last, on and off for several at once, and the import of others.
import { act, events } from "./calls.js";
import { choose, fill, h, later, plural, select, when } from "./dom.js";
import { makeImport } from "./import_panel.js";
import { List, Split } from "./list.js";
import { notRead, say, showProblem, solved } from "./notices.js";
import { Selection } from "./selection.js";

const STATES = [["", "all states"], ["on", "on"], ["off", "off"], ["unregistered", "not registered"], ["failing", "failing"], ["waiting", "changes wait"], ["today", "changed today"]];
const ORDERS = [["", "by name"], ["changed", "last change first"], ["tools", "most tools first"]];
const HEALTH = {
  seen: ["ok", "answered", "It answered with its tools."], doubted: ["so", "doubted", "It answered, and its list was not believed: it was empty, or lost more than half."],
  failed: ["no", "failed", "It could not be asked for its tools."], left_out: ["so", "left out", "It is not asked, since only people can log in there."],
};
const isToday = (text) => Boolean(text) && new Date(text).toDateString() === new Date().toDateString();
const UNREAD = "The servers cannot be read";
const SORTS = {
  "": (a, b) => a.name.localeCompare(b.name),
  changed: (a, b) => (b.changed_at ?? "").localeCompare(a.changed_at ?? "") || a.name.localeCompare(b.name),
  tools: (a, b) => b.tool_count - a.tool_count || a.name.localeCompare(b.name),
};
const FITS = {
  on: (one) => one.is_enabled, off: (one) => !one.is_enabled, unregistered: (one) => one.id === null,
  failing: (one) => one.outcome === "failed" || one.outcome === "doubted", waiting: (one) => one.waiting > 0, today: (one) => isToday(one.changed_at),
};
const unwritten = (some) => `${some.slice(0, 5).map(({ name }) => name).join(", ")}${some.length > 5 ? ` and ${some.length - 5} more` : ""}: not switched`;
const textOf = (one) => [one.name, one.path, one.description, ...one.names, ...one.tags].join(" ").toLowerCase();

export function make({ options, remember }) {
  let rows = [];
  let turn = 0;
  let toolsTurn = 0;
  let switching = null; // what is being written: who presses a button twice means it once
  let countsAll = true;
  let isWhole = false; // all rows were read
  let reading = null; // how many items were read, and of how many
  let wanted = options.get("server"); // that shall be open once it is read

  const list = new List({
    label: "Servers", key: (one) => one.key, row: drawRow,
    chosen: (one) => { wanted = null; show(one); }, open: () => split.open(), none: () => { split.nothing(); keep(); },
    empty: [h("p", {}, "No servers yet."), h("p", {}, "Press ", h("kbd", {}, "i"), " to import tools from a file or a server, or run ", h("code", {}, "skillroute import mcp.json --register"), ".")],
  });
  list.element.classList.add("servers-row");
  const ticked = new Selection(list, { word: "server", changed: () => mark() });
  const split = new Split(list, "The server");
  const readSoon = later(showTools, 90);

  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter", placeholder: "Filter by name, path, text or tag",
    value: options.get("filter") ?? "", oninput: () => filter({ first: true }) });
  list.openedFrom(search);
  const state = select(STATES, options.get("state") ?? "", () => filter({ first: true }));
  const order = select(ORDERS, options.get("sort") ?? "", () => filter());
  state.setAttribute("aria-label", "State");
  order.setAttribute("aria-label", "Order");
  const count = h("span", { class: "count" });
  const on = h("button", { type: "button", onclick: () => switchTicked(true) });
  const off = h("button", { type: "button", onclick: () => switchTicked(false) });
  const became = h("div", { role: "status" });
  const importing = makeImport({ done: showImported, leave: () => view("list") });
  const toImport = h("button", { type: "button", onclick: () => view("import") }, "Import ", h("kbd", { "aria-hidden": "true" }, "i"));
  const listView = h("div", { class: "stack servers-list" },
    h("div", { class: "tools" }, search, state, order, toImport, h("button", { type: "button", onclick: () => load() }, "Reload"), count),
    ticked.bar(on, off), became, split.element);
  const element = h("div", { class: "stack" });
  let shown = null;

  function view(name) {
    if (shown === name) return;
    shown = name;
    fill(element, name === "import" ? importing.element : listView);
    keep();
    if (name === "import") importing.focus();
    else { list.redraw(); toImport.focus(); }
  }

  /** Keep in the address what is open, and what is filtered. */
  function keep() {
    if (shown === "import") return remember("servers", { view: "import" });
    const open = list.isEmptied ? undefined : list.current ?? (wanted && { tools_server: wanted });
    return remember("servers", { server: open?.tools_server || open?.name, filter: search.value, state: state.value, sort: order.value });
  }

  function drawRow(one) {
    return [
      ticked.cell(one),
      h("span", { class: one.is_enabled ? "" : "off" }, one.name),
      h("span", { class: one.is_enabled ? "state ok" : "state no" }, one.is_enabled ? "on" : "off"),
      h("span", { class: "num" }, plural(one.tool_count, "tool")),
      h("span", {}, one.waiting > 0 && [h("span", { class: "state so" }, `${one.waiting.toLocaleString("en")} to approve`), ", "], health(one)),
      h("span", { class: "muted" }, when(one.changed_at))];
  }

  function health(one) {
    if (one.id === null) return h("span", { class: "muted" }, "not registered");
    const [kind, says] = HEALTH[one.outcome] ?? ["muted", one.outcome ?? "never asked"];
    return h("span", { class: kind === "muted" ? "muted" : `state ${kind}` }, says);
  }

  function filter(how) {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = FITS[state.value] ?? (() => true);
    const found = rows.filter((one) => fits(one) && words.every((word) => one.text.includes(word))).sort(SORTS[order.value] ?? SORTS[""]);
    list.show(found, rows.length ? "No server matches: clear the filter (/, then Esc), or choose all states." : undefined, how);
    fill(count, list.unread && !rows.length ? "" : found.length === rows.length ? plural(rows.length, "server") : `${found.length.toLocaleString("en")} of ${plural(rows.length, "server")}`,
      reading ? `, reading tools: ${reading.done.toLocaleString("en")} of ${(reading.total ?? 0).toLocaleString("en")}` : "", !countsAll && ", not all changes counted");
    ticked.mark();
    keep();
  }

  async function load() {
    const mine = ++turn;
    isWhole = false;
    try {
      for await (const found of events("servers/listed", {}, {})) {
        if (mine !== turn) return; // the server ends the reading when its answer is not taken
        reading = found.reading;
        // What was there before stays until all is read: a list that shrinks under the hand is none.
        if (found.rows && (!reading || !rows.length)) {
          countsAll = found.counted_all;
          offerWaiting(found.counts_waiting);
          rows = found.rows.map((one) => ({ ...one, text: textOf(one) }));
        }
        list.isPartial = reading !== null;
        list.unread = reading ? "Reading …" : null;
        const wish = wanted; // filtering may choose another one
        filter();
        if (!reading) wanted = wish;
        if (!reading || !wanted) settle();
      }
      if (mine !== turn) return;
      isWhole = true;
      solved(UNREAD);
    } catch (error) {
      if (mine !== turn) return;
      reading = null; // what is missing does not come
      list.isPartial = false;
      if (!rows.length) list.unread = notRead(error);
      filter();
      showProblem(error, UNREAD, load);
    }
  }

  /** Offer no state that the caller may not see: nothing would be in it. */
  function offerWaiting(isSeen) {
    fill(state.querySelector("[value=waiting]"), isSeen ? "changes wait" : "changes wait (scope catalog)").disabled = !isSeen;
  }

  /** Open what the address names, else what was open, else the first. */
  function settle() {
    if (wanted) reach(wanted);
    else if (list.current) show(list.current);
    else list.choose(0);
  }

  const named = (name) => rows.find((one) => one.names.includes(name) || one.name === name);

  function reach(name) {
    wanted = null;
    const one = named(name);
    if (!one) {
      say(`No server is called ${name} any more.`);
      return void list.choose(0);
    }
    if (!list.chooseKey(one.key)) {
      search.value = state.value = ""; // what is open stands in the list
      list.expect(one.key);
      filter();
      show(one);
    }
    split.open();
  }

  function show(one) {
    keep();
    const isAgain = split.of === one.key;
    split.of = one.key;
    const [, , says] = HEALTH[one.outcome] ?? [];
    const before = isAgain ? split.detail.querySelector(".server-tools") : null;
    split.show(
      h("h2", {}, one.name),
      h("p", { class: "muted" }, one.id === null ? "not registered: items name it" : one.path, ", ", plural(one.tool_count, "tool"), one.changed_at && [", last change ", when(one.changed_at)]),
      h("p", { class: "lead" }, one.description || h("span", { class: "muted" }, "It has no description.")),
      h("p", { class: "chips" }, one.tags.map((tag) => h("span", { class: "chip" }, `#${tag}`))),
      h("p", {}, one.is_enabled ? "Searches return this server and its tools." : "This server is switched off: searches do not return it or its tools."),
      h("p", { class: "actions" }, h("button", { type: "button", "data-draft": "server-switch", onclick: () => switchAll([one], !one.is_enabled) }, one.is_enabled ? "Switch off" : "Switch on", " ", h("kbd", { "aria-hidden": "true" }, "o"))),
      h("h3", {}, "Last contact"),
      h("p", {}, health(one), one.seen_at && [", ", when(one.seen_at)]),
      says && h("p", { class: "muted" }, says),
      one.seen_error && h("p", { class: "note" }, one.seen_error),
      one.id !== null && !one.outcome && h("p", { class: "muted" }, "Registered servers with an address are asked once a day. Import it with its address to have it asked."),
      one.id === null && h("p", { class: "muted" }, "Switching it off or on registers it by this name."),
      h("h3", {}, "Changes"),
      h("p", {}, one.waiting === null ? h("span", { class: "muted" }, "Changed definitions are shown to callers with scope catalog.")
        : one.waiting > 0 ? h("a", { href: "#/changes" }, `${plural(one.waiting, "changed definition")} to be approved or rejected`)
          : h("span", { class: "muted" }, "No changed definition waits.")),
      h("h3", {}, "Tools"), before ?? h("div", { class: "server-tools" }, h("p", { class: "muted" }, "Reading …")));
    readSoon(one);
  }

  async function showTools(one) {
    if (!element.isConnected || !list.shows(one.key)) return;
    const mine = ++toolsTurn;
    const what = `The tools of ${one.name} cannot be read`;
    const place = () => mine === toolsTurn && list.shows(one.key) && split.detail.querySelector(".server-tools");
    try {
      const found = one.names.length ? await act("servers/tools", { names: one.names }) : { rows: [], total: 0 };
      if (!place()) return;
      solved(what);
      fill(place(), found.total === 0 ? h("p", { class: "muted" }, "It has no tools, prompts or resources here.") : [
        h("p", {}, h("a", { href: `#/catalogue?server=${encodeURIComponent(one.tools_server || one.name)}` }, "Show them in the catalogue")),
        h("ul", { class: "plain" }, found.rows.map((item) => h("li", {},
          h("a", { href: `#/catalogue?tool=${item.id}`, class: "code" }, item.name),
          item.type !== "tool" && [" ", h("span", { class: "chip" }, item.type)],
          item.is_quarantined ? [" ", h("span", { class: "state so" }, "waits for approval")] : !item.is_active && [" ", h("span", { class: "state no" }, "off")])),
        found.total > found.rows.length && h("li", { class: "muted" }, `and ${(found.total - found.rows.length).toLocaleString("en")} more`))]);
    } catch (error) {
      if (!element.isConnected || !place()) return; // the page was left, or shows something newer
      fill(place(), h("p", { class: "muted" }, "They cannot be read."));
      showProblem(error, what, () => showTools(one));
    }
  }

  function selected() { return ticked.among(rows); }

  function mark() {
    const those = selected();
    const up = those.filter((one) => one.is_enabled).length;
    const down = those.length - up;
    fill(on, `Switch on (${down})`);
    fill(off, `Switch off (${up})`);
    on.disabled = down === 0;
    off.disabled = up === 0;
  }

  const switchTicked = (to) => switchAll(selected().filter((one) => one.is_enabled !== to), to);
  /** Switch servers as they are shown; what another user switched meanwhile is shown, and left as it is. */
  const switchAll = (some, to) => { if (some.length) switching ??= write(some, to).finally(() => { switching = null; }); return switching; };
  /** Switch servers once what is being written is: Undo and "Try again" are meant, also while another switch goes on. */
  async function switchAfter(some, to) {
    while (switching) await switching;
    await switchAll(some, to);
  }

  async function write(some, to) {
    const says = (count) => (some.length === 1 ? some[0].name : plural(count, "server"));
    try {
      const results = await act("servers/switch", { on: to, servers: some.map((one) => ({ key: one.key, id: one.id, name: one.name, was_enabled: one.is_enabled })) });
      const of = (status) => results.filter((result) => result.status === status);
      for (const { key, now } of results) if (now) take(key, now);
      turn += 1; // what was asked for before is older
      if (!element.isConnected) document.dispatchEvent(new CustomEvent("changed-elsewhere")); // it may have been opened anew
      else if (!isWhole) load();
      filter();
      if (list.current) show(list.current);
      const done = of("switched").map(({ now }) => rows.find(({ key }) => key === now.key)).filter(Boolean);
      for (const those of [some, ...done.map((one) => [one])]) solved(unwritten(those));
      fill(became, outcome(of("changed"), of("failed"), some));
      if (done.length) say(`${says(done.length)} ${done.length === 1 ? "is" : "are"} ${to ? "on" : "off"}`, { action: "Undo", forMs: 10000, run: () => switchAfter(done.map((one) => ({ ...one, is_enabled: to })), !to) });
    } catch (error) {
      showProblem(error, unwritten(some), () => switchAfter(some, to));
    }
  }

  /** Put a server as it is now in the place of what was shown; one that was registered has another key. */
  function take(key, now) {
    const at = rows.findIndex((one) => one.key === key);
    if (at < 0) return;
    const merged = { ...rows[at], ...now, names: [...new Set([...rows[at].names, ...now.names])] };
    rows[at] = { ...merged, text: textOf(merged) };
    ticked.rename(key, now.key);
    if (key !== now.key && list.chosenKey === key) list.expect(now.key);
  }

  function outcome(changed, failed, some) {
    const nameOf = ({ key, now }) => now?.name ?? some.find((one) => one.key === key)?.name ?? key;
    return [
      changed.length > 0 && h("p", { class: "note" }, "Left as they are, since another user switched them meanwhile: ", changed.map((one) => `${nameOf(one)} is ${one.now.is_enabled ? "on" : "off"}`).join(", "), "."),
      failed.length > 0 && h("div", { class: "note" }, "Not switched:", h("ul", {}, failed.map((one) => h("li", {}, `${nameOf(one)}: ${one.why}`))))];
  }

  /** Show what came in; servers that are new as a whole can be switched off again. */
  async function showImported(servers) {
    const known = new Set(rows.flatMap((one) => one.names));
    await load();
    const fresh = rows.filter((one) => one.is_enabled && one.names.some((name) => servers.includes(name)) && !one.names.some((name) => known.has(name)));
    if (!fresh.length || !element.isConnected) return;
    say(fresh.length === 1 ? `The server ${fresh[0].name} is new.` : `${fresh.length} servers are new.`, { action: "Switch off", forMs: 10000, run: () => switchAfter(fresh, false) });
  }

  const current = () => (shown === "list" ? list.current : undefined);
  view(options.get("view") === "import" ? "import" : "list");
  return {
    element, enter: () => { importing.enter(); load(); }, leave: () => { turn += 1; importing.leave(); }, list: () => (shown === "list" ? list : null),
    options: (address) => {
      search.value = address.get("filter") ?? "";
      choose(state, address.get("state"));
      choose(order, address.get("sort"));
      view(address.get("view") === "import" ? "import" : "list");
      const name = address.get("server");
      wanted = name !== (list.current?.tools_server || list.current?.name) ? name : null;
      const wish = wanted; // filtering may choose another one
      if (shown === "list") filter({ first: !name });
      wanted = wish;
      if (wanted && (isWhole || named(wanted))) reach(wanted);
    },
    escape: () => (shown === "import" ? view("list") : split.close()),
    keys: {
      i: { says: "import from a file or an address", isOnce: true, run: () => view("import") },
      o: { says: "switch the selected servers, or the one that is open, on or off", isOnce: true, run: () => toggle() },
      t: { says: "select the server in the list, or not (Space in the list)", run: () => ticked.toggle(current()) },
      r: { says: "read everything again", isOnce: true, run: () => load() },
    },
  };

  function toggle() {
    if (shown !== "list") return;
    const some = selected().length ? selected() : [current()].filter(Boolean);
    if (!some.length) return;
    const to = !some.some((one) => one.is_enabled); // where one is on, all go off
    switchAll(some.filter((one) => one.is_enabled !== to), to);
  }
}
