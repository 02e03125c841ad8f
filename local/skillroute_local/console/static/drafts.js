// What was typed and is not stored yet, by the item it belongs to: it outlives a change of page, a reload and the tab.
import { h } from "./dom.js";
import { showProblem } from "./notices.js";

const NAME = "skillroute-console-drafts";
let known = null; // read once: lists ask for each of their rows
addEventListener("storage", (event) => { if (event.key === NAME) changed(null); });

function all() {
  try { known ??= JSON.parse(localStorage.getItem(NAME)) ?? {}; } catch { known = {}; }
  return known;
}

function changed(drafts) {
  known = drafts;
  document.dispatchEvent(new CustomEvent("drafts"));
}

let isLost = false; // what was typed is on this page alone
addEventListener("beforeunload", (event) => { if (isLost) event.preventDefault(); }); // the browser asks

function store(drafts) {
  changed(drafts);
  try {
    localStorage.setItem(NAME, JSON.stringify(drafts));
    isLost = false;
  } catch {
    isLost = true;
    showProblem({ message: "the browser's storage is full", remedy: "Save your input before you close the tab.", status: 0 }, "Not kept");
  }
}

export const draft = (of) => all()[of];

export function keepDraft(of, value) { known = null; store({ ...all(), [of]: value }); }

export function dropDraft(of) {
  known = null; // another tab may have written meanwhile
  const drafts = { ...all() };
  if (!(of in drafts)) return;
  delete drafts[of];
  store(drafts);
}

/** A mark for the row of an item with a draft. */
export const unsaved = (of) => draft(of) !== undefined && h("span", { class: "chip", title: "not saved yet" }, "unsaved");

export const KEPT = "Not saved yet. Your input is kept in this browser.";

/**
 * Bind the fields of an editor to the draft of one item: what was typed before stands in them, what is typed is kept.
 *
 * `before` are the texts that are stored, of this `version`. `typed` is called after each change.
 */
export function editorDraft(of, inputs, before, { version = null, typed = () => {} } = {}) {
  const kept = draft(of) ?? { texts: {} };
  const isKept = Object.keys(kept.texts).length > 0;
  const stored = {};
  let sent = {};
  const known_ = isKept ? kept.version : version; // the version that whoever typed had before their eyes
  const edits = () => Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, input.value]).filter(([key, text]) => text !== stored[key]));
  const keep = () => {
    // While it is being saved, going back to the old text is a change as well.
    const now = Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, input.value]).filter(([key, text]) => text !== stored[key] || key in sent));
    if (Object.keys(now).length) keepDraft(of, { texts: now, version: known_ }); else dropDraft(of);
    typed();
  };
  for (const [key, input] of Object.entries(inputs)) {
    input.value = before[key] ?? "";
    stored[key] = input.value; // as the field has it: of line ends it makes its own
    if (key in kept.texts) input.value = kept.texts[key];
    input.dataset.draft = `${of}#${key}`;
    input.addEventListener("input", keep);
  }
  return {
    edits, keep, version: known_, isOld: isKept && kept.version !== version,
    drop: () => dropDraft(of),
    /** Say that the edits are sent now. */
    begin: () => { sent = edits(); },
    failed: () => { sent = {}; },
    /** Say that what was sent is stored; what was typed since stays a draft, of the new version. */
    settle: (newVersion) => {
      const left = Object.fromEntries(Object.entries(draft(of)?.texts ?? {}).filter(([key, text]) => sent[key] !== text));
      if (Object.keys(left).length) keepDraft(of, { texts: left, version: newVersion }); else dropDraft(of);
    },
  };
}
