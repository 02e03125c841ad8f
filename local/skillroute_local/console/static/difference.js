// How a definition differs from the approved one, line by line: by sign, and with invisible characters named.
import { h } from "./dom.js";

const SIGNS = { "+": ["ins", "added: "], "-": ["del", "removed: "] };
const LONG = 60; // lines; what is longer is opened by hand
const CUT_LENGTH = 503; // of a line that the API cut, with its sign and the dots
// What the API names, and what else is drawn as nothing or moves what is drawn; a tab indents.
const UNSEEN = /<U\+([0-9A-F]{4,6})>|(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text with its invisible characters shown. */
export function seen(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const code = found[1] ?? found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(text.slice(from, found.index), h("span", { class: "unseen", title: "an invisible character" }, `U+${code}`));
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}

/** The parts of a definition that differ; `name` says whose. */
export function difference({ id, differences }, name) {
  if (differences.length === 0) return h("p", { class: "note" }, "It differs by ends of lines alone.");
  const lines = differences.reduce((sum, { diff }) => sum + diff.length, 0);
  const parts = differences.map((part) => [h("h4", {}, part.field.replaceAll("_", " ")), h("pre", { class: "diff" }, part.diff.filter((line) => line !== "...").map(drawn))]);
  const cut = differences.some(({ diff }) => diff.some((line) => line === "..." || (line.length >= CUT_LENGTH && line.endsWith("..."))));
  return [
    cut && h("p", { class: "note" }, "Not all of it is shown here: long lines and long parts are cut. Read ",
      h("a", { href: `#/catalogue?tool=${id}` }, "the whole definition"), " before you approve it."),
    lines <= LONG ? parts : h("details", {}, h("summary", {}, `The difference of ${name}, ${lines} lines`), parts)];
}

function drawn(line) {
  if (line.startsWith("@@")) return h("span", { class: "at" }, line);
  const [tag, says] = SIGNS[line[0]] ?? ["span", null];
  return h(tag, { class: "line" }, h("span", { class: "sign" }, line[0]), says && h("span", { class: "spoken" }, says), h("bdi", {}, seen(line.slice(1))));
}
