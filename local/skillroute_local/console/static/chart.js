// A chart of figures over time, drawn by uPlot on a canvas, with the same figures as a table for readers of screens.
import { fill, h } from "./dom.js";
import uPlot from "./uplot/uPlot.esm.js";

const HEIGHT = 150;
const DAY_S = 86_400;
const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const two = (number) => String(number).padStart(2, "0");

/** A moment in UTC, as all pages show it: seconds of the epoch in, the day only if it is asked for. */
export function moment(seconds, { day = true } = {}) {
  const at = new Date(seconds * 1000);
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  return day ? `${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())} ${time}` : time;
}

/** Let the stylesheet of the charts be loaded, once. */
function addStyles() {
  const href = "./static/uplot/uPlot.min.css";
  if (!document.querySelector(`link[href="${href}"]`)) document.head.append(h("link", { rel: "stylesheet", href }));
}

/**
 * A chart with its legend, what the pointer is at, and the table.
 *
 * `lines` are { name, label, colour, dash }: the figure's name, its words, a variable of the stylesheet, and how the line
 * is broken, so that lines differ without colour. `format` makes the text of a value, which may be null.
 */
export class Chart {
  constructor({ title, lines, format }) {
    addStyles();
    Object.assign(this, { title, lines, format, data: null, plot: null, drawn: "" });
    this.canvas = h("div", { class: "chart", role: "img" });
    this.at = h("p", { class: "muted chart-at", "aria-hidden": "true" });
    this.table = h("div", { class: "chart-table", tabindex: "0", role: "region", "aria-label": `${title}, as a table` });
    this.details = h("details", { ontoggle: () => this.#tabulate() }, h("summary", {}, "As a table"), this.table);
    this.element = h("section", { class: "chart-frame", "aria-label": title },
      h("h2", {}, title),
      h("p", { class: "legend" }, lines.map((line) => h("span", {}, swatch(line), line.label))),
      this.canvas, this.at, this.details);
    this.resized = new ResizeObserver(() => this.#draw());
    this.resized.observe(this.canvas);
    this.repaint = () => this.plot?.redraw(false);
    this.themed = new MutationObserver(this.repaint);
    this.themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", this.repaint);
  }

  /** Show other figures: { at, NAME: values }, with the seconds of a step; gaps are null. */
  show(series, step) {
    const text = JSON.stringify([step, series.at, this.lines.map(({ name }) => series[name])]);
    if (text === this.drawn) return;
    this.drawn = text;
    this.step = step;
    this.data = [series.at, ...this.lines.map(({ name }) => series[name])];
    this.canvas.setAttribute("aria-label", `${this.title}: ${this.#inWords()}`);
    this.#draw();
    this.#tabulate();
  }

  /** Let go of the canvas and of what it listens to. */
  destroy() {
    this.resized.disconnect();
    this.themed.disconnect();
    dark.removeEventListener("change", this.repaint);
    this.plot?.destroy();
    this.plot = null;
  }

  #inWords() {
    return this.lines.map(({ label }, at) => {
      const known = this.data[at + 1].filter((value) => value !== null);
      if (!known.length) return `${label} unknown`;
      return `${label} ${this.format(known.at(-1))} at last, ${this.format(Math.max(...known))} at most`;
    }).join("; ");
  }

  #draw() {
    const width = this.canvas.clientWidth;
    if (!this.data || !width) return;
    if (!this.plot) this.plot = new uPlot(this.#options(width), this.data, this.canvas);
    else {
      if (this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
      this.plot.setData(this.data);
    }
  }

  #options(width) {
    const ruled = { stroke: () => colour("--line"), width: 1 };
    const axis = { stroke: () => colour("--muted"), grid: ruled, ticks: ruled };
    const isDay = (value, step) => value % DAY_S === 0 || step >= DAY_S;
    const days = (_, splits, at, space, step) =>
      splits.map((value) => (isDay(value, step) ? moment(value).slice(0, 5) : moment(value, { day: false })));
    const values = (_, splits) => splits.map((value) => this.format(value));
    const drawn = ({ label, colour: name, dash }) =>
      ({ label, dash, stroke: () => colour(name), width: 1.5, spanGaps: false, points: { size: 4 } });
    return {
      width, height: HEIGHT, legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { sync: { key: "overview" }, drag: { x: false, y: false, setScale: false } },
      scales: { y: { range: (_, least, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [{ ...axis, values: days }, { ...axis, size: 56, values }],
      series: [{}, ...this.lines.map(drawn)],
      hooks: { setCursor: [(plot) => this.#point(plot.cursor.idx)] },
    };
  }

  #point(place) {
    const at = this.data?.[0][place ?? -1];
    const values = this.lines.map(({ label }, line) => `${label} ${this.format(this.data[line + 1][place] ?? null)}`);
    fill(this.at, at === undefined ? "" : `${moment(at)}: ${values.join(", ")}`);
  }

  #tabulate() {
    if (!this.details.open || !this.data) return;
    const [times, ...values] = this.data;
    fill(this.table, h("table", {}, h("caption", { class: "spoken" }, this.title),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "From, UTC"),
        this.lines.map(({ label }) => h("th", { scope: "col", class: "num" }, label)))),
      h("tbody", {}, times.map((at, place) => h("tr", {}, h("th", { scope: "row" }, moment(at)),
        values.map((line) => h("td", { class: "num" }, this.format(line[place]))))).reverse())));
  }
}

/** A piece of a line as the legend shows it. */
function swatch({ colour: name, dash }) {
  const made = h("i", { "aria-hidden": "true", class: "chart-line" });
  made.style.borderTopColor = `var(${name})`;
  made.style.borderTopStyle = dash ? (dash[0] > 3 ? "dashed" : "dotted") : "solid";
  return made;
}
