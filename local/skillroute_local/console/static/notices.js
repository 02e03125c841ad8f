// What went wrong stays until it is dismissed or tried again; what went well passes by.
import { fill, fillForm, h } from "./dom.js";
import { hasToken, setToken } from "./calls.js";

const errors = () => document.getElementById("errors");

/** Show an error with what helps; `again` repeats what failed. */
export function showProblem(problem, what, again) {
  if (problem.name === "AbortError") return;
  const close = () => box.remove();
  const retry = again && h("button", { type: "button", onclick: () => { close(); again(); } }, "Try again");
  // An error that is there says what is known now, and keeps a token that is being typed into it.
  const box = [...errors().children].find((each) => each.dataset.what === what) ?? h("div", { class: "problem" });
  fillForm(box,
    h("p", {}, h("strong", {}, `${what}: `), problem.message),
    h("p", { class: "remedy" }, problem.remedy ?? "Reload the page."),
    h("p", { class: "actions" },
      retry,
      (problem.status === 401 || problem.code === "insufficient_scope") && tokenForm(close, again),
      h("button", { type: "button", onclick: close }, "Dismiss"),
      problem.requestId && h("small", {}, `request ${problem.requestId}`)));
  box.dataset.status = problem.status ?? "";
  box.dataset.what = what;
  if (!box.isConnected) errors().append(box);
  if (!(problem.status >= 0)) console.error(problem);
}

/** Take away the error of something that was done since. */
export function solved(what) {
  for (const box of [...errors().children]) if (box.dataset.what === what) box.remove();
}

/** What stands where nothing could be read, so that it does not look as if there were nothing. */
export const notRead = (error) => h("p", { class: "unread" }, h("span", { class: "state no" }, "not read"), ` ${error.message}. Nothing is known of what is here.`);

/** Say in a place that it was not read, unless something that was read before stands there. */
export function sayNotRead(place, error, ...above) {
  if (!place.firstChild || place.querySelector(":scope > .unread")) fill(place, above, notRead(error));
}

export function clearProblems() {
  fill(errors());
}

function tokenForm(close, again) {
  const input = h("input", { type: "password", autocomplete: "off", "aria-label": "Token", placeholder: "a token", "data-typed": "token" });
  const use = async (event) => {
    event.preventDefault();
    setToken(input.value.trim());
    close();
    document.dispatchEvent(new CustomEvent("token")); // what another caller saw is forgotten
    try {
      await again?.(); // before the page reads anew: that would be older than what this writes
    } finally {
      document.dispatchEvent(new CustomEvent("changed-elsewhere"));
    }
  };
  return h("form", { class: "inline", onsubmit: use }, input, h("button", { type: "submit" }, "Use token"),
    hasToken() && h("button", { type: "button", onclick: (e) => { input.value = ""; use(e); } }, "Forget token"));
}

const UNDO_MS = 600_000; // a change can be undone after its notice is gone
let undoable = []; // { text, run, at, on } of changes, the last one last; `on` is the page that shows it

/** Undo the last change that can be undone. */
export function undoLast() {
  undoable = undoable.filter(({ at }) => Date.now() - at < UNDO_MS);
  const last = undoable.pop();
  if (!last) return say("There is nothing to undo.");
  last.silence();
  return carryOut(last);
}

const onPage = () => document.getElementById("page").firstElementChild;

/** Carry out what a notice offers; where the page that showed it was left, the one that is shown reads anew. */
async function carryOut({ run, on }) {
  await run();
  if (on !== onPage()) document.dispatchEvent(new CustomEvent("changed-elsewhere"));
}

/**
 * Say something that passes, with a button where `action` is given; returns what takes it away.
 *
 * Of a change whose `action` is "Undo" the key z takes the last one back too, after the words have passed by.
 */
export function say(text, { action, run, forMs = action ? 10_000 : 5000 } = {}) {
  const entry = { text, run, at: Date.now(), on: onPage(), silence: () => done() };
  if (action === "Undo") undoable.push(entry);
  const button = action && h("button", { type: "button", onclick: () => {
    undoable = undoable.filter((one) => one !== entry);
    done();
    carryOut(entry);
  } }, action);
  const notice = h("p", {}, text, " ", button);
  const done = () => { clearTimeout(timer); notice.remove(); };
  const timer = setTimeout(done, forMs);
  document.getElementById("notices").append(notice);
  return done;
}
