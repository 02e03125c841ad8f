// Several rows of a list at once: selected by Space, by t, by their tick, or all that are shown.
import { fill, h, plural } from "./dom.js";
import { showProblem } from "./notices.js";

const AT_ONCE = 4;

/**
 * What is selected in a list. A filter leaves it as it is; a row that is gone leaves it.
 *
 * `changed` is called when another row is selected or none, `word` names one of the rows.
 */
export class Selection {
  constructor(list, { word, changed = () => {} }) {
    Object.assign(this, { list, word, changed });
    this.keys = new Set();
    list.box.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      this.toggle(list.current);
    });
    this.all = h("input", { type: "checkbox", onchange: () => this.set(list.rows, this.all.checked) });
    this.all.id = `${list.id}-all`;
    this.status = h("span", { role: "status", class: "muted" });
    const help = h("small", { class: "wide", id: `${list.id}-help` }, h("kbd", {}, "Space"), " or ", h("kbd", {}, "t"), " selects");
    list.box.setAttribute("aria-describedby", help.id);
    this.help = help;
  }

  /** The line above the list: all or none, what is done with those selected, and how many they are. */
  bar(...actions) {
    this.actions = h("span", { class: "inline" }, actions);
    const bar = h("div", { class: "actions selection" }, h("span", { class: "inline" }, this.all, h("label", { for: this.all.id }, "All shown")), this.actions, this.status, this.help);
    this.mark();
    return bar;
  }

  /** The tick of a row, its first cell. */
  cell(row) {
    const isTicked = this.has(row);
    return h("span", { class: "tick", title: isTicked ? "selected" : "select it", onclick: (event) => { event.stopPropagation(); this.toggle(row); } },
      h("span", { "aria-hidden": "true" }, isTicked ? "☑" : "☐"), isTicked && h("span", { class: "spoken" }, "selected"));
  }

  has(row) { return this.keys.has(this.list.key(row)); }

  toggle(row) { if (row) this.set([row], !this.has(row)); }

  set(rows, to) {
    for (const row of rows) {
      const key = this.list.key(row);
      if (to) this.keys.add(key); else this.keys.delete(key);
    }
    this.list.redraw();
    this.mark();
  }

  clear() { this.keys.clear(); this.list.redraw(); this.mark(); }

  /** Give what was selected by one key another one: of an item that has become another. */
  rename(from, to) { if (this.keys.delete(from)) this.keys.add(to); }

  /** Return the selected ones among all rows that there are; what is gone is selected no longer. */
  among(rows) {
    const found = rows.filter((row) => this.has(row));
    if (found.length < this.keys.size) this.keys = new Set(found.map((row) => this.list.key(row)));
    return found;
  }

  /** Say how many are selected, after rows or ticks have changed. */
  mark() {
    const { rows } = this.list;
    const shown = rows.filter((row) => this.has(row)).length;
    this.all.checked = rows.length > 0 && shown === rows.length;
    this.all.indeterminate = this.keys.size > 0 && !this.all.checked;
    this.all.disabled = rows.length === 0;
    if (this.actions) this.actions.hidden = this.keys.size === 0;
    this.help.hidden = this.keys.size > 0;
    const hidden = this.keys.size - shown;
    fill(this.status, this.keys.size > 0 && `${plural(this.keys.size, this.word)} selected${hidden ? `, ${hidden} of them not shown` : ""}`);
    this.changed();
  }

  /** Do something with each of some rows, a few at once, and say how far it is; returns the rows by outcome. */
  async each(rows, run, doing) {
    const [done, failed, left] = [[], [], [...rows]];
    const work = async () => {
      for (let row = left.shift(); row !== undefined; row = left.shift()) {
        try {
          done.push({ row, answer: await run(row) });
        } catch (error) {
          failed.push({ row, error });
        }
        fill(this.status, `${doing}: ${(done.length + failed.length).toLocaleString("en")} of ${rows.length.toLocaleString("en")}`);
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, rows.length) }, work));
    this.mark();
    return { done, failed };
  }
}

/** Show what could not be done of several, by reason, with their names. */
export function showFailed(failed, what, nameOf, again) {
  if (!failed.length) return;
  const [{ error }] = failed;
  const names = failed.slice(0, 5).map(({ row }) => nameOf(row)).join(", ") + (failed.length > 5 ? ` and ${failed.length - 5} more` : "");
  showProblem(Object.assign(Object.create(error), { message: `${error.message} (${names})` }), what, again);
}
