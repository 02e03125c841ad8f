// Evaluation: the judged requests, edited, and what searches make of them.
import { act } from "./calls.js";
import { choose, fill, h, plural, select } from "./dom.js";
import { inWords, requestEditor, unsavedRequest } from "./evaluation_editor.js";
import { failedNow, runPanel, runsEnded } from "./evaluation_run.js";
import { List, Split } from "./list.js";
import { notRead, showProblem, solved } from "./notices.js";

const UNREAD = "The requests cannot be read";
const KINDS = [["", "all requests"], ["failed", "not served in the last run"], ["nothing", "nothing serves them"], ["many", "with several needs"],
  ["use", "from use"], ["broken", "that cannot be read"]];
const FITS = {
  "": () => true, failed: (row, failed) => failed?.has(row.query), nothing: (row) => row.is_whole && !row.needs.length,
  many: (row) => row.needs.length > 1, use: (row) => row.source === "use", broken: (row) => !row.is_whole,
};

export function make({ options, remember }) {
  let rows = [];
  let name = "";
  let isReading = false;
  let tab = options.get("show") === "runs" ? "runs" : "requests";
  let isAdding = false; // a new request is open: an answer that comes late puts no other one in its place
  const list = new List({
    label: "Requests", key: (row) => row.query,
    row: (row) => [
      h("span", {}, row.query, " ", unsavedRequest(row.query)),
      h("span", { class: row.is_whole ? "muted" : "state no" }, !row.is_whole ? "unreadable" : row.needs.length ? plural(row.needs.length, "need") : "nothing"),
      h("span", { class: "muted code" }, inWords(row.needs))],
    chosen: show, open: () => split.open(), none: () => split.nothing(),
    empty: [h("p", {}, "No judged requests yet."),
      h("p", {}, "Add one here: what is asked for, and the tools that serve it. Marks of the page Search are added by themselves. Fifty are enough to see what is wrong.")],
  });
  list.element.classList.add("request-row");
  const split = new Split(list, "The request");
  const search = h("input", { type: "search", "data-first": true, "aria-label": "Filter requests", placeholder: "Filter by words or tools",
    value: options.get("filter") ?? "", oninput: () => filter({ first: true }) });
  list.openedFrom(search);
  const kind = select(KINDS, options.get("kind"), () => filter({ first: true }));
  kind.setAttribute("aria-label", "Kind");
  const adding = h("button", { type: "button", onclick: create });
  const count = h("span", { class: "count" });
  const says = h("div", {});
  const runs = runPanel({ open: (query) => { to("requests"); reach(query); }, ended: () => { if (tab === "requests") filter(); } });
  const tabs = h("span", { class: "tabs" }, [["requests", "Requests"], ["runs", "Runs"]].map(([id, title]) =>
    h("button", { type: "button", "data-tab": id, onclick: () => to(id) }, title)));
  const tools = h("div", { class: "tools" });
  const body = h("div", { class: "stack" });
  body.style.flex = "1";
  const element = h("div", { class: "stack" }, tools, says, body);

  function to(id) {
    const isFocused = tabs.contains(document.activeElement);
    tab = id;
    for (const button of tabs.children) button.setAttribute("aria-pressed", String(button.dataset.tab === tab));
    fill(tools, tabs, tab === "requests" && [search, kind, adding, h("button", { type: "button", onclick: () => load() }, "Reload"), count]);
    fill(body, tab === "requests" ? split.element : runs.element);
    if (isFocused) tabs.querySelector(`[data-tab=${tab}]`).focus();
    if (tab === "requests") filter();
    recall();
  }

  const recall = () => remember("evaluation", {
    show: tab === "runs" && "runs", filter: search.value, kind: kind.value, request: tab === "requests" && (list.current?.query ?? (list.unread && options.get("request"))),
  });

  function filter(how) {
    const given = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const failed = failedNow();
    const text = (row) => [row.query, ...row.needs.flat(), ...row.wrong].join(" ").toLowerCase();
    // Where a person types, the request stays open though a run has served it: the next letters are not meant for another.
    const shown = rows.filter((row) => (isTyping() && list.shows(row.query))
      || (FITS[kind.value](row, failed) && given.every((word) => text(row).includes(word))));
    list.isPartial = isAdding || isReading;
    list.show(shown, rows.length ? (kind.value === "failed" && !failed ? "Nothing was run yet: see Runs." : "No request matches the filter.") : undefined, how);
    fill(count, list.unread ? "" : shown.length === rows.length ? plural(rows.length, "request") : `${shown.length} of ${plural(rows.length, "request")}`);
    fill(adding, "New request ", unsavedRequest(null), " ", h("kbd", {}, "n"));
    recall();
  }

  let reading = 0;

  async function load() {
    const mine = ++reading;
    const ran = runsEnded();
    isReading = list.isPartial = true; // until then a request that was just written is not missing
    try {
      const found = await act("evaluation/requests");
      if (mine !== reading) return; // an answer that comes late has older rows
      isReading = false;
      ({ rows, name } = found);
      list.unread = null;
      solved(UNREAD);
      fill(says, found.unread > 0 && h("p", { class: "note" },
        `${plural(found.unread, "line")} of ${name} ${found.unread === 1 ? "is" : "are"} no request: nothing is measured until it is mended or taken out of the file.`));
      if (ran === runsEnded()) runs.setHistory(found.history); // else it is from before a run that is shown by now
      filter();
      if (isAdding) return;
      const wanted = list.chosenKey ?? options.get("request"); // the address may be another one by now
      if (wanted && list.chooseKey(wanted)) return;
      if (!list.current && !list.choose(0)) split.nothing();
    } catch (error) {
      if (mine !== reading) return;
      isReading = list.isPartial = false;
      if (!rows.length) list.unread = notRead(error);
      if (tab === "requests") filter();
      showProblem(error, UNREAD, () => load());
    }
  }

  function reach(query) {
    if (list.chooseKey(query)) return split.open();
    search.value = kind.value = ""; // what is open stands in the list
    filter();
    if (list.chooseKey(query)) split.open();
    return undefined;
  }

  function show(row) {
    const isFocused = split.detail.contains(document.activeElement);
    isAdding = false;
    split.of = row.query;
    split.show(requestEditor(row, (...what) => changed(row.query, ...what)));
    if (isFocused && !split.detail.contains(document.activeElement)) split.detail.focus();
    recall();
  }

  const isTyping = () => split.detail.contains(document.activeElement) && document.activeElement.matches("input, textarea");

  /** Show a request as it was written, and open it, unless the person has gone on to another one. */
  async function changed(of, query, isUndone = false) {
    const wasOpen = split.detail.contains(document.activeElement);
    if ((isAdding ? of === null : split.of === of) || (isUndone && !isTyping())) {
      isAdding = false;
      if (query !== null) list.expect(query);
    }
    if (!element.isConnected) return void document.dispatchEvent(new CustomEvent("changed-elsewhere")); // it may have been opened anew
    await load();
    if (wasOpen && !document.activeElement?.closest(".detail, input, textarea")) split.detail.focus();
  }

  function create() {
    to("requests");
    isAdding = true;
    split.of = null;
    split.show(requestEditor(null, (...what) => changed(null, ...what)));
    split.open();
    split.detail.querySelector("textarea").focus();
  }

  list.unread = "Reading …";
  to(tab);
  return {
    element, enter: () => load(), leave: () => { reading += 1; runs.leave(); }, list: () => (tab === "requests" ? list : null), escape: () => split.close(),
    options: (address) => {
      options = address;
      choose(kind, address.get("kind"));
      search.value = address.get("filter") ?? "";
      to(address.get("show") === "runs" ? "runs" : "requests");
      if (address.get("request") && !list.unread) reach(address.get("request"));
    },
    keys: {
      n: { says: "add a request", run: create },
      t: { says: "show the requests, or the runs", run: () => to(tab === "requests" ? "runs" : "requests") },
      r: { says: "evaluate, or stop", run: () => { to("runs"); runs.toggle(); } },
    },
  };
}
