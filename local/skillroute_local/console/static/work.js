// The part of Health about queues: what waits, what was given up and why, and trying much of it again at once.
import { act, events } from "./calls.js";
import { fill, h, plural, redraw, when } from "./dom.js";
import { age, number, stateOf, stateWithHelp, table, words } from "./health_parts.js";
import { say, showProblem } from "./notices.js";

const COLUMNS = [
  { name: "Queue", isHead: true }, "State", ...["Waiting", "Oldest", "In progress", "Delayed", "Given up", "Dead letters"].map((name) => ({ name, num: true })),
];
const idOf = (work) => `${work.queue}/${work.key ?? work.message_id}`;
const nameOf = (work) => work.tool_name ?? work.key ?? work.message_id ?? "a message";

/** Draws into the places of its sections; `changed` is called with what is wrong. */
export function makeWork(places, changed) {
  let works = [];
  let reasons = [];
  let isBusy = false;
  let counted = null; // what the list was read with
  let turn = 0; // of what is read: an answer that comes late is older than what was tried again or removed since
  const ticked = new Set();
  const all = h("input", { type: "checkbox", id: "failed-all", "data-key": "all", onchange: () => set(open(), all.checked) });
  const again = h("button", { type: "button", "data-key": "again", onclick: () => redrive(open().filter((work) => ticked.has(idOf(work)))) });
  const progress = h("progress", { "aria-label": "Tried again", hidden: true });
  const chosen = h("span", { role: "status", class: "muted" });
  const left = h("div", { role: "status" });
  const bar = h("div", { class: "actions failed-bar" }, h("span", { class: "inline" }, all, h("label", { for: all.id }, "All that can be tried again")), again, progress, chosen);
  const list = h("div", { class: "failed-list" });
  fill(places.failed, bar, left, list);
  places.failed.addEventListener("keydown", onKey);

  const open = () => works.filter((work) => work.is_waiting);
  const ofReason = (reason) => open().filter((work) => work.reason === reason);

  async function load() {
    const mine = ++turn;
    const work = await act("health/work");
    if (mine !== turn) return undefined;
    if (work === null) return draw(null);
    ({ given_up: works, reasons } = work);
    const known = new Set(open().map(idOf));
    for (const id of ticked) if (!known.has(id)) ticked.delete(id);
    counted = failures(work);
    draw(work);
    drawFailed(work.queues);
    drawRefused(work);
    return undefined;
  }

  /** Read the counts; the list only where they changed, as it looks through dead-letter queues. */
  async function refresh() {
    const mine = turn;
    const found = await act("health/queues");
    if (mine !== turn) return undefined;
    if (found !== null && failures(found) !== counted && !isBusy) return load();
    return draw(found);
  }

  const failures = ({ queues, refused_in_all: refused }) => JSON.stringify([queues.map((queue) => [queue.given_up, queue.dead_letters]), refused]);

  function draw(found) {
    changed(found?.findings ?? []);
    // Ages are compared as they are shown: it is drawn anew where a word changes, and not at each reading.
    redraw(places.queues, found && found.queues.map((queue) => ({ ...queue, oldest_s: age(queue.oldest_s) })),
      () => (found === null ? missing() : table("Queues", COLUMNS, found.queues.map(row))));
  }

  function row(queue) {
    const { given_up: failed } = queue;
    return [queue.queue, [stateWithHelp(queue.state), queue.failed.kind !== "ok" && h("p", {}, stateOf(queue.failed))],
      number(queue.waiting), age(queue.oldest_s), number(queue.under_way), number(queue.delayed),
      failed > 0 ? h("a", { href: "#/health?at=failed" }, number(failed)) : number(failed), number(queue.dead_letters)];
  }

  function missing() {
    return h("p", {}, "This console cannot read the queues: the API does not return them. ", h("code", {}, "skillroute console"),
      " shows them for a Skillroute that runs on this machine, and for one whose database and queues its environment names (",
      h("code", {}, "skillroute console --help"), "). The same goes for given-up work, models, migrations and disks.");
  }

  function drawFailed(queues) {
    bar.hidden = open().length === 0;
    const more = queues.map(({ queue, given_up: failed, dead_letters: dead }) => [queue, Math.max(failed ?? 0, dead ?? 0) - works.filter((work) => work.queue === queue).length])
      .filter(([, count]) => count > 0);
    redraw(list, [works, more], () => (works.length === 0 && more.length === 0 ? h("p", { class: "muted" }, "No work has failed.") : [
      reasons.map(({ reason, count }, at) => drawReason(reason, count, at)),
      more.map(([queue, count]) => h("p", { class: "actions" }, `${count.toLocaleString("en")} more of ${queue} are not listed.`,
        h("button", { type: "button", "data-key": `more-${queue}`, onclick: () => redriveAll(queue) }, `Try all of ${queue} again`)))]));
    mark();
  }

  function drawReason(reason, count, at) {
    const some = works.filter((work) => work.reason === reason);
    const triable = ofReason(reason);
    return h("div", { class: "reason", role: "group", "aria-labelledby": `reason-${at}` },
      h("h3", { id: `reason-${at}` }, `${count.toLocaleString("en")} × `, reason),
      triable.length > 0 ? h("p", { class: "actions" },
        h("span", { class: "inline" }, h("input", { type: "checkbox", id: `reason-all-${at}`, "data-key": `reason-${reason}`, "data-reason": reason, onchange: (event) => set(triable, event.target.checked) }),
          h("label", { for: `reason-all-${at}` }, "All of this reason")),
        h("button", { type: "button", "data-key": `again-${reason}`, "aria-describedby": `reason-${at}`, onclick: () => redrive(triable) }, triable.length === 1 ? "Try it again" : `Try these ${triable.length.toLocaleString("en")} again`))
        : h("p", { class: "actions" }, h("span", { class: "muted" }, "Nothing is left to try. "),
          h("button", { type: "button", "data-key": `drop-${reason}`, "aria-describedby": `reason-${at}`, onclick: () => drop(some) }, some.length === 1 ? "Remove this message" : `Remove these ${number(some.length)} messages`)),
      h("ul", { class: "plain" }, some.map((work) => h("li", {},
        work.is_waiting && h("input", { type: "checkbox", "data-key": idOf(work), "data-item": idOf(work), "aria-label": `${nameOf(work)}, ${work.queue}`, onchange: (event) => set([work], event.target.checked) }),
        h("span", { class: "code" }, linked(work)), h("span", { class: "muted" }, work.queue, work.since && [", ", when(work.since)],
          work.attempts !== null && `, after ${plural(work.attempts, "attempt")}`)))));
  }

  function linked(work) {
    return work.queue === "classify" && work.key ? h("a", { href: `#/catalogue?tool=${encodeURIComponent(work.key)}` }, nameOf(work)) : nameOf(work);
  }

  function set(some, to) {
    for (const work of some) if (to) ticked.add(idOf(work)); else ticked.delete(idOf(work));
    mark();
  }

  function mark() {
    const show = (box, some) => {
      const count = some.filter((work) => ticked.has(idOf(work))).length;
      box.checked = count > 0 && count === some.length;
      box.indeterminate = count > 0 && !box.checked;
    };
    for (const box of list.querySelectorAll("[data-item]")) box.checked = ticked.has(box.dataset.item);
    for (const box of list.querySelectorAll("[data-reason]")) show(box, ofReason(box.dataset.reason));
    show(all, open());
    fill(again, `Try ${number(ticked.size)} again `, h("kbd", { "aria-hidden": "true" }, "d"));
    again.disabled = ticked.size === 0 || isBusy;
    if (!isBusy) fill(chosen, ticked.size > 0 && `${number(ticked.size)} selected`);
  }

  async function redrive(some) {
    if (some.length === 0 || isBusy) return;
    busy(true, some.length);
    fill(left);
    try {
      let result = { again: 0, left: [] };
      for await (const event of events("health/redrive_chosen", { chosen: some.map(({ queue, key }) => ({ queue, key })) }, {})) {
        if ("of" in event) step(event); else result = event;
      }
      for (const work of some) ticked.delete(idOf(work));
      for (const { queue, key } of result.left) ticked.add(`${queue}/${key}`); // what could not be stays chosen, where it is still there
      say(`${number(result.again)} tried again. It cannot be undone: the work may have begun.`);
      fill(left, result.left.length > 0 && h("div", { class: "note" }, `${number(result.left.length)} not tried again:`, h("ul", {}, result.left.slice(0, 20).map((one) =>
        h("li", {}, `${nameOf(some.find((work) => work.queue === one.queue && work.key === one.key) ?? one)}: ${one.why}`))),
      result.left.length > 20 && `and ${number(result.left.length - 20)} more`));
    } catch (error) {
      showProblem(error, "Not all was tried again", () => redrive(some));
    }
    busy(false);
    await reload();
  }

  async function drop(some) {
    if (isBusy) return;
    isBusy = true;
    mark();
    try {
      const count = await act("health/drop_chosen", { chosen: some.map(({ queue, message_id: id }) => ({ queue, message_id: id })) });
      say(`${plural(count, "message")} removed${count < some.length ? "; what was not is gone already, or can be tried again." : ". It cannot be undone."}`);
    } catch (error) {
      showProblem(error, "Not all messages were removed", () => drop(some));
    }
    isBusy = false;
    await reload();
  }

  function busy(to, most = 1) {
    isBusy = to;
    progress.hidden = !to;
    progress.max = most;
    progress.value = 0;
    if (to) bar.hidden = false;
    mark();
  }

  function step({ done, of }) {
    progress.value = done;
    fill(chosen, `${number(done)} of ${number(of)}`);
  }

  async function redriveAll(queue) {
    try {
      const keys = await act("health/redrive_all", { queue });
      say(`${number(keys.length)} of ${queue} tried again. It cannot be undone: the work may have begun.`);
    } catch (error) {
      showProblem(error, "It was not tried again", () => redriveAll(queue));
    }
    await reload();
  }

  async function reload() {
    try {
      await load();
    } catch (error) {
      if (list.isConnected) showProblem(error, "The queues cannot be read", reload); // else the page was left
    }
  }

  function drawRefused({ refused: texts, refused_in_all: count }) {
    places.refused.closest("section").hidden = count === 0;
    redraw(places.refused, [texts, count], () => count > 0 && [
      h("p", {}, stateOf({ kind: "so", word: plural(count, "text") }), " found by words only. Change them, or ask the model once more, e.g. after its limits were changed."),
      h("p", { class: "actions" }, h("button", { type: "button", "data-key": "retry", onclick: retry }, "Retry embedding")),
      table("Texts that the embedding model refused", [{ name: "Item", isHead: true }, "Collection", "Organisation", "Reason"],
        texts.map((text) => [text.name ?? text.key, text.collection, text.org_id ?? "–", text.reason])),
      count > texts.length && h("p", { class: "muted" }, words(`and ${number(count - texts.length)} more: \`skillroute dlq refused\` lists them`))]);
  }

  async function retry() {
    try {
      say(`${plural((await act("health/retry")).length, "text")} wait for a vector again.`);
    } catch (error) {
      showProblem(error, "It was not tried again", retry);
    }
    await reload();
  }

  const boxes = () => [...list.querySelectorAll("[data-item]")];
  function move(by) {
    const found = boxes();
    const at = found.indexOf(document.activeElement);
    found[Math.max(0, Math.min(found.length - 1, at < 0 ? 0 : at + by))]?.focus();
  }

  const keys = {
    j: { says: "the next given-up work", run: () => move(1) },
    k: { says: "the given-up work before", run: () => move(-1) },
    s: { says: "select all given-up work, or none", run: () => set(open(), open().some((work) => !ticked.has(idOf(work)))) },
    d: { says: "try the selected work again", isOnce: true, run: () => redrive(open().filter((work) => ticked.has(idOf(work)))) },
  };

  /** On a box that is ticked the keys work too: one types nothing there. */
  function onKey(event) {
    if (event.target.type !== "checkbox" || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    if (!event.repeat || !keys[event.key].isOnce) keys[event.key].run();
  }

  return { load, refresh, keys };
}
