// Points without a graphics processor: written into the picture's pixels, which takes a third of the time of shapes.

const NUMBERS = 4; // of a point: x, y, hue, look
const ALPHAS = [0.14, 0.85, 1]; // by state

/** Draws points as `GlPoints` does. */
export class CanvasPoints {
  constructor(canvas) {
    Object.assign(this, { pen: canvas.getContext("2d"), vertices: new Float32Array(0), stamps: new Map(), hues: new Map() });
  }

  take(vertices) { this.vertices = vertices; }

  paint({ width, height, scale, across, down, size, tone, muted, text, page }) {
    const { vertices } = this;
    const [columns, rows] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.image?.width !== columns || this.image.height !== rows) {
      this.image = this.pen.createImageData(columns, rows);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels } = this;
    const of = `${columns} ${size * scale} ${tone} ${muted} ${text}`;
    if (of !== this.of) { this.stamps.clear(); this.hues.clear(); this.of = of; }
    pixels.fill(packed(channels(page)));
    let [lookBefore, hueBefore, stamp, colour] = [NaN, NaN, null, 0];
    const line = packed(channels(text));
    for (let at = 0; at < vertices.length; at += NUMBERS) {
      const x = Math.round((vertices[at] * across.by + across.plus) * scale);
      const y = Math.round((vertices[at + 1] * down.by + down.plus) * scale);
      if (x < 0 || y < 0 || x >= columns || y >= rows) continue;
      if (vertices[at + 3] !== lookBefore) { lookBefore = vertices[at + 3]; stamp = this.#stamp(lookBefore, size * scale, columns); }
      if (vertices[at + 2] !== hueBefore) { hueBefore = vertices[at + 2]; colour = this.#colour(hueBefore, tone, muted); }
      if (stamp.line) put(pixels, columns, rows, x, y, stamp.line, line);
      put(pixels, columns, rows, x, y, stamp.inner, colour);
    }
    this.pen.putImageData(this.image, 0, 0);
  }

  #colour(hue, tone, muted) {
    let found = this.hues.get(hue);
    if (found === undefined) this.hues.set(hue, found = packed(hue < 0 ? channels(muted) : hsl(hue, ...tone)));
    return found;
  }

  #stamp(look, size, columns) {
    let found = this.stamps.get(look);
    if (!found) this.stamps.set(look, found = stamped(look, size, columns));
    return found;
  }
}

/** Return the pixels of a point around its middle, with how much each is covered. */
function stamped(look, size, columns) {
  const [shape, state] = [look % 4, (look % 16) >> 2];
  const radius = 0.5 * size * (state === 2 ? 1.5 : 1) * [1, 1.15, 1.7][shape];
  const inner = { dx: [], dy: [], alpha: [], reach: 0 };
  const line = { dx: [], dy: [], alpha: [], reach: 0 };
  const most = Math.ceil(radius + 4);
  const add = (to, dx, dy, covered) => {
    if (covered < 0.02) return;
    to.dx.push(dx); to.dy.push(dy); to.alpha.push(Math.round(256 * Math.min(1, covered)));
    to.reach = Math.max(to.reach, Math.abs(dx), Math.abs(dy));
  };
  const within = (far, edge) => Math.max(0, Math.min(1, edge + 0.5 - far));
  for (let dy = -most; dy <= most; dy++) {
    for (let dx = -most; dx <= most; dx++) {
      const far = shape === 2 ? 0.85 * (Math.abs(dx) + Math.abs(dy)) : Math.hypot(dx, dy);
      const hole = shape === 1 ? within(far, radius * 0.5) : 0;
      add(inner, dx, dy, within(far, radius) * (1 - hole) * ALPHAS[state]);
      if (look >= 16) add(line, dx, dy, 1.4 - Math.abs(far - radius - 1.8));
    }
  }
  const typed = ({ dx, dy, alpha, reach }) => ({
    reach, dx: Int32Array.from(dx), dy: Int32Array.from(dy), alpha: Int32Array.from(alpha), offsets: Int32Array.from(dx, (x, n) => dy[n] * columns + x),
  });
  return { inner: typed(inner), line: look >= 16 ? typed(line) : null };
}

function put(pixels, columns, rows, x, y, { dx, dy, alpha, offsets, reach }, colour) {
  const isWhole = x >= reach && y >= reach && x < columns - reach && y < rows - reach;
  const middle = y * columns + x;
  const [odd, green] = [colour & 0xff00ff, colour & 0xff00];
  for (let n = 0; n < offsets.length; n++) {
    if (!isWhole && (x + dx[n] < 0 || x + dx[n] >= columns || y + dy[n] < 0 || y + dy[n] >= rows)) continue;
    const place = middle + offsets[n];
    const a = alpha[n];
    if (a === 256) { pixels[place] = colour; continue; }
    // Red and blue at once, and green: what is there moves towards the colour by a / 256.
    const there = pixels[place];
    const first = there & 0xff00ff;
    const second = there & 0xff00;
    pixels[place] = 0xff000000 | ((first + (Math.imul(odd - first, a) >> 8)) & 0xff00ff) | ((second + (Math.imul(green - second, a) >> 8)) & 0xff00);
  }
}

const channels = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
const packed = ([red, green, blue]) => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;

function hsl(hue, saturation, lightness) {
  return [0, 8, 4].map((from) => {
    const k = (from + hue / 30) % 12;
    return Math.round(255 * (lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}
