// Points by WebGL: one buffer and one call for all; the graphics processor moves and zooms them.

const VERTEX = `
attribute vec2 place; attribute float hue; attribute float look;
uniform vec4 view; uniform float size; uniform vec2 tone; uniform vec3 grey;
varying vec4 colour; varying float shape; varying float radius; varying float whole; varying float chosen;
vec3 hsl(float angle, float saturation, float lightness) {
  vec3 k = mod(vec3(0.0, 8.0, 4.0) + angle / 30.0, 12.0);
  return lightness - saturation * min(lightness, 1.0 - lightness) * clamp(min(k - 3.0, 9.0 - k), -1.0, 1.0);
}
void main() {
  chosen = floor(look / 16.0);
  float state = floor(mod(look, 16.0) / 4.0);
  shape = mod(look, 4.0);
  radius = 0.5 * size * (state > 1.5 ? 1.5 : 1.0) * (shape > 1.5 ? 1.7 : shape > 0.5 ? 1.15 : 1.0);
  whole = 2.0 * radius + 8.0;
  colour = vec4(hue < 0.0 ? grey : hsl(hue, tone.x, tone.y), state < 0.5 ? 0.14 : state < 1.5 ? 0.85 : 1.0);
  gl_Position = vec4(place * view.xy + view.zw, 0.0, 1.0);
  gl_PointSize = whole;
}`;
const FRAGMENT = `
precision mediump float;
uniform vec3 line;
varying vec4 colour; varying float shape; varying float radius; varying float whole; varying float chosen;
void main() {
  vec2 from = abs(gl_PointCoord - 0.5) * whole;
  float far = shape > 1.5 ? 0.85 * (from.x + from.y) : length(from);
  float inside = 1.0 - smoothstep(radius - 0.5, radius + 0.5, far);
  float hole = shape > 0.5 && shape < 1.5 ? 1.0 - smoothstep(radius * 0.5 - 0.5, radius * 0.5 + 0.5, far) : 0.0;
  float shown = colour.a * inside * (1.0 - hole);
  float around = chosen * (1.0 - smoothstep(0.4, 1.4, abs(far - radius - 1.8)));
  if (shown + around < 0.01) discard;
  gl_FragColor = vec4(colour.rgb * shown, shown) * (1.0 - around) + vec4(line, 1.0) * around;
}`;
const BY_THE_PROCESSOR = /swiftshader|llvmpipe|softpipe|software|basic render/i; // slower than a plain canvas
const NUMBERS = 4; // of a point: x, y, hue, look
const channels = (text) => text.match(/[\d.]+/g).slice(0, 3).map((one) => Number(one) / 255);

/** Draws points; `CanvasPoints` does the same where there is no WebGL. */
export class GlPoints {
  /** Return one for a canvas, or null where no graphics processor is behind it; `anyway`: also by the main processor. */
  static on(canvas, { anyway = false } = {}) {
    const gl = canvas.getContext("webgl", { antialias: false, depth: false, alpha: true });
    if (!gl || gl.isContextLost()) return null;
    const named = gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER;
    if (!anyway && BY_THE_PROCESSOR.test(gl.getParameter(named))) return null;
    try { return new GlPoints(gl); } catch { return null; }
  }

  constructor(gl) {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    for (const [name, width, from] of [["place", 2, 0], ["hue", 1, 2], ["look", 1, 3]]) {
      const at = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, width, gl.FLOAT, false, 4 * NUMBERS, 4 * from);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    Object.assign(this, { gl, count: 0, is: (name) => gl.getUniformLocation(program, name) });
    this.at = Object.fromEntries(["view", "size", "tone", "grey", "line"].map((name) => [name, this.is(name)]));
  }

  /** Take the points, in the order in which they are drawn. */
  take(vertices) {
    this.count = vertices.length / NUMBERS;
    this.gl.bufferData(this.gl.ARRAY_BUFFER, vertices, this.gl.STATIC_DRAW);
  }

  paint({ width, height, scale, across, down, size, tone, muted, text }) {
    const { gl, at } = this;
    gl.viewport(0, 0, width * scale, height * scale);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(at.view, (2 * across.by) / width, (-2 * down.by) / height, (2 * across.plus) / width - 1, 1 - (2 * down.plus) / height);
    gl.uniform1f(at.size, size * scale);
    gl.uniform2f(at.tone, ...tone);
    gl.uniform3f(at.grey, ...channels(muted));
    gl.uniform3f(at.line, ...channels(text));
    gl.drawArrays(gl.POINTS, 0, this.count);
  }
}
