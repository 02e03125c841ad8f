// Elements, made without markup: what the catalogue says becomes text nodes and nothing else.

/**
 * Make an element. Properties that begin with "on" are listeners; false, null and undefined are left out.
 * Children that are strings or numbers become text; arrays are flattened.
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Show other children in an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** A moment as people read it, with the exact one as its title. */
export function when(text, { seconds = false } = {}) {
  if (!text) return "";
  const at = new Date(text);
  const shown = at.toISOString().slice(0, seconds ? 19 : 16).replace("T", " ");
  return h("time", { datetime: text, title: text }, shown);
}

let fields = 0;

/** A label above a control, with what helps below it. */
export function field(label, control, hint) {
  control.id = control.id || `field-${++fields}`;
  const help = hint && h("small", { id: `${control.id}-hint` }, hint);
  if (help) control.setAttribute("aria-describedby", help.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, help);
}

/** Say below a control why what stands in it is not taken, until it is changed. */
export function refuse(control, why) {
  const shown = nowShown(control);
  markRefused(shown, why, { isNew: true });
  shown.focus();
}

/** Return the control that has taken the place of one that was drawn anew meanwhile, with the same text in it. */
export function nowShown(control) {
  const name = nameOf(control);
  if (control.isConnected || !name) return control;
  const same = document.querySelector(["draft", "typed"].map((kind) => `[data-${kind}="${CSS.escape(name)}"]`).join());
  return same?.value === control.value ? same : control;
}

/** Say below a control why it is refused; a screen reader announces it only if it is new. */
export function markRefused(control, why, { isNew = false } = {}) {
  control.refusal?.clear();
  const says = h("small", { class: "state no refusal", id: `refusal-${++fields}`, role: isNew ? "alert" : null }, why);
  const described = control.getAttribute("aria-describedby");
  control.refusal = {
    why,
    clear: () => {
      says.remove();
      control.removeAttribute("aria-invalid");
      if (described) control.setAttribute("aria-describedby", described); else control.removeAttribute("aria-describedby");
      control.refusal = null;
    },
  };
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", [described, says.id].filter(Boolean).join(" "));
  control.addEventListener("input", () => control.refusal?.clear(), { once: true });
  control.after(says);
}

export function select(options, value, listener) {
  const made = h("select", { onchange: listener });
  for (const option of options) {
    const [name, label] = Array.isArray(option) ? option : [option, option];
    made.append(h("option", { value: name }, label));
  }
  choose(made, value);
  return made;
}

/** Choose an option of a select; the first one, which filters nothing, where it has no such. */
export function choose(control, value) {
  control.value = value ?? "";
  if (control.selectedIndex < 0) control.selectedIndex = 0;
}

/**
 * Show other children in an element with fields; returns whether the focus stayed in one of them.
 *
 * Who types in a field of the same item (`data-draft`, or `data-typed` where no draft is kept) goes on typing, and what
 * was refused there stays so.
 */
export function fillForm(element, ...children) {
  const { activeElement: focused } = document;
  const name = element.contains(focused) ? nameOf(focused) : undefined;
  const { selectionStart, selectionEnd } = focused;
  const before = [...element.querySelectorAll("[data-draft], [data-typed]")];
  fill(element, ...children);
  const now = new Map([...element.querySelectorAll("[data-draft], [data-typed]")].map((control) => [nameOf(control), control]));
  for (const control of before) {
    const same = now.get(nameOf(control));
    if (same && control.dataset.typed) same.value = control.value;
    if (control.refusal && same?.value === control.value) markRefused(same, control.refusal.why);
  }
  const same = now.get(name);
  if (!same) return false;
  same.focus();
  if (selectionStart !== null) same.setSelectionRange?.(selectionStart, selectionEnd);
  return true;
}

const nameOf = (control) => control.dataset.draft ?? control.dataset.typed;

/** A number between 0 and 1 as a bar with its figure. */
export function bar(share, label) {
  const inner = h("span", { class: "bar-in" });
  inner.style.width = `${Math.round(100 * Math.max(0, Math.min(1, share)))}%`;
  return h("span", { class: "score" }, h("span", { class: "bar", "aria-hidden": "true" }, inner), label ?? share.toFixed(2));
}

/**
 * Listen for an object without keeping it: with a page that was left its lists go, however long they are.
 *
 * `places` are [target, type]; `run` is called with the object, and must not hold it itself.
 */
export function listenFor(object, run, ...places) {
  const kept = new WeakRef(object);
  const heard = () => {
    const there = kept.deref();
    if (there) run(there);
    else for (const [target, type] of places) target.removeEventListener(type, heard);
  };
  for (const [target, type] of places) target.addEventListener(type, heard);
}

/** Return what runs once at a time: who presses a button twice means it once. */
export function oneAtATime(run) {
  let isRunning = false;
  return async (...given) => {
    if (isRunning) return undefined;
    isRunning = true;
    try {
      return await run(...given);
    } finally {
      isRunning = false;
    }
  };
}

/** Wait until nothing was typed for a moment. */
export function later(run, ms) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), ms);
  };
}

/**
 * Show other children only where what they show has changed. What has the focus keeps it by its `data-key` or its address;
 * where that is gone, the heading of its section has it.
 */
export function redraw(parent, of, children) {
  const text = JSON.stringify(of);
  if (parent.shown === text) return;
  parent.shown = text;
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const [key, href] = [focused?.dataset.key, focused?.getAttribute("href")];
  fill(parent, children());
  if (!focused) return;
  const same = [...parent.querySelectorAll("[data-key], a[href]")]
    .find((each) => (key ? each.dataset.key === key : href && each.getAttribute("href") === href));
  (same ?? parent.closest("section")?.querySelector("h2") ?? document.getElementById("main")).focus({ preventScroll: true });
}

/** A line that says how far long work is; `show` takes what it does, how much is done, and of how much, if that is known. */
export function progressLine(label) {
  const bar = h("progress", { "aria-label": label });
  const says = h("span", { class: "muted" });
  const show = ({ doing, done, total }) => {
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    fill(says, doing, total ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : done ? `: ${done.toLocaleString("en")}` : "");
  };
  return { element: h("p", { class: "inline" }, bar, says), show };
}
