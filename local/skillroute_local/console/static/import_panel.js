// The import of the page Servers: a file or an address, what it would change, and then exactly that.
import { fill, field, h, plural, refuse, select } from "./dom.js";
import { editorDraft } from "./drafts.js";
import { DRAFT, chooseFile, compare, counted, forget, state, watch, write } from "./import_work.js";

const PRUNES = [["no", "stays as it is"], ["some", "is switched off, up to a tenth of a server's"], ["all", "is switched off, however much"]];
const WHAT = { created: ["ok", "+ new"], updated: ["so", "~ changed"], removed: ["no", "− gone, is switched off"], deleted: ["no", "− gone, is deleted"], unchanged: ["", "unchanged"] };
const LINES = [["problems", "Refused"], ["refused", "Without a vector: the embedding model refused the text"], ["warnings", "Warnings"], ["left_out", "Left out"], ["notes", "Notes"]];
const size = (bytes) => (bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024)).toLocaleString("en")} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`);

export function makeImport({ done, leave }) {
  const chooser = h("input", { type: "file", id: "import-file", onchange: () => { if (chooser.files[0]) chooseFile(chooser.files[0]); chooser.value = ""; } });
  const file = h("p", { role: "status" });
  const zone = h("div", { class: "drop", ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); }, ondragleave: () => zone.classList.remove("over"), ondrop: drop },
    h("label", { for: chooser.id }, "A file: drop it here, or choose it"), chooser, file,
    h("small", {}, "A tools/list answer, JSON or JSON Lines, OpenAPI, an mcp.json, a registry's list, an export, a .zip of Agent Skills. 20 MB at most."));
  const address = h("input", { type: "url", placeholder: "https://example.com/mcp", autocomplete: "off", spellcheck: "false" });
  const server = h("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: 256 });
  const register = h("input", { type: "checkbox", id: "import-register", onchange: () => { state.register = register.checked; forget(); } });
  const prune = select(PRUNES, state.prune, () => { state.prune = prune.value; forget(); });
  const show = h("button", { type: "submit", class: "main" }, "Show what would change");
  const progress = h("div", {});
  const result = h("section", { "aria-label": "What the import changes", tabindex: "-1" });
  const form = h("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); begin(); } },
    zone, field("Or the address of an MCP server", address, "It is asked for its tools, prompts and resources; none is called."),
    field("Server", server, "By this name the catalogue knows the server. A file may name its own; of an mcp.json it chooses one."),
    field("What the source no longer has", prune),
    h("p", { class: "inline" }, register, h("label", { for: register.id }, "Write the MCP servers that answer into the registry, with their addresses")),
    h("p", { class: "actions" }, show, h("button", { type: "button", onclick: leave }, "Back to the servers")));
  const element = h("div", { class: "scroll import" }, h("h2", {}, "Import"), form, progress, result);
  let bar = null;
  let before = null;
  let typed = null;

  function drop(event) {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files[0] && !state.running) chooseFile(event.dataTransfer.files[0]);
  }

  function begin() {
    if (state.running) return;
    if (!state.file && !/^https?:\/\/\S+$/.test(address.value.trim())) {
      refuse(address, address.value.trim() ? "An address begins with http:// or https://; programs are imported in a terminal." : "Choose a file, or enter an address.");
      return;
    }
    if (!state.file && !server.value.trim()) {
      refuse(server, "An address needs the name by which the catalogue knows the server.");
      return;
    }
    compare({ address: address.value, server: server.value });
  }

  function draw() {
    const isBusy = Boolean(state.running);
    const hadFocus = element.contains(document.activeElement); // before what has it is disabled
    for (const control of [chooser, server, register, prune]) control.disabled = isBusy;
    address.disabled = isBusy || Boolean(state.file);
    show.disabled = isBusy;
    register.checked = state.register;
    prune.value = state.prune;
    fill(file, state.file && [h("span", { class: "chip first" }, `${state.file.name}, ${size(state.file.size)}`), " ",
      h("button", { type: "button", disabled: isBusy, "aria-label": `Remove ${state.file.name}`, onclick: () => { chooseFile(null); chooser.focus(); } }, "Remove")]);
    zone.classList.toggle("has-file", Boolean(state.file));
    drawProgress(hadFocus);
    drawResult();
  }

  function drawProgress(hadFocus) {
    const { running } = state;
    if (!running) {
      const isStop = progress.contains(document.activeElement);
      bar = null;
      fill(progress);
      if (isStop) result.focus();
      return;
    }
    if (!bar) {
      bar = h("progress", { "aria-label": running.isWriting ? "Imported" : "Compared" });
      const stop = h("button", { type: "button", onclick: () => state.running?.stop() }, "Stop");
      fill(progress, h("p", { class: "inline" }, bar, h("span", { class: "muted" }), stop));
      if (hadFocus) stop.focus();
    }
    const { doing, done: read, total, counts } = running;
    if (total) { bar.max = total; bar.value = Math.min(read, total); } else bar.removeAttribute("value");
    fill(bar.nextSibling, `${doing}${total ? `: ${Math.min(100, Math.round((100 * read) / total))} %` : " …"}${counts && Object.keys(counts).length ? `, ${counted(counts)}` : ""}`);
  }

  function drawResult() {
    const now = [state.plan, state.written, state.stopped, state.running?.isWriting];
    if (before && now.every((part, at) => part === before[at])) return; // a reader of screens would begin anew
    const isNew = before !== null && ((state.plan && state.plan !== before[0]) || (state.written && state.written !== before[1]));
    before = now;
    fill(result, state.stopped && drawStopped(state.stopped), state.written ? drawWritten(state.written) : state.plan && drawPlan(state.plan));
    if (isNew && element.isConnected) result.focus();
  }

  const drawStopped = ({ isWriting, counts, isAsked }) => h("p", { class: "note", role: "status" }, isAsked ? "Stopped. " : "It ended early. ",
    isWriting ? `Until then: ${counted(counts)}; what was on its way may be written as well. Import the same again, and what is there is left alone.` : "Nothing was changed.");

  function drawPlan(plan) {
    return [
      h("h2", {}, "What it would change"),
      plan.is_another && h("p", { class: "note" }, "Nothing was written: the source or the catalogue changed after this was shown. This is what it would change now."),
      h("p", { role: "status" }, counted(plan.counts), ". ", h("span", { class: "muted" }, "Nothing is changed yet.")),
      plan.waiting_for_model && h("p", { class: "note" }, "The embedding model is unavailable: searches find what is written by words until it is back."),
      h("p", { class: "actions" },
        h("button", { type: "button", class: "main", disabled: plan.writes === 0 || state.running !== null, onclick: () => write() }, plan.writes ? `Import ${plural(plan.writes, "change")}` : "Nothing to import"),
        h("button", { type: "button", disabled: state.running !== null, onclick: () => { forget(); show.focus(); } }, "Discard")),
      programs(plan.programs),
      plan.changes.length > 0 && h("table", {}, h("thead", {}, h("tr", {}, ["What", "Item", "Fields that differ"].map((name) => h("th", {}, name)))),
        h("tbody", {}, plan.changes.map(({ kind, what, name, detail }) => h("tr", {},
          h("td", {}, h("span", { class: WHAT[what][0] ? `state ${WHAT[what][0]}` : "muted" }, WHAT[what][1])),
          h("td", { class: "name" }, name, kind !== "items" && [" ", h("span", { class: "chip" }, kind.replaceAll("_", " "))]), h("td", {}, detail.replaceAll("_", " ")))))),
      plan.more > 0 && h("p", { class: "muted" }, `and ${plan.more.toLocaleString("en")} more, which are imported too`),
      lines(plan)];
  }

  const drawWritten = (written) => [
    h("h2", {}, "Imported"), h("p", { role: "status" }, `${counted(written.counts)}.`),
    written.waiting_for_model && h("p", { class: "note" }, "The embedding model is unavailable: searches find what was written by words until it is back."),
    written.servers.length > 0 && h("p", {}, "Servers: ", written.servers.map((name, at) => [at > 0 && ", ", h("a", { href: `#/servers?server=${encodeURIComponent(name)}` }, name)])),
    lines(written)];

  /** What this page never starts, with the command that does. */
  const programs = (found) => found.length > 0 && [
    h("h3", {}, `${plural(found.length, "program")} of the file: this page starts none`),
    h("p", { class: "muted" }, "If you trust them, import each in a terminal, with a look at --dry-run first:"),
    h("table", {}, h("thead", {}, h("tr", {}, ["Server", "It would start", "Command"].map((name) => h("th", {}, name)))),
      h("tbody", {}, found.map(({ name, program, command }) => h("tr", {}, h("td", { class: "name" }, name), h("td", { class: "name" }, program),
        h("td", { class: "name" }, command, " ", h("button", { type: "button", "aria-label": `Copy the command for ${name}`, onclick: (event) => copy(command, event.target) }, "Copy"))))))];

  const lines = (report) => LINES.map(([name, says]) => report[name].length > 0 && [
    h("h3", {}, `${says} (${(report[name].length + (report.more_lines[name] ?? 0)).toLocaleString("en")})`),
    h("ul", { class: "plain" }, report[name].map((line) => h("li", {}, line)),
      report.more_lines[name] && h("li", { class: "muted" }, `and ${report.more_lines[name].toLocaleString("en")} more: \`skillroute import FILE --dry-run --json\` names all`))]);

  async function copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
      fill(button, "Copied");
    } catch {
      getSelection().selectAllChildren(button.parentElement); // where the browser does not let us
      fill(button, "Select and copy it");
    }
  }

  return {
    element,
    focus: () => chooser.focus(),
    enter: () => {
      typed ??= editorDraft(DRAFT, { address, server }, { address: "", server: "" }, { typed: () => forget() });
      watch(draw, (servers) => {
        if (state.written) address.value = server.value = "";
        done(servers);
      });
      draw();
    },
    leave: () => watch(() => {}, () => {}),
  };
}
