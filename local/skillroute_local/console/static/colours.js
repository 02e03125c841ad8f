// One colour for each skill, the same on every page: in chips of text, and for points on the map.
import { h } from "./dom.js";

const known = new Map();

/** Return the hue of a skill, 0..359, by its id alone: the same each time, and far apart for ids that are alike. */
export function hueOf(id) {
  let hue = known.get(id);
  if (hue === undefined) {
    let hash = 2166136261; // FNV-1a
    for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 16777619);
    hue = Math.round(((hash >>> 0) * 137.508) % 360);
    known.set(id, hue);
  }
  return hue;
}

/** A skill as a chip in its colour; the primary one of a tool has a line as well. */
export function skillChip(id, { text = id, isPrimary = false, isLink = true } = {}) {
  const names = { class: isPrimary ? "chip skill first" : "chip skill", title: isPrimary ? `${id}, the primary skill` : id };
  const chip = isLink ? h("a", { ...names, href: `#/skills?skill=${encodeURIComponent(id)}` }, text) : h("span", names, text);
  return tinted(chip, id);
}

/** Give an element of class `skill` the colour of a skill. */
export function tinted(element, id) {
  element.style.setProperty("--hue", hueOf(id));
  return element;
}
