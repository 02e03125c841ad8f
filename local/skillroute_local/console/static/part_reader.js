// Parts of a page that are read again and again, each by itself: while one fails the others go on.
import { sayNotRead, showProblem, solved } from "./notices.js";

export class PartReader {
  #failed = new Set();
  #turns = {}; // of each part, how many there were: an answer to an older one is of no use

  /** `again` reads all parts, from an error. */
  constructor(again) {
    this.again = again;
    this.visit = 0; // what is answered after the page was left is of no use, and no problem of the next page
  }

  left() { this.visit += 1; }

  /** Show errors that are known already once more. */
  renew() { this.#failed.clear(); }

  /** Read a part and show it; an error stands there once, and in `place` where nothing was read before. */
  async read(what, ask, show = () => {}, place = null) {
    const { visit } = this;
    const turn = this.#turns[what] = (this.#turns[what] ?? 0) + 1;
    const isOld = () => visit !== this.visit || turn !== this.#turns[what];
    try {
      const answer = await ask();
      if (isOld()) return;
      this.#failed.delete(what);
      solved(what);
      show(answer);
    } catch (error) {
      if (isOld()) return;
      if (!this.#failed.has(what)) showProblem(error, what, this.again);
      this.#failed.add(what);
      if (place) sayNotRead(place, error);
    }
  }
}
