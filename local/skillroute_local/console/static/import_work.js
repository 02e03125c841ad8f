// An import as it goes on: what it would change, then that is written. It outlives the page, as the file that was chosen.
import { Problem, events } from "./calls.js";
import { dropDraft } from "./drafts.js";
import { say, showProblem, solved } from "./notices.js";

export const DRAFT = "import";
const MAX_MB = 20;
const MAX_SENT = 5_500_000; // a Skillroute takes bodies of 6 MB, and this is by Base64
const [UNCOMPARED, UNWRITTEN] = ["It could not be compared", "It was not imported"];
const TERMINAL = "Import it in a terminal: `skillroute import FILE --dry-run` shows the same.";

/** What there is of the import: the file, the choices, what was shown (`plan`), what came of it, and what goes on. */
export const state = { file: null, register: false, prune: "no", plan: null, planned: null, written: null, stopped: null, running: null };
let drawn = () => {};
let imported = () => {};

export function watch(draw, done) { [drawn, imported] = [draw, done]; }

document.addEventListener("token", () => { // for another caller it would change something else
  state.running?.stop();
  forget();
});

/** Forget what was shown: it is of a source, or of choices, that changed since. */
export function forget() {
  Object.assign(state, { plan: null, planned: null, written: null, stopped: null });
  for (const what of [UNCOMPARED, UNWRITTEN]) solved(what); // tried again, it would be what was there before
  drawn();
}

export function chooseFile(file) {
  if (file && file.size > MAX_MB * 1024 * 1024) {
    showProblem({ message: `it has ${Math.ceil(file.size / 1024 / 1024)} MB, and this page takes ${MAX_MB}`, remedy: TERMINAL, status: 413 }, `${file.name} is too large`);
    return;
  }
  state.file = file;
  forget();
}

async function sourceOf({ address, server }) {
  const choices = { server: server.trim(), register_servers: state.register, prune: state.prune };
  if (!state.file) return { address: address.trim(), ...choices };
  return { file_name: state.file.name, file: await compressed(state.file), ...choices };
}

async function compressed(file) {
  let packed;
  try {
    packed = await new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).blob();
  } catch {
    throw new Problem(0, { detail: `${file.name} cannot be read`, remedy: "Is it a folder, or was it changed since it was chosen? Choose it again." });
  }
  const text = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(packed);
  });
  if (text.length > MAX_SENT) throw new Problem(413, { detail: `${file.name} is too large to be sent, though it is compressed`, remedy: TERMINAL });
  return text;
}

/** Show what an import would change. */
export async function compare(texts) {
  Object.assign(state, { plan: null, written: null, stopped: null });
  await run("servers/compare", UNCOMPARED, async () => ({ source: await sourceOf(texts) }), () => { compare(texts); });
}

/** Write what was shown, where it would still be that. */
export async function write(source = state.planned, plan = state.plan) {
  Object.assign(state, { written: null, stopped: null });
  await run("servers/write", UNWRITTEN, async () => ({ source, shown: plan.digest }), () => { write(source, plan); });
}

async function run(name, failed, fields, again) {
  if (state.running) return;
  const controller = new AbortController();
  const isWriting = name === "servers/write";
  const mine = { doing: "sending", done: 0, total: null, counts: null, isWriting, stop: () => controller.abort() };
  state.running = mine;
  drawn();
  try {
    const sent = await fields();
    controller.signal.throwIfAborted(); // a large file takes a while to be read
    for await (const event of events(name, sent, { signal: controller.signal })) {
      if (event.plan) Object.assign(state, { plan: event.plan, planned: sent.source });
      else if (event.written) taken(event.written);
      else Object.assign(mine, event);
      mine.ended = Boolean(event.plan || event.written);
      if (!mine.ended) drawn();
    }
    if (!mine.ended) throw new Problem(0, { detail: "it ended before it was done" });
    solved(failed);
  } catch (error) {
    if (isWriting || error.name === "AbortError") state.stopped = { isWriting, counts: mine.counts, isAsked: error.name === "AbortError" };
    showProblem(error, failed, again);
    if (isWriting && mine.counts) imported([]);
  } finally {
    state.running = null;
    drawn();
  }
}

function taken(written) {
  Object.assign(state, { written, plan: null, planned: null, file: null });
  dropDraft(DRAFT); // what was typed is stored
  say(`Imported: ${counted(written.counts)}`, { forMs: 8000 });
  imported(written.servers);
}

const WORDS = { created: "new", updated: "changed", unchanged: "unchanged", removed: "switched off", deleted: "deleted", switched_on: "switched on again", failed: "refused" };

/** Counts by kind as a sentence. */
export function counted(counts) {
  const kinds = Object.entries(counts ?? {}).map(([kind, of]) => {
    const parts = Object.entries(WORDS).filter(([what]) => of[what]).map(([what, says]) => `${of[what].toLocaleString("en")} ${says}`);
    return parts.length ? `${kind.replaceAll("_", " ")}: ${parts.join(", ")}` : "";
  });
  return kinds.filter(Boolean).join("; ") || "nothing";
}
