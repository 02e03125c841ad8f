// The description of a tool, which searches match and models read.
import { act } from "./calls.js";
import { fill, h, oneAtATime } from "./dom.js";
import { KEPT, editorDraft } from "./drafts.js";
import { say, showProblem } from "./notices.js";

export const textOf = (id) => `text-of/${id}`;

const OVERWRITTEN = {
  server: (tool) => `Skillroute asks the server ${tool.server} for its tools once a day, and writes the server's own text over this one: change it there, too.`,
  import: () => "This tool was imported from an API's document: the next import writes the document's text over this one, so change it there, too.",
  unknown: () => "If this tool comes from an import, the next one writes its own text over this one: change it at its source, too.",
};

/** Return the editor of a tool's description; `done` is called once it is saved, with true once that was taken back. */
export function textEditor(tool, { written_by: writer }, done) {
  const field = h("textarea", { rows: 5, "aria-label": `Description of ${tool.name}`, "aria-describedby": `overwritten-${tool.id}` });
  const saving = h("div", {});
  const typing = editorDraft(textOf(tool.id), { description: field }, { description: tool.description }, { version: tool.description, typed: () => draw() });
  const draw = () => fill(saving, "description" in typing.edits() && [
    typing.isOld && h("p", { class: "note" }, "The stored text was changed since you began: ", h("q", {}, tool.description)),
    h("p", { class: "actions" },
      h("button", { type: "button", class: "main", onclick: () => store(typing.version) }, "Save description"),
      h("button", { type: "button", onclick: () => { field.value = tool.description; typing.keep(); field.focus(); } }, "Discard changes")),
    h("p", { class: "muted" }, KEPT)]);
  const store = oneAtATime(async (seen) => {
    const text = field.value.trim();
    typing.begin();
    try {
      await act("catalogue/describe", { tool_id: tool.id, text, seen });
      typing.settle(text);
      say(`${tool.name}: description saved`, { action: "Undo", run: () => undo(seen, text), forMs: 10000 });
      await done(false);
    } catch (error) {
      typing.failed();
      // What is stored now stands in the error: saving again is then a decision with open eyes.
      showProblem(error, `The description of ${tool.name} was not saved`, () => store(error.now ?? seen));
    }
  });
  const undo = async (text, seen) => {
    try {
      await act("catalogue/describe", { tool_id: tool.id, text, seen });
      say(`${tool.name}: description as it was before`);
      await done(true);
    } catch (error) {
      showProblem(error, `The description of ${tool.name} was not taken back`, error.code === "version_conflict" ? undefined : () => undo(text, seen));
    }
  };
  draw();
  return h("div", {}, h("h3", {}, `Description of ${tool.name}`), field,
    h("p", { class: "muted", id: `overwritten-${tool.id}` }, OVERWRITTEN[writer](tool)), saving);
}
