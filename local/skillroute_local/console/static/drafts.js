// What was typed and is not stored yet, by what it belongs to: it outlives a change of page, and a reload of the tab.
const NAME = "skillroute-console-drafts";

function all() {
  try { return JSON.parse(sessionStorage.getItem(NAME)) ?? {}; } catch { return {}; }
}

function store(drafts) { sessionStorage.setItem(NAME, JSON.stringify(drafts)); }

export const draft = (of) => all()[of];

export function keepDraft(of, value) { store({ ...all(), [of]: value }); }

export function dropDraft(of) {
  const drafts = all();
  delete drafts[of];
  store(drafts);
}
