// A list of any length: only the rows in view are elements, so that thousands scroll without stutter.
import { fill, fillForm, h, listenFor } from "./dom.js";

const SPARE = 8;
let lists = 0;

/**
 * A list box that is moved in by the arrow keys, Home, End, Page Up and Page Down; Enter opens.
 *
 * `row` makes the children of a row, `key` names it, `chosen` is called when another one is chosen by the pointer or by
 * keys, `open` when it is opened. Where `none` is given, what is chosen is always among the rows: when a filter or a
 * change takes the row away, another one is chosen, and `none` is called when there is none. `heights` are the rows' in wide and narrow windows, in pixels.
 */
export class List {
  constructor({ label, row, key, chosen = () => {}, open = () => {}, none = null, empty = "Nothing here.", heights = [32, 52] }) {
    Object.assign(this, { row, key, chosen, open, none, empty, heights });
    this.rows = [];
    this.at = -1;
    this.chosenKey = undefined; // also of a row that is not there yet
    this.isEmptied = false; // no row is left, and nothing is open
    this.unread = null; // what stands in place of rows that were not read: that there are none is not known
    this.isPartial = false; // rows are still being read: what is missing may come
    this.id = `list-${++lists}`;
    this.space = h("div", { role: "presentation", class: "space" });
    this.box = h("div", {
      role: "listbox", tabindex: "0", "aria-label": label, class: "list",
      onkeydown: (event) => this.#key(event), onscroll: () => this.#draw(),
      onpointerdown: (event) => { this.pressed = this.#optionAt(event); this.isTick = Boolean(event.target.closest(".tick")); }, onpointerup: (event) => this.#release(event),
      onclick: (event) => this.#click(this.#optionAt(event)),
    }, this.space);
    this.hint = h("div", { class: "empty" });
    this.element = h("div", { class: "list-frame" }, this.box, this.hint);
    this.narrow = matchMedia("(max-width: 700px)");
    new ResizeObserver(() => this.#draw()).observe(this.box);
    listenFor(this, List.#drawn, [this.narrow, "change"], [document, "drafts"]);
  }

  static #drawn(list) { if (list.box.isConnected) list.#draw(); }

  get height() { return this.heights[this.narrow.matches ? 1 : 0]; }

  /** Whether what is open is, or shall be, the row of a key. */
  shows(key) { return !this.isEmptied && this.chosenKey === key; }

  get current() { return this.rows[this.at]; }

  /** Show other rows; the chosen one stays chosen where it is among them. `first`: else the first, not the next. */
  show(rows, empty, { first = false } = {}) {
    const before = this.at;
    this.rows = rows;
    this.at = this.chosenKey === undefined ? -1 : rows.findIndex((row) => this.key(row) === this.chosenKey);
    const nothing = rows.length === 0;
    this.box.hidden = nothing;
    this.hint.hidden = !nothing;
    if (nothing) fill(this.hint, empty ?? this.unread ?? this.empty);
    this.#draw();
    if (this.chosenKey !== undefined) this.#follow(first ? 0 : before);
  }

  #follow(place) {
    if (!this.none) {
      if (this.at < 0) this.chosenKey = undefined;
    } else if (this.isEmptied && this.at >= 0) {
      this.choose(this.at); // what was shown of it is gone
    } else if (this.at < 0 && !this.isPartial && !this.choose(place)) {
      this.isEmptied = true;
      this.none();
    }
  }

  /** Let Enter in a filter open the selected item. */
  openedFrom(filter, isShown = () => true) {
    filter.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !isShown()) return;
      event.preventDefault();
      if (!this.current && !this.choose(0)) return;
      this.open(this.current);
      this.box.focus();
    });
  }

  /** Choose a row by its place; returns whether there is one. */
  choose(at, { silent = false } = {}) {
    if (!this.rows.length) return false;
    this.at = Math.max(0, Math.min(this.rows.length - 1, at));
    this.chosenKey = this.key(this.current);
    this.isEmptied = false;
    this.#reveal();
    this.#draw();
    if (!silent) this.chosen(this.current);
    return true;
  }

  chooseKey(key, options) {
    const at = this.rows.findIndex((row) => this.key(row) === key);
    return at >= 0 && this.choose(at, options);
  }

  /** Choose a row that is not there yet, or is not shown. */
  expect(key) {
    [this.at, this.chosenKey, this.isEmptied] = [-1, key, false];
    this.#draw();
  }

  move(by) { return this.choose(this.at < 0 ? 0 : this.at + by); }

  redraw() { this.#draw(); }

  #reveal() {
    const top = this.at * this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    const below = top + this.height - this.box.clientHeight;
    if (below > this.box.scrollTop) this.box.scrollTop = below;
  }

  #draw() {
    const { height } = this;
    this.space.style.height = `${this.rows.length * height}px`;
    const first = Math.max(0, Math.floor(this.box.scrollTop / height) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / height) + SPARE);
    const shown = [];
    for (let at = first; at < last; at++) shown.push(this.#option(at, height));
    // What the focus points to is there though it was scrolled out of view.
    if (this.at >= 0 && (this.at < first || this.at >= last)) shown.push(this.#option(this.at, height));
    fill(this.space, shown);
    if (this.at >= 0 && this.current) this.box.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  #option(at, height) {
    const row = this.rows[at];
    const option = h("div", {
      role: "option", class: "row", id: `${this.id}-${at}`, "aria-selected": at === this.at ? "true" : "false",
      "aria-posinset": at + 1, "aria-setsize": this.rows.length,
    }, this.row(row));
    Object.assign(option.dataset, { at, key: this.key(row) });
    option.style.top = `${at * height}px`;
    option.style.height = `${height}px`;
    return option;
  }

  #optionAt(event) { return event.target.closest("[role=option]"); }

  #click(option) {
    if (!option) return;
    this.choose(Number(option.dataset.at));
    this.open(this.current);
  }

  /** Count as a click what the browser does not: the row was drawn anew between press and release. */
  #release(event) {
    const { pressed } = this;
    const option = this.#optionAt(event);
    this.pressed = null;
    if (event.button !== 0 || !pressed || pressed.isConnected || option?.dataset.key !== pressed.dataset.key) return;
    const tick = event.target.closest(".tick");
    if (this.isTick !== Boolean(tick)) return;
    if (tick) tick.click(); else this.#click(option);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Home") this.choose(0);
    else if (event.key === "End") this.choose(this.rows.length - 1);
    else if (event.key === "Enter" && this.current) this.open(this.current);
    else return;
    event.preventDefault();
  }
}

