// The tools nearest to a request that found nothing, each to be made the one that serves it.
import { act } from "./calls.js";
import { fill, h, refuse } from "./dom.js";
import { figures, inWords, parts } from "./explanation.js";
import { showProblem, solved } from "./notices.js";
import { titleOf, toolInput, tools } from "./tool_choice.js";

const UNREAD = "The nearest tools cannot be read";
const LOOKS = 8; // until the index has a change
const EVERY_MS = 700;
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Return at which place a search for a request finds a tool now, 0 where it does not; it looks until it is found or `isMeant` says no. */
export async function placeNow(query, toolId, isMeant = () => true) {
  for (let look = 1; ; look++) {
    const { tools: found, no_match: isNothing } = await act("missed/nearest", { query });
    const place = found.findIndex((tool) => tool.db_id === toolId) + 1;
    if ((place && !isNothing) || look === LOOKS || !isMeant()) return { place, isNothing };
    await pause(EVERY_MS);
  }
}

/** Say in words where a search finds a tool now. */
export function placeInWords({ place, isNothing }) {
  if (!place) return ["so", "not found yet: the index may need a moment, or the tool's texts say something else"];
  return isNothing ? ["so", `found at place ${place} now, but the search still says that nothing fits`] : ["ok", `found at place ${place} now`];
}

/**
 * Return the panel of the tools nearest to a request.
 *
 * `serve` is called with a tool, { id, title }; null where one cannot be chosen. The chosen one is the one of the focus,
 * else the first.
 */
export function nearestPanel(row, serve) {
  const body = h("div", {}, h("p", { class: "muted" }, "Searching …"));
  const live = h("p", { class: "spoken", role: "status" });
  const again = h("p", { class: "muted" });
  const element = h("section", { "aria-label": "Nearest tools" }, h("h3", {}, "Nearest tools now"), live, body, serve && other(), again);
  let shown = [];
  let chosen = 0;

  function choose(at) {
    chosen = at;
    for (const [place, item] of [...body.querySelectorAll(".near")].entries()) item.classList.toggle("chosen", place === at);
  }

  function draw(found, isNothing) {
    shown = found.map((tool) => ({ id: tool.db_id, title: titleOf(tool) }));
    fill(body, found.length === 0 ? h("p", { class: "muted" }, "The search finds no tool at all.") : h("ol", { class: "nearest" }, found.map(tool)));
    fill(live, found.length === 0 ? "No tool is near." : `${found.length} nearest tools${isNothing ? ", none seems to fit" : ""}.`);
    const then = row.tools.filter(({ id }) => !shown.some((one) => one.id === id));
    fill(again, then.length > 0 && ["Shown then, and no longer among the nearest: ", then.map((one, at) => [at > 0 && ", ", h("a", { href: `#/catalogue?tool=${one.id}` }, titleOf(one))]), "."]);
    choose(Math.min(chosen, Math.max(0, found.length - 1)));
  }

  function tool(found, at) {
    const title = titleOf(found);
    const isServing = row.decision?.tool?.id === found.db_id;
    return h("li", { class: "near", onfocusin: () => choose(at) },
      h("p", {}, h("span", { class: "muted" }, `${at + 1} `), h("a", { class: "code", href: `#/catalogue?tool=${found.db_id}` }, title), " ",
        h("span", { class: "score" }, parts(found), found.score.toFixed(3)), isServing && [" ", h("span", { class: "state ok" }, "serves it")]),
      h("p", { class: "muted" }, found.description.slice(0, 160)),
      h("p", {}, inWords(found).join("; ")),
      h("p", { class: "actions" },
        serve && h("button", { type: "button", onclick: () => serve(shown[at]) }, "This one serves it", h("span", { class: "spoken" }, `: ${title}`), " ", h("kbd", {}, at + 1)),
        h("details", {}, h("summary", {}, "Figures"), figures(found.explain))));
  }

  function other() {
    const input = toolInput("Another tool serves it", async (title) => {
      const { ids } = await tools();
      serve({ id: ids.get(title), title });
    }, { placeholder: "another tool: server/tool", "data-does": "other", "data-typed": `other/${row.query}` });
    return h("div", { class: "actions" }, input);
  }

  async function load() {
    try {
      const found = await act("missed/nearest", { query: row.query });
      if (element.isConnected) solved(UNREAD);
      draw(found.tools, found.no_match);
      return found;
    } catch (error) {
      if (!element.isConnected) return null; // the page was left, or another request is open
      fill(body, h("p", { class: "muted" }, "They cannot be read."));
      showProblem(error, UNREAD, load);
      return null;
    }
  }

  return {
    element, load,
    chosen: () => shown[chosen] ?? null, nth: (number) => shown[number - 1] ?? null,
    toOther: () => element.querySelector("[data-does=other]")?.focus(),
  };
}

/** Ask which request of a tool to leave out, which has eight; `replace` is called with it. */
export function askWhichToReplace({ full, title }, query, replace) {
  const name = "left-out";
  const choices = full.map((text, at) => h("label", { class: "inline" }, h("input", { type: "radio", name, value: text, checked: at === 0 }), text));
  const form = h("form", { onsubmit: (event) => {
    event.preventDefault();
    const given = new FormData(form).get(name);
    if (given === null) return refuse(form.querySelector("input"), "Choose one.");
    dialog.close();
    return replace(given);
  } },
  h("fieldset", {}, h("legend", {}, "Leave out"), choices.map((choice) => h("p", {}, choice))),
  h("p", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Replace it"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  const dialog = h("dialog", { "aria-labelledby": "full-title", onclose: () => dialog.remove() },
    h("h2", { id: "full-title" }, `${title} serves eight requests already`),
    h("p", {}, "A tool has at most eight. Choose one to be replaced by: ", h("strong", {}, query)), form);
  document.body.append(dialog);
  dialog.showModal();
}
