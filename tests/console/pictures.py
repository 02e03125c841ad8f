"""Take the pictures of docs/console.md: `make pictures`. Needs Chromium; starts a Skillroute of its own."""

from __future__ import annotations

import base64
import os
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tests.console.conftest import NARROW, WIDE, chromium
from tests.console.planted import plant, plant_history, plant_judged, put_many
from tests.e2e.processes import HASHING, Processes, Up

PAGES = {
    "overview": "overview?range=24h",
    "search": "search?q=schedule+a+meeting+with+John+tomorrow",
    "compare": "search?q=schedule+a+meeting+with+John+tomorrow",
    "catalogue": "catalogue?tool=16",
    "servers": "servers",
    "skills": "skills?skill=calendar_management",
    "suggestions": "suggestions",
    "changes": "changes",
    "map": "map?q=schedule+a+meeting",
    "doctor": "doctor",
    "evaluation": "evaluation",
    "missed": "missed",
    "learning": "learning",
    "health": "health",
    "log": "log",
}
OF_SIZE = ("overview", "search", "catalogue", "servers", "map")
"""Pages that look otherwise with thousands of tools."""
SCHEMES = ("light", "dark")
SIZES = (1265, 49_700)
MAX_BYTES = 150_000


def main() -> None:
    from playwright.sync_api import sync_playwright

    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        Path(name).chmod(0o711)
        processes = Processes(Path(name))
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"] * (os.geteuid() == 0))
        try:
            server = processes.up(Path(name) / "home", "--no-pump").ready()
            plant(server)
            plant_history(server)
            plant_judged(server)
            for scheme in SCHEMES:
                _take(browser, server, scheme, target)
            for size in SIZES:
                server = processes.up(Path(name) / str(size), "--no-pump", **HASHING).ready()
                put_many(server, size)
                plant_history(server)
                _take_large(browser, server, size, target)
        finally:
            browser.close()
            processes.close()


def _take(browser: Any, server: Up, scheme: str, target: Path) -> None:
    """Take each page in a wide window, and in a narrow one next to its other scheme."""
    context = browser.new_context(viewport=WIDE, color_scheme=scheme)
    page, decoder = _pages(context)
    for name, place in PAGES.items():
        page.set_viewport_size(WIDE)
        _show(page, server, name, place)
        _store(target / f"{name}-{scheme}.png", page.screenshot(), decoder)
        page.set_viewport_size(NARROW)
        page.wait_for_load_state("networkidle")
        _store(target / f"{name}-narrow-{scheme}.png", page.screenshot(), decoder)
        if name == "compare":
            page.set_viewport_size(WIDE)
            page.get_by_role("button", name="Compare two settings").click()
    context.close()


def _take_large(browser: Any, server: Up, size: int, target: Path) -> None:
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(300_000)  # the map of 50,000
    page, decoder = _pages(context)
    for name in OF_SIZE:
        _show(page, server, name, PAGES[name].partition("?")[0] if name != "search" else "search?q=list+users")
        _store(target / f"{name}-{size}.png", page.screenshot(), decoder)
    context.close()


def _pages(context: Any) -> tuple[Any, Any]:
    """Return a page to take, and one that decodes pictures."""
    page, decoder = context.new_page(), context.new_page()
    # The pictures show where a Skillroute is by itself, not where it ran for them.
    page.route("**/about", lambda route: route.fulfill(json={"url": "http://localhost:3000"}))
    return page, decoder


def _show(page: Any, server: Up, name: str, place: str) -> None:
    page.goto("about:blank")
    page.goto(f"{server.url}/console/#/{place}")
    page.wait_for_load_state("networkidle", timeout=300_000)
    if name == "compare":
        page.get_by_role("button", name="Compare two settings").click()
        page.get_by_role("group", name="Settings B").get_by_label("Mode").select_option("lexical")
        page.get_by_text("only in B").first.wait_for()
    if name == "doctor":
        page.keyboard.press("r")
        page.get_by_text("How to fix it").wait_for()
    if name == "map":
        page.get_by_text("Placed ").wait_for()
    if name == "overview":
        page.locator(".chart canvas").first.wait_for()


def _store(path: Path, picture: bytes, decoder: Any) -> None:
    smaller = in_few_colours(picture, decoder)
    path.write_bytes(smaller)
    sys.stdout.write(f"{path}: {len(smaller) // 1000} KB\n")
    if len(smaller) > MAX_BYTES:
        raise SystemExit(f"{path} has {len(smaller)} bytes, and may have {MAX_BYTES}")


_DECODE = """async (picture) => {
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const drawn = canvas.getContext("2d");
  drawn.drawImage(bitmap, 0, 0);
  const { data } = drawn.getImageData(0, 0, bitmap.width, bitmap.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [bitmap.width, bitmap.height, btoa(text)];
}"""


def in_few_colours(picture: bytes, decoder: Any) -> bytes:
    """Return a PNG of 256 colours, the most frequent ones; the others become the nearest. The browser decodes."""
    width, height, pixels = decoder.evaluate(_DECODE, base64.b64encode(picture).decode())
    colours = np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(-1, 4)[:, :3]
    known, place, counts = np.unique(colours, axis=0, return_inverse=True, return_counts=True)
    palette = known[np.argsort(-counts)[:256]]
    apart = (known[:, None, :].astype(np.int32) - palette[None, :, :]) ** 2
    indexed = apart.sum(axis=2).argmin(axis=1).astype(np.uint8)[place.reshape(-1)].reshape(height, width)
    rows = np.zeros((height, width + 1), np.uint8)  # before each row its filter: none
    rows[:, 1:] = indexed
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
