// The requests that a tool serves, a line each: what people and agents say who need it.
import { act } from "./calls.js";
import { fill, h, oneAtATime } from "./dom.js";
import { KEPT, editorDraft } from "./drafts.js";
import { say, showProblem } from "./notices.js";

const WRITERS = { llm: "a language model", person: "a person", import: "an import", packaged: "Skillroute" };

export const requestsOf = (id) => `requests-of/${id}`;

/** Return the editor of a tool's requests; `done` is called once they are saved, with true once that was taken back. */
export function requestEditor(tool, done) {
  const stored = tool.requests ?? [];
  const now = stored.map((request) => request.text);
  const field = h("textarea", { rows: 3, "aria-label": "Requests, one on each line", placeholder: "tell Ann that I am late" });
  const saving = h("div", {});
  const version = JSON.stringify(now);
  const typing = editorDraft(requestsOf(tool.id), { requests: field }, { requests: now.join("\n") }, { version, typed: () => draw() });
  const draw = () => fill(saving, "requests" in typing.edits() && [
    h("p", { class: "actions" },
      h("button", { type: "button", class: "main", onclick: () => store(JSON.parse(typing.version)) }, "Save requests"),
      h("button", { type: "button", onclick: () => { field.value = now.join("\n"); typing.keep(); } }, "Discard changes")),
    h("p", { class: "muted" }, KEPT)]);
  const store = oneAtATime(async (seen) => {
    const texts = field.value.split("\n").map((text) => text.trim()).filter(Boolean);
    typing.begin();
    try {
      await act("catalogue/requests", { tool_id: tool.id, texts, seen });
      typing.settle(JSON.stringify(texts));
      say(`${tool.name}: requests saved`, { action: "Undo", run: () => undo(texts), forMs: 10000 });
      await done(false);
    } catch (error) {
      typing.failed();
      showProblem(error, `The requests of ${tool.name} were not saved`, () => store(error.now ?? seen));
    }
  });
  const undo = async (seen) => {
    try {
      await act("catalogue/requests", { tool_id: tool.id, texts: now, seen });
      say(`${tool.name}: requests as they were before`);
      await done(true);
    } catch (error) {
      showProblem(error, `The requests of ${tool.name} were not taken back`, error.now ? undefined : () => undo(seen));
    }
  };
  draw();
  const writers = [...new Set(stored.map((request) => WRITERS[request.source] ?? request.source))];
  return h("div", {}, h("h3", {}, "Requests of this tool"),
    h("p", { class: "muted" }, "One per line, up to eight, in the words of a user who needs the tool. Searches match them too.",
      writers.length > 0 && ` Written by ${writers.join(" and ")}.`),
    field, saving);
}
