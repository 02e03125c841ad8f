"""Frames of the console's map while 10,000 and 50,000 points are moved and zoomed, in a real Chromium.

The points are made up, in 60 groups with names. Each way of drawing (`canvas` writes pixels, `webgl` asks the graphics
processor) moves them for three seconds, then zooms; what counts are the times between frames and how long the page's
thread works for each. A Chromium without a graphics processor draws WebGL by the main one (SwiftShader), which is what
it says under `renderer`; the page never does that by itself.

    python -m benchmarks.standing.map_frames --json results/map_frames.json
"""

from __future__ import annotations

import argparse
import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, arguments, console, numbers, print_table, save, words

STATIC = ROOT / "local" / "skillroute_local" / "console" / "static"
SIZE = {"width": 1280, "height": 800}
FRAMES = 180
PAGE = '<!doctype html><link rel="stylesheet" href="/tokens.css"><link rel="stylesheet" href="/console.css"><body>'
MOVE = """async ([drawing, count, seed, how, frames]) => {
  const { Scatter, DISC, RING } = await import("/scatter.js");
  const chance = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const groups = Array.from({ length: 60 }, (_, at) => ({ x: chance(), y: chance(), name: `Skill number ${at}` }));
  const near = (middle) => Math.min(1, Math.max(0, middle + 0.05 * (chance() + chance() - 1)));
  const points = Array.from({ length: count }, (_, at) => {
    const group = at % groups.length; // every tenth is without a skill
    const isBare = group % 10 === 0;
    const hue = isBare ? null : (group * 47) % 360;
    return { x: near(groups[group].x), y: near(groups[group].y), hue, shape: isBare ? RING : DISC };
  });
  const scatter = new Scatter({ label: "Points", drawing });
  Object.assign(scatter.element.style, { position: "fixed", inset: "0" });
  document.body.replaceChildren(scatter.element);
  scatter.show(points, groups);
  if (scatter.drawing !== drawing) return null;
  const frame = () => new Promise(requestAnimationFrame);
  for (let at = 0; at < 20; at++) { scatter.draw(); await frame(); }
  const gaps = [];
  let last = await frame();
  for (let at = 0; at < frames; at++) {
    if (how === "zoom") scatter.zoomBy(at < frames / 2 ? 1.02 : 1 / 1.02);
    else {
      const [left, top] = [0.19 + 0.18 * Math.sin(at / 20), 0.19 + 0.18 * Math.cos(at / 23)];
      Object.assign(scatter, { zoom: 1.6, left, top });
      scatter.draw();
    }
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  return gaps.sort((a, b) => a - b);
}"""
RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl");
  if (!gl) return "none";
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
}"""

Json = dict[str, Any]


class Files(SimpleHTTPRequestHandler):
    """Serves the console's files, and an empty page with its styles."""

    def do_GET(self) -> None:
        """Answer a request."""
        if self.path != "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


def rows(page: Any, args: argparse.Namespace) -> Iterator[Json]:
    """Yield the times of each number of points, way of drawing and movement."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # processor time: other programs do not count

    def spent() -> dict[str, float]:
        return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}

    for count in args.points:
        for drawing in args.drawings:
            for how in ("pan", "zoom"):
                before = spent()
                gaps = page.evaluate(MOVE, [drawing, count, args.seed, how, FRAMES])
                after = spent()
                if gaps is None:
                    console.print(f"{drawing} is not to be had")
                    continue
                yield {
                    "points": count,
                    "drawing": drawing,
                    "movement": how,
                    "median_ms": round(gaps[FRAMES // 2], 1),
                    "p95_ms": round(gaps[FRAMES * 95 // 100], 1),
                    "main_thread_ms": round(1000 * (after["TaskDuration"] - before["TaskDuration"]) / FRAMES, 1),
                    "script_ms": round(1000 * (after["ScriptDuration"] - before["ScriptDuration"]) / FRAMES, 1),
                }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--points", type=numbers, default=[10_000, 50_000])
    parser.add_argument("--drawings", type=words, default=["canvas", "webgl"])
    parser.add_argument("--chromium", type=Path, default=shutil.which("chromium"), help="default: the one on the path")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(STATIC)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] * (os.geteuid() == 0)  # root gets no sandbox from Chromium
        browser = playwright.chromium.launch(executable_path=args.chromium, args=options)
        page = browser.new_page(viewport=SIZE)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        renderer = page.evaluate(RENDERER)
        found = list(rows(page, args))
        browser.close()
    server.shutdown()
    print_table(f"Frames of the map, WebGL by {renderer}", found)
    save(args, "map_frames", {"renderer": renderer, "rows": found})


if __name__ == "__main__":
    main()
