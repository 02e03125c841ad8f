// Suggestions that were decided on: what became of each, the latest first; nothing is changed here.
import { act } from "./calls.js";
import { fill, h, plural, when } from "./dom.js";
import { table } from "./health_parts.js";
import { notRead, showProblem, solved } from "./notices.js";

const UNREAD = "Decided suggestions cannot be read";
const NONE = { approved: "No suggestion was approved yet.", merged: "No suggestion was merged into another skill yet.", rejected: "No suggestion was rejected yet." };

export const DECIDED = Object.keys(NONE);

/** The list of decided suggestions of one status; `status` says which is shown, "" where none is. */
export class Decided {
  constructor() {
    this.element = h("div", { class: "scroll", tabindex: "-1", hidden: true });
    this.status = "";
    this.turn = 0; // of what is read: an answer that comes late is of another status
  }

  /** Show those of a status, or with "" none of them. */
  show(status) {
    this.status = status;
    this.rows = [];
    this.turn += 1;
    this.element.hidden = !status;
    fill(this.element, status && h("p", { class: "muted" }, "Reading …"));
    return status ? this.load() : undefined;
  }

  /** Read on from the rows that are there; `anew` reads from the first one. */
  async load({ anew = false } = {}) {
    const mine = ++this.turn;
    try {
      const { rows, total } = await act("suggestions/decided", { status: this.status, offset: anew ? 0 : this.rows.length });
      if (mine !== this.turn) return;
      solved(UNREAD);
      const known = new Set(anew ? [] : this.rows.map(({ id }) => id)); // a decision made meanwhile moves them all on
      const at = this.rows.length;
      this.rows = [...(anew ? [] : this.rows), ...rows.filter(({ id }) => !known.has(id))];
      this.draw(total);
      if (!anew && at > 0) this.element.querySelectorAll("tbody tr")[at]?.querySelector("a")?.focus();
    } catch (error) {
      if (mine !== this.turn) return;
      if (!this.rows.length) fill(this.element, notRead(error));
      for (const button of this.element.querySelectorAll("button")) button.disabled = false;
      showProblem(error, UNREAD, () => this.load({ anew }));
    }
  }

  draw(total) {
    if (!this.rows.length) return fill(this.element, h("p", { class: "muted" }, NONE[this.status]));
    return fill(this.element,
      h("p", { class: "muted" }, `${plural(total, "suggestion")} ${this.status}, the latest decision first. Decisions are final; tools get other skills in the catalogue.`),
      table(`Suggestions ${this.status}`, ["Name", "Tool", "Skill", "Decided", "By", "Reason"], this.rows.map((row) => [
        [row.suggested_name, row.kind === "description" && h("span", { class: "muted" }, " (description)")],
        row.source_tool_id === null ? row.source_tool_name ?? "–" : h("a", { href: `#/catalogue?tool=${row.source_tool_id}`, class: "code" }, row.source_tool_name ?? row.source_tool_id),
        row.resolved_skill_id ? h("a", { href: `#/skills?skill=${encodeURIComponent(row.resolved_skill_id)}` }, row.resolved_skill_id) : "–",
        when(row.reviewed_at), row.reviewed_by ?? "–", row.review_reason ?? "–"])),
      this.rows.length < total && h("p", { class: "actions" },
        h("button", { type: "button", onclick: (event) => { event.target.disabled = true; this.load(); } }, `Show more of ${total.toLocaleString("en")}`)));
  }
}
