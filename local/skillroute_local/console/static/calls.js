// Requests to the console's own process, which asks the API.

const HEADER = "X-Skillroute-Console";
const KEY = "skillroute-console-key";
const TOKEN = "skillroute-console-token";

/** An error that the console answered: what happened and what helps. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? `the console answered ${status}`);
    this.status = status;
    this.remedy = body.remedy ?? "Try again; if the error persists, read the console's output.";
    this.code = body.code ?? null;
    this.requestId = body.request_id ?? null;
    this.now = body.now;
  }
}

/** Take the key out of the address that was opened, so that it is in no bookmark and no picture; returns whether it had one. */
export function takeKey() {
  const found = /[#&]key=([\w-]+)/.exec(location.hash);
  if (!found) return false;
  localStorage.setItem(KEY, found[1]);
  history.replaceState(null, "", `${location.pathname}#/`);
  return true;
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

/** Keep a token for as long as the tab is open; without one the console asks as it was started. */
export function setToken(token) {
  if (token) sessionStorage.setItem(TOKEN, token);
  else sessionStorage.removeItem(TOKEN);
}

/** Ask for an action. One that is `last` is sent though the page is being closed. */
export async function act(name, fields = {}, { signal, last = false } = {}) {
  return ask(`do/${name}`, fields, { signal, last });
}

export const about = () => ask("about", {}, {});

/** Ask for an action that takes long, and yield each event of it; what fails on the way is thrown. */
export async function* events(name, fields, { signal }) {
  const answer = await send(`do/${name}`, fields, { signal });
  if (!answer.ok) throw await problemOf(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  let ended = false;
  try {
    while (!ended) {
      const { value = "", done } = await received(reader);
      ended = done;
      const lines = (waiting + value).split("\n");
      waiting = lines.pop();
      for (const line of lines) {
        const event = JSON.parse(line);
        if (event.problem) throw new Problem(event.problem.status, event.problem);
        yield event;
      }
    }
  } finally {
    if (!ended) reader.cancel().catch(() => {}); // who stops listening ends the work
  }
}

async function received(reader) {
  try {
    return await reader.read();
  } catch (error) {
    throw error.name === "AbortError" ? error : away();
  }
}

async function ask(path, fields, { signal, last }) {
  const answer = await send(path, fields, { signal, last });
  if (!answer.ok) throw await problemOf(answer);
  try {
    return await answer.json();
  } catch {
    throw new Problem(answer.status, {});
  }
}

const away = () => new Problem(0, {
  detail: "the console does not answer",
  remedy: "Start `skillroute console` or `make run` again, then try again: your input is kept.",
});

const problemOf = async (answer) => new Problem(answer.status, await answer.json().catch(() => null) ?? {});

async function send(path, fields, { signal, last = false }) {
  const headers = { "Content-Type": "application/json", [HEADER]: localStorage.getItem(KEY) ?? "page" };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { method: "POST", headers, body: JSON.stringify(fields), signal, keepalive: last });
  } catch (error) {
    throw error.name === "AbortError" ? error : away();
  }
}
