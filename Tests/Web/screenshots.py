# SPDX-License-Identifier: Apache-2.0
"""Pictures of each page, for people to look at: phone and desktop, light and dark, into .build/screenshots."""

import pathlib
import sys

from playwright.sync_api import sync_playwright

import ops_server
import static_server

OUT = pathlib.Path(__file__).resolve().parents[2] / ".build" / "screenshots"
SIZES = {"phone": (390, 844), "desktop": (1360, 860)}
PAGES = {
    "plaza": ("#/", "plaza"), "live-battle": ("#/live/sample-0", "live"), "live-float": ("#/live/sample-1", "live"),
    "live-grid": ("#/live/sample-2", "live"), "live-voice": ("#/live/sample-3", "live"), "host": ("#/host", "host"),
    "manage": ("&host#/live/sample-0", "manage"), "sign-in": ("#/", "sign"), "ops": ("#/", "ops"),
    "ops-live": ("#/live/evening", "ops"),
}


def main(wanted):
    OUT.mkdir(parents=True, exist_ok=True)
    servers = {"ops": ops_server.serve(), "sign": static_server.serve(["ws://127.0.0.1:9"], mint=lambda user, name: "")}
    pages = static_server.serve()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium")
        for size, (width, height) in SIZES.items():
            for theme in ("light", "dark"):
                for name, (place, kind) in PAGES.items():
                    if wanted and not any(word in f"{name}-{size}-{theme}" for word in wanted):
                        continue
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=theme, locale="en-GB",
                        has_touch=size == "phone", device_scale_factor=1)
                    page = context.new_page()
                    page.on("console",
                            lambda message: message.type in ("error", "warning") and print(name, message.text))
                    page.on("pageerror", lambda error: print(name, "error:", error))
                    page.goto(f"http://127.0.0.1:{servers.get(kind, pages).server_port}/?{'none' if kind == 'sign' else 'fixture'}{place}")
                    page.wait_for_timeout(3500)
                    if kind == "manage":
                        page.evaluate("() => livePlazaPage.shell.page.side.open(2)")
                        page.wait_for_timeout(500)
                    page.screenshot(path=OUT / f"{name}-{size}-{theme}.png")
                    context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