/** A list beside what is open of it; in narrow windows the one or the other. */
export class Split {
  constructor(list, label) {
    this.detail = h("section", { class: "detail", "aria-label": label, tabindex: "-1" });
    this.back = h("button", { type: "button", class: "back", onclick: () => this.close() }, "‹ Back to the list");
    this.aside = h("div", { class: "aside" }, this.back, this.detail);
    this.element = h("div", { class: "split" }, list.element, this.aside);
    this.list = list;
  }

  /** Show what is open, see `fillForm`. */
  show(...children) {
    this.isReading = false;
    fillForm(this.detail, ...children);
  }

  /** Show that an item is loading, and close the item that was open before. */
  reading(key, title) {
    if (this.of === key) return;
    this.of = key;
    this.show(h("h2", {}, title), h("p", { class: "muted" }, "Reading …"));
    this.isReading = true;
  }

  /** Say of an item that is still loading why it cannot be shown. */
  unread(key, says) {
    if (this.of !== key || !this.isReading) return;
    this.show(this.detail.querySelector("h2"), says);
    this.isReading = true;
  }

  /** Say that nothing is open. */
  nothing() {
    this.of = null;
    this.show(h("p", { class: "empty" }, "Select an item in the list."));
  }

  open() { this.element.classList.add("open"); }

  close() {
    if (!this.element.classList.contains("open")) return false;
    this.element.classList.remove("open");
    this.list.box.focus();
    return true;
  }
}
