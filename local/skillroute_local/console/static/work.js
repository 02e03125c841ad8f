// The part of Health about queues: what waits, what was given up and why, and trying it again.
import { act } from "./calls.js";
import { fill, h, plural, when } from "./dom.js";
import { say, showProblem } from "./notices.js";

const COLUMNS = [
  ["waiting", "Waiting in the database"], ["oldest_s", "Oldest, seconds"], ["ready", "Ready in the queue"], ["under_way", "In progress"],
  ["delayed", "Delayed"], ["given_up", "Failed"], ["dead_letters", "Dead letters"],
];
const number = (value) => (value === null ? "–" : value.toLocaleString("en"));
const head = (...names) => h("thead", {}, h("tr", {}, names.map((name) => h(name ? "th" : "td", {}, name))));

export function makeWork() {
  const element = h("div", {});

  async function load() {
    try {
      draw(await act("health/work"));
    } catch (error) {
      showProblem(error, "The queues cannot be read", load);
    }
  }

  async function again(name, fields, said) {
    try {
      say(said((await act(name, fields)).length));
      await load();
    } catch (error) {
      showProblem(error, "It was not tried again", () => again(name, fields, said));
    }
  }

  const redrive = (queue, keys) => again("health/redrive", { queue, keys }, (count) => `${count} of ${queue} tried again.`);

  function draw(work) {
    if (work === null) {
      fill(element, h("p", {}, "This console cannot read the queues: the API does not return them. ", h("code", {}, "skillroute console"),
        " shows them for a Skillroute that runs on this machine, and for one whose database and queues its environment names (",
        h("code", {}, "skillroute console --help"), ")."));
      return;
    }
    const { queues, given_up: givenUp, refused, refused_in_all: all } = work;
    fill(element,
      h("p", { class: "actions" }, h("button", { type: "button", onclick: load }, "Reload")),
      h("table", { class: "figures" }, head("", ...queues.map(({ queue }) => queue)), h("tbody", {}, COLUMNS.map(([name, says]) =>
        h("tr", {}, h("td", {}, says), queues.map((queue) => h("td", { class: "num" }, number(queue[name]))))))),
      givenUp.length === 0 ? h("p", { class: "muted" }, "No work has failed.") : drawGivenUp(givenUp),
      all > 0 && drawRefused(refused, all));
  }

  function drawGivenUp(works) {
    const queues = [...new Set(works.filter((work) => work.is_waiting).map(({ queue }) => queue))];
    return [
      h("h3", {}, "Failed work"),
      h("p", { class: "actions" }, queues.map((queue) => h("button", { type: "button", onclick: () => redrive(queue, null) }, `Try all of ${queue} again`))),
      h("table", {}, head("Queue", "Item", "Since", "Reason", ""), h("tbody", {}, works.map((work) => h("tr", {},
        h("td", {}, work.queue), h("td", { class: "name" }, linked(work)), h("td", {}, when(work.since)),
        h("td", {}, work.reason, work.attempts !== null && h("span", { class: "muted" }, ` (after ${plural(work.attempts, "attempt")})`)),
        h("td", {}, work.is_waiting
          ? h("button", { type: "button", "aria-label": `Try ${work.tool_name ?? work.key} again`, onclick: () => redrive(work.queue, [work.key]) }, "Try again")
          : h("small", {}, "leads nowhere: ", h("code", {}, "skillroute dlq drop"))))))),
    ];
  }

  function linked({ queue, key, tool_name: name, message_id: message }) {
    if (queue === "classify" && key) return h("a", { href: `#/catalogue?tool=${encodeURIComponent(key)}` }, name ?? key);
    return name ?? key ?? message ?? "";
  }

  function drawRefused(texts, all) {
    return [
      h("h3", {}, `${plural(all, "text")} that the embedding model refused`),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => again("health/retry", {}, (count) => `${plural(count, "text")} wait for a vector again.`) }, "Retry embedding"),
        h("span", { class: "muted" }, "Searches find them by words only until they are changed.")),
      h("table", {}, head("Collection", "Item", "Organisation", "Reason"), h("tbody", {}, texts.map((text) => h("tr", {},
        h("td", {}, text.collection), h("td", { class: "name" }, text.name ?? text.key), h("td", {}, text.org_id ?? ""), h("td", {}, text.reason))))),
      all > texts.length && h("p", { class: "muted" }, `and ${all - texts.length} more: \`skillroute dlq refused\` lists them`),
    ];
  }

  return { element, load };
}
