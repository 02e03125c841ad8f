// Pieces of the page Health: tables that fit narrow windows, and states with what helps.
import { h } from "./dom.js";

/** A text in which `code` stands between backticks. */
export const words = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

export const stateOf = ({ kind, word }) => h("span", { class: `state ${kind}` }, word);

/** A state with what helps below it. */
export const stateWithHelp = (state) => [stateOf(state), state.help && h("p", { class: "muted" }, words(state.help))];

/** A table whose rows become blocks in narrow windows, each cell with the name of its column. */
export function table(label, columns, rows) {
  const named = columns.map((column) => (typeof column === "string" ? { name: column } : column));
  const cell = (content, at) => {
    const { name, num, isHead } = named[at];
    return h(isHead ? "th" : "td", { role: isHead ? "rowheader" : "cell", scope: isHead ? "row" : null, class: num ? "num" : null, "data-label": name }, h("div", {}, content));
  };
  return h("table", { class: "health-table", role: "table", "aria-label": label },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, named.map(({ name, num }) => (name ? h("th", { role: "columnheader", scope: "col", class: num ? "num" : null }, name) : h("td", { role: "cell" }))))),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row" }, row.map(cell)))));
}

const UNITS = [["day", 86_400], ["h", 3600], ["min", 60]];

/** An age as people say it: "4 min", "2 days". */
export function age(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? ["", 1];
  if (!unit) return seconds > 0 ? "under 1 min" : "–";
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${unit === "day" && count > 1 ? "s" : ""}`;
}

export function bytes(count) {
  const [unit, size] = [["GB", 1024 ** 3], ["MB", 1024 ** 2], ["KB", 1024], ["B", 1]].find(([, least]) => count >= least) ?? ["B", 1];
  return `${(count / size).toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
}

export const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
