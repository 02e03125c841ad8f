// Points on a canvas, to be moved and zoomed; thousands of them stay smooth, for none is an element.
import { h } from "./dom.js";

const NEAR = 12; // pixels around the pointer
const MOST_ZOOM = 60;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * `points` are { x, y, group, ... } with coordinates between 0 and 1, `groups` { x, y, name } the names drawn among them.
 * `over` is called with the point under the pointer or null, `chosen` with the one that was clicked.
 */
export class Scatter {
  constructor({ label, over, chosen }) {
    Object.assign(this, { over, chosen, points: [], groups: [], group: null, current: null });
    this.home();
    this.canvas = h("canvas", { class: "scatter", role: "img", "aria-label": label,
      onwheel: (event) => this.#wheel(event), onpointerdown: (event) => this.#down(event),
      onpointermove: (event) => this.#move(event), onpointerup: (event) => this.#up(event),
      onpointercancel: () => { this.from = null; }, onpointerleave: () => this.over(null) });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(points, groups) {
    Object.assign(this, { points, groups });
    this.home();
    this.draw();
  }

  /** Bring out one group, or all with null; -1 is what belongs to none. */
  bringOut(group) { this.group = group; this.draw(); }

  choose(point) {
    this.current = point;
    if (point) this.#reveal(point);
    this.draw();
  }

  home() { Object.assign(this, { zoom: 1, left: 0, top: 0 }); this.draw?.(); }

  zoomBy(factor, at = { x: 0.5, y: 0.5 }) {
    const zoom = Math.max(1, Math.min(MOST_ZOOM, this.zoom * factor));
    this.left += at.x / this.zoom - at.x / zoom;
    this.top += at.y / this.zoom - at.y / zoom;
    this.zoom = zoom;
    this.#keepInside();
    this.draw();
  }

  draw() {
    if (this.canvas?.isConnected && !this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.#paint(); });
  }

  #place({ x, y }) {
    const { width, height } = this.size;
    return [20 + (x - this.left) * this.zoom * (width - 40), 20 + (y - this.top) * this.zoom * (height - 40)];
  }

  #paint() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = devicePixelRatio || 1;
    this.size = { width, height };
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches ? document.documentElement.dataset.theme !== "light" : document.documentElement.dataset.theme === "dark";
    const size = Math.min(9, (this.points.length > 3000 ? 3 : 4.5) * Math.sqrt(this.zoom) ** 0.7);
    const groups = new Map();
    for (const point of this.points) groups.get(point.group)?.push(point) ?? groups.set(point.group, [point]);
    // What is brought out comes last, over the others.
    for (const [group, points] of [...groups].sort(([a], [b]) => (a === this.group) - (b === this.group))) {
      pen.globalAlpha = this.group === null || this.group === group ? 0.85 : 0.12;
      pen.fillStyle = group < 0 ? css("--muted") : colour(group, isDark);
      for (const point of points) {
        const [x, y] = this.#place(point);
        if (x < -size || y < -size || x > width + size || y > height + size) continue;
        pen.fillRect(x - size / 2, y - size / 2, size, size);
      }
    }
    pen.globalAlpha = 1;
    this.#names(pen);
    if (this.current) {
      const [x, y] = this.#place(this.current);
      pen.strokeStyle = css("--text");
      pen.lineWidth = 2;
      pen.strokeRect(x - size / 2 - 3, y - size / 2 - 3, size + 6, size + 6);
    }
  }

  #names(pen) {
    pen.font = `600 11.5px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = "center";
    pen.lineWidth = 3;
    pen.strokeStyle = css("--page");
    const taken = [];
    this.groups.forEach((group, number) => {
      if (this.group !== null && this.group !== number) return;
      const [x, y] = this.#place(group);
      const half = pen.measureText(group.name).width / 2 + 3;
      if (x < 0 || y < 0 || x > this.size.width || y > this.size.height) return;
      if (taken.some(([left, right, at]) => x + half > left && x - half < right && Math.abs(y - at) < 14)) return;
      taken.push([x - half, x + half, y]);
      const inside = Math.max(half, Math.min(this.size.width - half, x));
      pen.strokeText(group.name, inside, y + 4);
      pen.fillStyle = css("--text");
      pen.fillText(group.name, inside, y + 4);
    });
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    return { px: event.clientX - box.left, py: event.clientY - box.top };
  }

  #nearest({ px, py }) {
    let found = null;
    let least = NEAR * NEAR;
    for (const point of this.points) {
      if (this.group !== null && this.group !== point.group) continue;
      const [x, y] = this.#place(point);
      const far = (x - px) ** 2 + (y - py) ** 2;
      if (far < least) { least = far; found = point; }
    }
    return found;
  }

  #wheel(event) {
    event.preventDefault();
    const { px, py } = this.#at(event);
    this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, { x: px / this.size.width, y: py / this.size.height });
  }

  #down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.from = { ...this.#at(event), left: this.left, top: this.top, moved: false };
  }

  #move(event) {
    const at = this.#at(event);
    if (!this.from) return this.over(this.#nearest(at));
    const [right, down] = [at.px - this.from.px, at.py - this.from.py];
    if (Math.abs(right) + Math.abs(down) > 4) this.from.moved = true;
    this.left = this.from.left - right / this.zoom / (this.size.width - 40);
    this.top = this.from.top - down / this.zoom / (this.size.height - 40);
    this.#keepInside();
    this.draw();
    return undefined;
  }

  #up(event) {
    const clicked = this.from && !this.from.moved ? this.#nearest(this.#at(event)) : null;
    this.from = null;
    if (clicked) this.chosen(clicked);
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

/** Hues far apart for groups that follow each other, of three brightnesses. */
export function colour(group, isDark) {
  return `hsl(${Math.round(group * 137.508) % 360} ${isDark ? 65 : 70}% ${(isDark ? 55 : 34) + 9 * (group % 3)}%)`;
}
