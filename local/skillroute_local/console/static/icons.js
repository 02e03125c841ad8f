// Small pictures of pages and kinds, by lines of one width: the text next to them says what they mean.
const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  overview: "M2.5 13.5h11M4 11V8M7 11V4M10 11V6.5M13 11V2.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3",
  missed: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3M5.5 5.5l3 3M8.5 5.5l-3 3",
  evaluation: "M2.5 8.5l3 3 3-5M10 5h3.5M10 8h3.5M10 11h3.5",
  catalogue: "M2.5 3.5h4v4h-4zM9.5 3.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z",
  servers: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  skills: "M8 2.5l5.5 3L8 8.5l-5.5-3zM2.5 8L8 11l5.5-3M2.5 10.5l5.5 3 5.5-3",
  suggestions: "M8 2.5a4 4 0 0 1 2 7.5v1.5H6V10a4 4 0 0 1 2-7.5ZM6.5 13.5h3",
  changes: "M2.5 5.5h9M9 3l2.5 2.5L9 8M13.5 10.5h-9M7 8l-2.5 2.5L7 13",
  map: "M4 5h.01M7 3.5h.01M6 7h.01M11 5.5h.01M12.5 8h.01M10 9h.01M4.5 11h.01M7.5 12.5h.01M12 12h.01",
  doctor: "M4 2.5v4a3 3 0 0 0 6 0v-4M7 9.5V11a2.5 2.5 0 0 0 5 0V9.5M12 9.5h.01",
  learning: "M2.5 12.5l3.5-4 3 2 4.5-6M10 4.5h3.5V8",
  health: "M2 8h3l1.5-4 3 8L11 8h3",
  log: "M4 4h8.5M4 8h8.5M4 12h5M2 4h.01M2 8h.01M2 12h.01",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  tool: "M9.5 3.5a3.5 3.5 0 0 0-3 5l-4 4 1 1 4-4a3.5 3.5 0 0 0 5-3.5l-2 1.5-2-2z",
};

/** Return a picture that no screen reader speaks of; nothing for a name that has none. */
export function icon(name) {
  if (!(name in PATHS)) return null;
  const picture = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" })) picture.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  picture.append(path);
  return picture;
}
