// A judged request: its text, what it needs as groups of tools, and which tools are wrong.
import { act } from "./calls.js";
import { field, fill, h, nowShown, refuse } from "./dom.js";
import { KEPT, draft, dropDraft, keepDraft, unsaved } from "./drafts.js";
import { say, showProblem, solved } from "./notices.js";
import { match, toolInput, tools } from "./tool_choice.js";

const NEW = "new-request";
const sending = new Set(); // drafts that are being stored: the editor may be drawn anew meanwhile
const draftOf = (query) => (query === null ? NEW : `request/${query}`);
const asText = ({ query, needs, wrong }) => JSON.stringify([query, needs.filter((need) => need.length), wrong]);
export const unsavedRequest = (query) => unsaved(draftOf(query));
export const searchFor = (query) => `#/search?q=${encodeURIComponent(query)}`;

/** What a request needs in words: one of some tools, and one of others. */
export const inWords = (needs) => needs.map((need) => need.join(" or ")).join(" and ") || "nothing serves it";

/**
 * Return the editor of a request, of a new one where `row` is null.
 *
 * `changed` is called with the text of what is stored now, null where the request was taken out.
 */
export function requestEditor(row, changed) {
  const stored = row ?? { query: "", needs: [], wrong: [] };
  const of = draftOf(row?.query ?? null);
  const kept = draft(of);
  const mine = structuredClone(kept?.mine ?? { query: stored.query, needs: stored.needs, wrong: stored.wrong });
  // A draft goes on from what was seen when it was begun: what others changed since is shown, not written over.
  let seen = kept ? kept.seen : row && { needs: row.needs, wrong: row.wrong };
  const text = h("textarea", { rows: 2, value: mine.query, maxlength: "1000", "data-draft": `${of}#query`, oninput: () => keep({ query: text.value }) });
  const groups = h("div", {});
  const saving = h("div", {});
  const conflict = h("div", {});

  function keep(more, focus) {
    Object.assign(mine, more);
    if (asText(mine) === asText(stored)) dropDraft(of); else keepDraft(of, { mine, seen });
    if (focus) draw(focus);
    drawSaving();
  }

  function chip(title, drop) {
    const says = h("span", { class: "state no" });
    tools().then((known) => { if (match(title, known).why) fill(says, " not found in the catalogue"); }).catch((error) => fill(says, ` not looked up: ${error.message}`));
    return h("span", { class: "chip code" }, title, says,
      h("button", { type: "button", "aria-label": `Remove ${title}`, title: "remove it", onclick: drop }, "×"));
  }

  const withNeed = (at, need) => mine.needs.map((one, place) => (place === at ? need : one));

  function drawNeed(need, at) {
    const many = mine.needs.length > 1;
    return h("fieldset", { class: "need" },
      h("legend", {}, many ? `Need ${at + 1}${at ? ", as well" : ""}: any one of these` : "Any one of these"),
      h("div", { class: "chips" },
        need.map((title) => chip(title, () => keep({ needs: withNeed(at, need.filter((one) => one !== title)) }, `need ${at}`))),
        toolInput(`Tool for need ${at + 1}`, (title) => keep({ needs: withNeed(at, [...new Set([...need, title])]) }, `need ${at}`),
          { "data-does": `need ${at}`, "data-typed": `${of}#need ${at}` }),
        h("button", { type: "button", class: "plain", onclick: () => keep({ needs: mine.needs.filter((_, place) => place !== at) }, "add") },
          `Remove need ${at + 1}`)));
  }

  function draw(focus) {
    const all = mine.needs.flat();
    fill(groups, h("h3", {}, "What serves it"),
      mine.needs.length ? mine.needs.map(drawNeed) : h("p", { class: "muted" }, "Nothing in the catalogue serves this request: a search should say so."),
      h("p", { class: "actions" },
        h("button", { type: "button", "data-does": "add", onclick: () => keep({ needs: [...mine.needs, []] }, `need ${mine.needs.length}`) },
          mine.needs.length ? "Add another need" : "Add a need"),
        all.length > 1 && mine.needs.length > 1 && h("button", { type: "button", onclick: () => keep({ needs: [[...new Set(all)]] }, "add") }, "Any one is enough"),
        all.length > 1 && mine.needs.some((need) => need.length > 1)
          && h("button", { type: "button", onclick: () => keep({ needs: [...new Set(all)].map((title) => [title]) }, "add") }, "All are needed")),
      h("h3", {}, "Wrong for it"), h("div", { class: "chips" },
        mine.wrong.map((title) => chip(title, () => keep({ wrong: mine.wrong.filter((one) => one !== title) }, "wrong"))),
        toolInput("Tool that is wrong", (title) => keep({ wrong: [...new Set([...mine.wrong, title])] }, "wrong"), { "data-does": "wrong", "data-typed": `${of}#wrong` })),
      h("p", { class: "muted" }, "A note: evaluations leave it alone."));
    if (focus) groups.querySelector(`[data-does="${CSS.escape(focus)}"]`)?.focus();
  }

  function drawSaving() {
    const isChanged = asText(mine) !== asText(stored);
    fill(saving, h("p", { class: "actions" },
      h("button", { type: "button", class: "main", disabled: !isChanged, onclick: () => store(seen) }, row ? "Save request" : "Add request"),
      h("button", { type: "button", disabled: !isChanged, onclick: () => { dropDraft(of); changed(row?.query ?? null); } }, "Discard changes"),
      row && h("button", { type: "button", onclick: () => remove(row, changed) }, "Delete"),
      row && h("a", { href: searchFor(row.query) }, "Search for it")),
    isChanged && h("p", { class: "muted" }, KEPT));
  }

  let isReading = false;

  async function store(known) {
    const query = text.value.trim();
    if (sending.has(of)) return void say("It is being saved: try again once that is done.");
    if (isReading) return undefined;
    if (!query) return refuse(text, "Enter what is asked for.");
    const what = `The request was not saved: ${query}`;
    const needs = mine.needs.filter((need) => need.length);
    const sent = asText(mine);
    try {
      sending.add(of);
      const saved = await act("evaluation/save", { query, needs, wrong: mine.wrong, seen: known, was: row?.query ?? null }).finally(() => sending.delete(of));
      const left = draft(of)?.mine ?? mine; // it may have been changed while it was sent
      dropDraft(of);
      if (asText(left) !== sent) keepDraft(draftOf(query), { mine: left, seen: { needs: saved.needs, wrong: saved.wrong } });
      solved(what);
      say(row ? "The request is saved" : "The request is added", { action: "Undo", run: () => undo(query, saved, changed, row && known ? { query: row.query, ...known } : null), forMs: 10000 });
      isReading = true; // until it is drawn anew, this editor has what was stored before
      await changed(query);
    } catch (error) {
      if (!error.now && error.status !== 409) showProblem(error, what, () => store(known));
      else if (error.now && text.isConnected) compare(error.message, error.now);
      else if (!error.now && nowShown(text).isConnected) refuse(text, error.message);
      else { // this editor is gone: what was typed is kept, and is compared with what is stored where it is opened
        showProblem(error, what);
        if (row) await changed(row.query);
      }
    } finally {
      isReading = false;
    }
    return undefined;
  }

  function compare(why, now, isNew = true) {
    fill(conflict, h("div", { class: "note", role: "alert" },
      h("p", {}, h("strong", {}, `Not saved: ${why}. `), "Your input is in the fields above."),
      h("table", {}, h("thead", {}, h("tr", {}, ["", "Stored", "Yours"].map((name) => h("th", {}, name)))),
        h("tbody", {}, ["needs", "wrong"].map((name) => h("tr", {}, h("td", {}, name),
          [now, mine].map((one) => h("td", {}, one.is_gone ? "taken out" : name === "needs" ? inWords(one.needs) : one.wrong.join(", ") || "none")))))),
      h("p", { class: "actions" },
        h("button", { type: "button", onclick: () => { fill(conflict); seen = now.is_gone ? null : now; storeAnew(now); } }, now.is_gone ? "Add it again" : "Overwrite with mine"),
        h("button", { type: "button", onclick: () => { dropDraft(of); changed(now.is_gone ? null : row?.query ?? text.value.trim()); } }, "Discard mine"))));
    if (isNew) conflict.querySelector("button").focus();
  }

  function storeAnew(now) {
    if (now.is_gone || row) return store(seen);
    row = { query: text.value.trim(), needs: now.needs, wrong: now.wrong }; // there is one of these words by now
    return store(seen);
  }

  draw();
  drawSaving();
  if (kept && row && JSON.stringify(kept.seen) !== JSON.stringify({ needs: row.needs, wrong: row.wrong })) {
    compare("it was changed since you began", row, false);
  }
  return [
    h("h2", {}, row ? "Request" : "A new request"),
    row?.source === "use" && h("p", { class: "muted" }, "From use: add what else serves it, and divide what it needs."),
    row && !row.is_whole && h("p", { class: "note" }, "Its needs cannot be read: nothing is measured until they are written anew."),
    field("What is asked for", text), groups, saving, conflict];
}

async function undo(query, saved, changed, before) {
  try {
    const seen = { needs: saved.needs, wrong: saved.wrong };
    if (before) await act("evaluation/save", { query: before.query, needs: before.needs, wrong: before.wrong, seen, was: query });
    else await act("evaluation/remove", { query, seen });
    say(before ? "The request is as it was before" : "The request is taken out again");
    changed(before?.query ?? null, true);
  } catch (error) {
    showProblem(error, "The change was not taken back", error.now ? undefined : () => undo(query, saved, changed, before));
  }
}

async function remove(row, changed) {
  try {
    const lines = await act("evaluation/remove", { query: row.query, seen: { needs: row.needs, wrong: row.wrong } });
    const back = async () => {
      try {
        await act("evaluation/restore", { lines });
        changed(row.query, true);
      } catch (error) {
        showProblem(error, "The request was not put back", error.now ? undefined : back);
      }
    };
    dropDraft(draftOf(row.query));
    say(`Deleted: ${row.query}`, { action: "Undo", run: back, forMs: 10000 });
    changed(null);
  } catch (error) {
    showProblem(error, "The request was not deleted", () => (error.now?.is_gone ? changed(null) : remove({ ...row, ...error.now }, changed)));
  }
}
