// Points that are moved, zoomed and gone around; thousands of them stay smooth, for none is an element.
import { h, listenFor } from "./dom.js";
import { CanvasPoints } from "./points_canvas.js";
import { GlPoints } from "./points_gl.js";

export const [DIM, PLAIN, OUT] = [0, 1, 2]; // how a point is shown
export const [DISC, RING, DIAMOND] = [0, 1, 2]; // its shape
const NEAR = 12; // pixels around the pointer
const EDGE = 20; // pixels without points
const MOST_ZOOM = 60;
const MOST_NAMES = 60; // at once
const TONES = { light: [0.7, 0.38], dark: [0.65, 0.64] }; // saturation and lightness

/**
 * `over` is called with the point under the pointer or null, `chosen` with the one that was clicked, `around` with the
 * points that a line was drawn around, and whether they are more than those before. `drawing`: "canvas" or "webgl", where it shall not be chosen.
 */
export class Scatter {
  constructor({ label, over = () => {}, chosen = () => {}, around = () => {}, drawing = "fastest" }) {
    Object.assign(this, { over, chosen, around, points: [], shownNames: [], looks: [], vertices: new Float32Array(0), current: null, line: null, isDrawing: false });
    this.below = h("canvas", { class: "points", "aria-hidden": "true" });
    this.canvas = h("canvas", { class: "scatter", role: "img", "aria-label": label,
      onwheel: (event) => this.#wheel(event), onpointerdown: (event) => this.#down(event),
      onpointermove: (event) => this.#move(event), onpointerup: (event) => this.#up(event),
      onpointercancel: () => this.#stop(), onpointerleave: () => this.over(null) });
    this.element = h("div", { class: "picture" }, this.below, this.canvas);
    this.painter = (drawing !== "canvas" && GlPoints.on(this.below, { anyway: drawing === "webgl" })) || this.#plain();
    this.below.addEventListener("webglcontextlost", () => { this.painter = this.#plain(); this.painter.take(this.vertices); this.draw(); });
    this.home();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    listenFor(this, Scatter.#recoloured, [this.dark, "change"], [document, "theme"]);
  }

  static #recoloured(scatter) { scatter.colours = null; scatter.draw(); }

  /** Which of both draws. */
  get drawing() { return this.painter instanceof GlPoints ? "webgl" : "canvas"; }

  #plain() {
    const canvas = h("canvas", { class: "points", "aria-hidden": "true" }); // one that had WebGL gives nothing else
    this.below.replaceWith(canvas);
    this.below = canvas;
    return new CanvasPoints(canvas);
  }

  /** Show points { x, y, hue, shape } with coordinates in 0..1, and names { x, y, name } among them, the first before others. */
  show(points, names = []) {
    Object.assign(this, { points, current: null });
    this.xs = Float32Array.from(points, ({ x }) => x);
    this.ys = Float32Array.from(points, ({ y }) => y);
    this.home();
    this.look(() => ({}), names);
  }

  /** Say how each point is shown: `state`, whether it `isSelected`, and a `rank` to be written above it; and which names. */
  look(of, names) {
    this.looks = this.points.map((point) => ({ state: PLAIN, isSelected: false, rank: null, ...of(point) }));
    this.shownNames = names;
    // What is brought out comes last, over the others; equal colours follow each other, for the canvas.
    const order = this.points.map((_, at) => at);
    const weight = (at) => 1e6 * (this.looks[at].isSelected ? 8 : 0) + 1e6 * this.looks[at].state + 1e5 * (this.points[at].shape === DIAMOND ? 5 : 0) + (this.points[at].hue ?? -1);
    const weights = Float64Array.from(order, weight);
    order.sort((a, b) => weights[a] - weights[b]);
    this.vertices = new Float32Array(4 * order.length);
    order.forEach((at, place) => {
      const { state, isSelected } = this.looks[at];
      this.vertices.set([this.xs[at], this.ys[at], this.points[at].hue ?? -1, this.points[at].shape + 4 * state + (isSelected ? 16 : 0)], 4 * place);
    });
    this.painter.take(this.vertices);
    this.draw();
  }

  choose(point) {
    this.current = point;
    if (point) this.#reveal(point);
    this.draw();
  }

  home() { Object.assign(this, { zoom: 1, left: 0, top: 0 }); this.draw(); }

  zoomBy(factor, at = { x: 0.5, y: 0.5 }) {
    const zoom = Math.max(1, Math.min(MOST_ZOOM, this.zoom * factor));
    this.left += at.x / this.zoom - at.x / zoom;
    this.top += at.y / this.zoom - at.y / zoom;
    this.zoom = zoom;
    this.#keepInside();
    this.draw();
  }

  /** Let the pointer draw a line around points instead of moving the picture, or no longer. */
  setDrawing(isDrawing) {
    this.isDrawing = isDrawing;
    this.canvas.classList.toggle("drawing", isDrawing);
    this.#stop();
  }

  draw() {
    if (this.canvas.isConnected && !this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.#paint(); });
  }

  #view() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const by = { x: this.zoom * (width - 2 * EDGE), y: this.zoom * (height - 2 * EDGE) };
    const least = this.points.length > 20_000 ? 2.4 : this.points.length > 3000 ? 3.4 : 5;
    return {
      width, height, scale: devicePixelRatio || 1, size: Math.min(10, least * this.zoom ** 0.35),
      across: { by: by.x, plus: EDGE - this.left * by.x }, down: { by: by.y, plus: EDGE - this.top * by.y },
    };
  }

  #paint() {
    const view = this.#view();
    if (!view.width || !view.height) return;
    this.colours ??= colours();
    for (const canvas of [this.below, this.canvas]) {
      const [width, height] = [Math.round(view.width * view.scale), Math.round(view.height * view.scale)];
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    }
    this.painter.paint({ ...view, ...this.colours });
    const pen = this.canvas.getContext("2d");
    pen.setTransform(view.scale, 0, 0, view.scale, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    this.#names(pen, view);
    if (this.current) {
      pen.strokeStyle = this.colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(this.current.x * view.across.by + view.across.plus - 8, this.current.y * view.down.by + view.down.plus - 8, 16, 16);
    }
    this.#lasso(pen, view);
  }

  #names(pen, { width, height, across, down }) {
    pen.font = this.colours.font;
    pen.textAlign = "center";
    pen.lineWidth = 3;
    pen.strokeStyle = this.colours.page;
    pen.fillStyle = this.colours.text;
    const taken = [];
    const write = (text, at, above) => {
      const x = at.x * across.by + across.plus;
      const y = at.y * down.by + down.plus - above;
      if (x < 0 || y < 0 || x > width || y > height) return;
      const half = (this.widths[text] ??= pen.measureText(text).width / 2 + 3);
      const inside = Math.max(half, Math.min(width - half, x));
      if (taken.some(([left, right, line]) => inside + half > left && inside - half < right && Math.abs(y - line) < 14)) return;
      taken.push([inside - half, inside + half, y]);
      pen.strokeText(text, inside, y + 4);
      pen.fillText(text, inside, y + 4);
    };
    this.widths ??= {};
    const ranked = this.points.map((_, at) => at).filter((at) => this.looks[at].rank !== null).sort((a, b) => this.looks[a].rank - this.looks[b].rank);
    for (const at of ranked) write(String(this.looks[at].rank), this.points[at], 11);
    for (const name of this.shownNames) {
      if (taken.length > MOST_NAMES) break;
      write(name.name, name, 12);
    }
  }

  #lasso(pen, { across, down }) {
    if (!this.line) return;
    pen.beginPath();
    for (const [x, y] of this.line) pen.lineTo(x * across.by + across.plus, y * down.by + down.plus);
    pen.closePath();
    pen.lineWidth = 2;
    pen.strokeStyle = pen.fillStyle = this.colours.accent;
    pen.stroke();
    pen.globalAlpha = 0.1;
    pen.fill();
    pen.globalAlpha = 1;
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const { across, down } = this.#view();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    return { px, py, x: (px - across.plus) / across.by, y: (py - down.plus) / down.by };
  }

  #nearest({ px, py }) {
    const { across, down } = this.#view();
    let found = -1;
    let least = NEAR * NEAR;
    for (let at = 0; at < this.xs?.length; at++) {
      const far = (this.xs[at] * across.by + across.plus - px) ** 2 + (this.ys[at] * down.by + down.plus - py) ** 2;
      if (far < least && this.looks[at].state !== DIM) { least = far; found = at; }
    }
    return found < 0 ? null : this.points[found];
  }

  #wheel(event) {
    event.preventDefault();
    const { px, py } = this.#at(event);
    this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, { x: px / this.canvas.clientWidth, y: py / this.canvas.clientHeight });
  }

  #down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.#at(event);
    this.from = { ...at, left: this.left, top: this.top, moved: false, adds: event.shiftKey };
    if (this.isDrawing || event.shiftKey) this.line = [[at.x, at.y]];
  }

  #move(event) {
    const at = this.#at(event);
    if (!this.from) return this.over(this.#nearest(at));
    const [right, down] = [at.px - this.from.px, at.py - this.from.py];
    if (Math.abs(right) + Math.abs(down) > 4) this.from.moved = true;
    if (this.line) this.line.push([at.x, at.y]);
    else {
      this.left = this.from.left - right / this.zoom / (this.canvas.clientWidth - 2 * EDGE);
      this.top = this.from.top - down / this.zoom / (this.canvas.clientHeight - 2 * EDGE);
      this.#keepInside();
    }
    this.draw();
    return undefined;
  }

  #up(event) {
    const { from, line } = this;
    this.#stop();
    if (!from) return;
    if (!from.moved) {
      const clicked = this.#nearest(this.#at(event));
      if (clicked) this.chosen(clicked, { adds: from.adds });
    } else if (line) this.around(this.points.filter((point, at) => this.looks[at].state !== DIM && isWithin(line, point)), { adds: from.adds });
  }

  #stop() {
    Object.assign(this, { from: null, line: null });
    this.draw();
  }

  #reveal({ x, y }) {
    const shown = 1 / this.zoom;
    if (x < this.left || x > this.left + shown) this.left = x - shown / 2;
    if (y < this.top || y > this.top + shown) this.top = y - shown / 2;
    this.#keepInside();
  }

  #keepInside() {
    const most = 1 - 1 / this.zoom;
    this.left = Math.max(0, Math.min(most, this.left));
    this.top = Math.max(0, Math.min(most, this.top));
  }
}

/** Whether a point lies within a closed line: one that leaves it crosses the line an odd number of times. */
export function isWithin(line, { x, y }) {
  let isInside = false;
  for (let at = 0, before = line.length - 1; at < line.length; before = at++) {
    const [[x1, y1], [x2, y2]] = [line[at], line[before]];
    if ((y1 > y) !== (y2 > y) && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside;
  }
  return isInside;
}

function colours() {
  const found = getComputedStyle(document.documentElement);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches ? document.documentElement.dataset.theme !== "light" : document.documentElement.dataset.theme === "dark";
  const named = Object.fromEntries(["page", "text", "muted", "accent"].map((name) => [name, found.getPropertyValue(`--${name}`).trim()]));
  return { ...named, tone: TONES[isDark ? "dark" : "light"], font: `600 11.5px ${getComputedStyle(document.body).fontFamily}` };
}
