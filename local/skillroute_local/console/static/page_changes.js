// Changes: definitions that are not as they were approved, by server, to be approved or rejected as they were seen.
import { act } from "./calls.js";
import { difference, seen } from "./difference.js";
import { fill, h, plural, when } from "./dom.js";
import { notRead, showProblem, solved } from "./notices.js";

const UNREAD = "Changed definitions cannot be read";
const MOST = 500; // that are read, or decided on, at once
const DONE = { approve: "Approved", reject: "Rejected" };
const nameOf = ({ server, name }) => (server ? `${server}/${name}` : name);
const notDecided = (wanted) => `${wanted.slice(0, 5).map(nameOf).join(", ")}${wanted.length > 5 ? ` and ${wanted.length - 5} more` : ""}: not decided`;
const places = { server: (a, b) => (a.server ?? "").localeCompare(b.server ?? ""), name: (a, b) => a.name.localeCompare(b.name) };

export function make() {
  let rows = [];
  let total = 0;
  let turn = 0; // of what is read: an answer that comes late is of no use
  let reading = 0; // the turn of the list that is being read
  let isDeciding = false;
  const chosen = new Set();
  const reload = h("button", { type: "button", "data-first": true, onclick: () => load() }, "Reload ", h("kbd", {}, "r"));
  const all = h("input", { type: "checkbox", onchange: () => { rows.forEach(({ id }) => (all.checked ? chosen.add(id) : chosen.delete(id))); mark(); } });
  const approve = h("button", { type: "button", onclick: () => several("approve") });
  const reject = h("button", { type: "button", onclick: () => several("reject") });
  const tools = h("div", { class: "tools" }, reload, h("label", { class: "inline" }, all, " Select all that are shown"), approve, reject);
  const became = h("div", { role: "status" });
  const shown = h("div", {});
  const element = h("div", { class: "scroll stack", tabindex: "-1" }, tools, became, shown);

  async function load({ keep = false } = {}) {
    const mine = ++turn;
    reading = mine;
    try {
      const found = await act("changes/listed", rows.length ? { limit: Math.min(MOST, Math.max(25, rows.length)) } : {});
      if (mine !== turn) return;
      if (!keep) fill(became);
      solved(UNREAD);
      take(found.rows, found.total);
    } catch (error) {
      if (mine !== turn) return;
      refused(error);
      showProblem(error, UNREAD, load);
    } finally {
      if (reading === mine) reading = 0;
    }
  }

  async function more(button) {
    const mine = turn;
    button.disabled = true;
    try {
      const found = await act("changes/listed", { offset: rows.length });
      if (mine !== turn) return;
      const known = new Set(rows.map(({ id }) => id));
      const fresh = found.rows.filter(({ id }) => !known.has(id));
      const here = inFocus()?.id; // where the person has gone on to meanwhile
      take([...rows, ...fresh], found.total);
      if (fresh.length && isFree()) focusOn(here ?? fresh[0].id);
    } catch (error) {
      if (mine === turn) showProblem(error, "More cannot be read", () => more(button));
    } finally {
      button.disabled = false;
    }
  }

  /** What the caller may not see is not shown as if there were none. */
  function refused(error) {
    if (error.status !== 401 && error.status !== 403) {
      if (rows.length) return;
      tools.hidden = true;
      fill(shown, notRead(error));
      return;
    }
    [rows, total] = [[], 0];
    tools.hidden = true;
    fill(shown, h("p", { class: "note" }, "Changed definitions are shown to callers with scope ", h("code", {}, "catalog"), "."));
  }

  function take(found, inAll) {
    rows = [...found].sort((a, b) => places.server(a, b) || places.name(a, b) || a.id - b.id);
    total = Math.max(inAll, rows.length);
    for (const id of chosen) if (!rows.some((row) => row.id === id)) chosen.delete(id);
    draw();
  }

  function draw() {
    tools.hidden = rows.length === 0;
    if (rows.length === 0) {
      fill(shown, nothing());
      return;
    }
    const servers = [...new Set(rows.map(({ server }) => server))];
    const next = h("button", { type: "button", onclick: () => more(next) }, "Show more");
    fill(shown,
      h("p", { class: "muted" }, total > rows.length ? `${rows.length} of ${plural(total, "changed definition")}` : plural(total, "changed definition"), ". Where the focus is: ", [["a", " approves, "], ["x", " rejects, "], ["s", " selects."]].map(([key, does]) => [h("kbd", {}, key), does])),
      servers.map((server) => {
        const mine = rows.filter((row) => row.server === server);
        return h("section", {}, h("h2", {}, server ? seen(server) : "Without a server", " ", h("small", {}, mine.length)), mine.map(drawItem));
      }),
      total > rows.length && h("p", { class: "actions" }, next));
    mark();
  }

  const nothing = () => h("div", { class: "empty" },
    h("p", {}, "No changed definition waits."),
    h("p", {}, "An item is approved as it first comes. Write it again with another description or schema (", h("code", {}, "skillroute import tools.json"),
      "), and it is listed here; registered servers are asked for theirs by themselves. ", h("code", {}, "SKILLROUTE_CHANGED_DEFINITIONS"),
      " says whether it is found meanwhile."));

  function drawItem(row) {
    const name = nameOf(row);
    const box = h("input", { type: "checkbox", "aria-label": `Select ${name}`, checked: chosen.has(row.id),
      onchange: () => { if (box.checked) chosen.add(row.id); else chosen.delete(row.id); mark(); } });
    return h("article", { class: "change", tabindex: "-1", "data-id": row.id, "aria-label": name },
      h("div", { class: "actions" }, box,
        h("h3", {}, h("a", { href: `#/catalogue?tool=${row.id}` }, seen(row.name))), row.type !== "tool" && h("span", { class: "chip" }, row.type),
        h("span", { class: `state ${row.is_quarantined ? "no" : "so"}` }, row.is_quarantined ? "quarantined" : "in use"),
        h("span", { class: "chips" }, row.differences.map(({ field }) => h("span", { class: "chip" }, field.replaceAll("_", " "))))),
      h("p", { class: "muted" }, "Changed ", when(row.changed_at), ". Before: ",
        row.approved_by === null ? "taken as it first came, " : ["approved by ", seen(row.approved_by), ", "], when(row.approved_at), "."),
      difference(row, name),
      h("p", { class: "actions" },
        h("button", { type: "button", class: "main", "aria-label": `Approve ${name}`, onclick: () => decide("approve", [row]) }, "Approve"),
        h("button", { type: "button", "aria-label": `Reject ${name}`, onclick: () => decide("reject", [row]) }, "Reject")));
  }

  /** Show what is selected, and draw nothing anew, so that the focus stays. */
  function mark() {
    for (const box of shown.querySelectorAll("article input")) box.checked = chosen.has(Number(box.closest("article").dataset.id));
    all.checked = rows.length > 0 && chosen.size === rows.length;
    all.indeterminate = chosen.size > 0 && !all.checked;
    fill(approve, `Approve selected (${chosen.size})`);
    fill(reject, `Reject selected (${chosen.size})`);
    approve.disabled = reject.disabled = chosen.size === 0;
  }

  function several(decision) {
    const wanted = rows.filter(({ id }) => chosen.has(id)).slice(0, MOST);
    if (wanted.length === 1) return decide(decision, wanted);
    const verb = decision === "approve" ? "Approve" : "Reject";
    const dialog = h("dialog", { "aria-labelledby": "several-title", onclose: () => dialog.remove() },
      h("h2", { id: "several-title" }, `${verb} ${plural(wanted.length, "changed definition")}?`),
      h("ul", { class: "names", tabindex: "0", "aria-label": "What is selected" }, wanted.map((row) => h("li", {}, seen(nameOf(row))))),
      h("p", { class: "actions" },
        h("button", { type: "button", class: "main", onclick: () => { dialog.close(); decide(decision, wanted); } }, `${verb} them`),
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
    document.body.append(dialog);
    dialog.showModal();
    return undefined;
  }

  /** Decide on items as they were seen; what changed meanwhile is shown again, and stays. */
  async function decide(decision, wanted) {
    if (isDeciding) return; // the button was pressed twice
    isDeciding = true;
    const at = rows.findIndex(({ id }) => id === wanted[0].id);
    try {
      const answers = await act("changes/decide", { decision, seen: Object.fromEntries(wanted.map(({ id, changed_at: changed }) => [id, changed])) });
      const here = inFocus()?.id; // where the person has gone on to meanwhile
      const of = (status) => wanted.filter(({ id }) => answers.some((answer) => answer.id === id && answer.status === status));
      fill(became, outcome(decision, of));
      turn += 1; // what was asked for before is older
      const again = of("changed_again");
      const gone = new Set(wanted.filter((row) => !again.includes(row)).map(({ id }) => id));
      wanted.forEach(({ id }) => chosen.delete(id));
      const left = rows.filter(({ id }) => !gone.has(id));
      take(left, total - (rows.length - left.length)); // a reading may have left them out already
      solved(notDecided(wanted));
      if (element.isConnected && (reading || again.length || (rows.length === 0 && total > 0))) await load({ keep: true });
      if (element.isConnected && isFree()) focusOn(rows.some(({ id }) => id === here) ? here : rows[Math.min(at, rows.length - 1)]?.id);
    } catch (error) {
      showProblem(error, notDecided(wanted), () => decide(decision, wanted));
    } finally {
      isDeciding = false;
    }
  }

  function outcome(decision, of) {
    const names = (some) => some.map((row, at) => [at > 0 && ", ", seen(nameOf(row))]);
    const line = (kind, says, some, then) => some.length > 0 && h("p", {}, h("span", { class: `state ${kind}` }, says), " ", names(some), then);
    const done = of(decision === "approve" ? "approved" : "rejected");
    const ids = done.slice(0, 20).map(({ id }) => id).join(" ");
    return [
      line("ok", `${DONE[decision]}:`, done, decision === "reject" && [". Nothing finds or calls what is switched off; ",
        h("code", {}, `skillroute trust approve ${ids}`), " lets it be switched on again."]),
      line("no", "Not decided:", of("changed_again"), ". It changed again, or was decided on, after it was shown here: look at it again."),
      line("so", "Not decided:", of("unchanged"), ". It is as it was approved."),
      line("so", "Not decided:", of("not_found"), ". There is no such item any more, or it is not yours.")];
  }

  const articles = () => [...shown.querySelectorAll("article")];
  const inFocus = () => rows.find(({ id }) => String(id) === document.activeElement?.closest?.("article")?.dataset.id);

  /** Whether the focus is in what is drawn anew, or went with it. */
  const isFree = () => document.activeElement === document.body || shown.contains(document.activeElement);

  function focusOn(id) {
    const article = articles().find(({ dataset }) => dataset.id === String(id));
    if (!article) {
      element.focus();
      return;
    }
    article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "nearest" });
  }

  function move(by) {
    const at = rows.findIndex((row) => row === inFocus());
    if (rows.length) focusOn(rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))].id);
  }

  const onFocused = (run) => () => { const row = inFocus(); if (row) run(row); };
  const toggle = ({ id }) => { if (!chosen.delete(id)) chosen.add(id); mark(); };

  return {
    element, enter: load, again: () => load({ keep: true }), leave: () => { turn += 1; }, list: () => ({ move }),
    keys: {
      a: { isOnce: true, says: "approve the item that has the focus", run: onFocused((row) => decide("approve", [row])) },
      x: { isOnce: true, says: "reject the item that has the focus", run: onFocused((row) => decide("reject", [row])) },
      s: { says: "select the item that has the focus, or not", run: onFocused(toggle) },
      r: { says: "read everything again", run: () => load() },
    },
  };
}
