// Why a search found a tool: in words first, then as a bar, and with all figures for who wants them.
import { bar, h } from "./dom.js";

export const PARTS = { meaning: 1, words: 2, skill: 4 };
export const PART_NAMES = [["meaning", "meaning"], ["words", "words"], ["skill", "its skill"]];
// Which of the bar's colours a feature of learned fusion belongs to: those that compare vectors, and those of words.
const OF_FEATURE = (name) => (/cosine|margin/.test(name) ? "meaning" : "words");

// Of the first ten results of the examples' judged requests (packaged model), those that serve the request lie above
// the first bound in 49 % of cases and below the second in 15 %; those that do not, in 5 % and 64 %.
const NEAR = 0.4;
const FAR = 0.3;
const MOST = 0.6; // of a request's words, by their weight
const FIELDS = { name: "name", description: "description" };

/** Say in words why a tool is found where it is; the most telling first. */
export function inWords({ explain, server }) {
  if (!explain) return [];
  return [named(explain), meaning(explain), words(explain), serverWords(explain, server), learned(explain), clause(explain),
    explain.skill_lift > 0 && "its skill fits the request", explain.reranked !== null && explain.reranked !== undefined && "ordered anew by the reranker",
  ].filter(Boolean);
}

function named({ rule, is_named: isNamed }) {
  if (rule === "named") return "named exactly, so it ranks before all that are not named";
  return isNamed && "its name is in the request";
}

function meaning({ cosine, cosine_rank: rank }) {
  if (cosine === null || cosine === undefined) return null;
  const figure = ` (${cosine.toFixed(2)})`;
  if (rank === 1) return `${cosine < FAR ? "nearest in meaning of all, but not near" : "nearest in meaning of all"}${figure}`;
  return `${cosine >= NEAR ? "near" : cosine >= FAR ? "somewhat near" : "far"} in meaning${figure}`;
}

function words({ words_in: fields, bm25 }) {
  if (!fields) return null;
  const [name, share] = Object.keys(FIELDS).map((field) => [field, fields[field] ?? 0]).reduce((a, b) => (b[1] > a[1] ? b : a));
  if (share > 0) {
    const both = Object.keys(FIELDS).every((field) => fields[field] === share) ? "name and its description" : FIELDS[name];
    return `${share > 0.99 ? "all words" : share >= MOST ? "most words" : "some words"} of the request are in its ${both}`;
  }
  if (bm25 > 0) return (fields.server ?? 0) > 0 ? null : "a word of the request is in its other texts";
  return bm25 === 0 && "no word of the request is in this tool";
}

const serverWords = ({ words_in: fields }, server) => (fields?.server ?? 0) > 0 && server && `the request's words name its server ${server}`;

function learned({ learned_cosine: cosine, learned_share: share }) {
  if (cosine === null || cosine === undefined) return null;
  return `served requests like this one before (${cosine.toFixed(2)}${share === null || share === undefined ? "" : `, ${Math.round(100 * share)} % of them`})`;
}

function clause({ clause_margin: margin, leads_clause: leads }) {
  return (margin > 0 || leads) && "fits one part of the request best";
}

/** The score as a bar: of its width what the ranking says it is made of. */
export function parts(tool) {
  const shares = sharesOf(tool.explain ?? {}, tool.score);
  const strip = h("span", { class: "parts", role: "img",
    "aria-label": `Score ${tool.score.toFixed(2)}, made of ${shares.map(([name, share]) => `${name} ${share.toFixed(2)}`).join(", ")}`,
    title: shares.map(([name, share]) => `${name} ${share.toFixed(3)}`).join(", ") });
  for (const [name, share] of shares) {
    const part = h("span", { class: `p${PARTS[name]}` });
    part.style.width = `${100 * Math.min(1, share)}%`;
    strip.append(part);
  }
  return strip;
}

function sharesOf(explain, score) {
  const added = [["skill", Math.max(0, explain.skill_lift ?? 0)]].filter(([, value]) => value > 0);
  const rest = Math.max(0, score - added.reduce((sum, [, value]) => sum + value, 0));
  if (!explain.features) return [[explain.cosine === null || explain.cosine === undefined ? "words" : "meaning", rest], ...added];
  // The score comes of a sum by a curve: what is left is divided as what raises the sum is.
  const sums = { meaning: 0, words: 0 };
  for (const [name, { contribution }] of Object.entries(explain.features)) sums[OF_FEATURE(name)] += Math.max(0, contribution);
  const all = sums.meaning + sums.words || 1;
  return [["meaning", (rest * sums.meaning) / all], ["words", (rest * sums.words) / all], ...added];
}

/** All figures of an explanation, as tables. */
export function figures(explain) {
  if (!explain) return null;
  const measured = [
    ["cosine", explain.cosine, explain.cosine_rank], ["bm25", explain.bm25, explain.bm25_rank], ["probability", explain.probability],
    ["reranker", explain.reranker_logit], ["lift from its skill", explain.skill_lift || null],
  ].filter(([, value]) => value !== null && value !== undefined);
  return h("div", { class: "compare" },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Measured"), h("th", { class: "num" }, "Value"), h("th", { class: "num" }, "Place"))),
      h("tbody", {}, measured.map(([name, value, rank]) => h("tr", {}, h("td", {}, name), h("td", { class: "num" }, value.toFixed(3)), h("td", { class: "num" }, rank ?? ""))),
        Object.entries(explain.words_in ?? {}).map(([name, share]) => h("tr", {}, h("td", {}, `words in its ${name}`), h("td", {}, bar(share)), h("td", {}))))),
    explain.features && h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Part of the score"), h("th", { class: "num" }, "Value"), h("th", { class: "num" }, "Weight"), h("th", { class: "num" }, "Adds"))),
      h("tbody", {}, Object.entries(explain.features).filter(([, part]) => part.contribution).map(([name, part]) => h("tr", {},
        h("td", {}, h("i", { class: `dot p${PARTS[OF_FEATURE(name)]}` }), name.replaceAll("_", " ")),
        h("td", { class: "num" }, part.value.toFixed(3)), h("td", { class: "num" }, part.weight.toFixed(2)), h("td", { class: "num" }, part.contribution.toFixed(3)))))));
}
