# SPDX-License-Identifier: Apache-2.0
"""Measures the live page, for docs/PERFORMANCE.md: bytes of script and texts, frames and main thread at 40 messages a
second on sample data, and the frames of an empty page beside them; then, on a local cluster, the time to the first item
after a click, and to a connection after a kill."""

import gzip
import re
import statistics
import threading
import time

from playwright.sync_api import sync_playwright

import static_server
from browsing import CHROMIUM, Window
from web_cluster import Cluster

RUNS = 5


def loaded(browser, url):
    """The scripts and the texts that a live loads as a gateway serves them, without the sample data."""
    for locale in ("en-GB", "zh-CN"):
        page = browser.new_page(locale=locale)
        answers = []
        page.on("response", lambda answer: "fixture" not in answer.url and answers.append(answer))
        page.goto(f"{url}/?fixture#/live/sample-0")
        page.wait_for_timeout(3000)
        for what, part in (("scripts", r"\.js$"), ("texts", "/texts/")):
            bodies = [answer.body() for answer in answers if re.search(part, answer.url)]
            print(f"{what} of a live, {locale}: {len(bodies)} files, {sum(map(len, bodies)) / 1000:.1f} kB, "
                  f"gzip {sum(len(gzip.compress(body, 6)) for body in bodies) / 1000:.1f} kB")
        page.close()


def most_frames(browser, seconds=10):
    """Frames a second of an empty page: what this browser and machine can show at most."""
    page = browser.new_page(viewport={"width": 1360, "height": 860})
    rate = page.evaluate("""(milliseconds) => new Promise((done) => {
        const begun = performance.now();
        let frames = 0;
        const draw = () => {
            frames += 1;
            const passed = performance.now() - begun;
            if (passed < milliseconds) requestAnimationFrame(draw); else done(frames / passed * 1000);
        };
        requestAnimationFrame(draw);
    })""", seconds * 1000)
    page.close()
    print(f"an empty page: {rate:.1f} frames/s")
    return rate


def frames(browser, url, seconds=30):
    page = browser.new_page(viewport={"width": 1360, "height": 860})
    page.goto(f"{url}/?fixture&rate=40#/live/sample-0")
    page.wait_for_function("() => globalThis.livePlazaPage?.shell.page?.chat.chat.messages.length >= 200",
                           timeout=90_000)
    client = page.context.new_cdp_session(page)
    # Processor time of the main thread: what other programs take does not count.
    client.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy():
        found = {entry["name"]: entry["value"] for entry in client.send("Performance.getMetrics")["metrics"]}
        return {name: found[name]
                for name in ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")}

    page.evaluate("() => { livePlazaPage.shell.page.stage.barrage.statistics.slowest = 0; }")
    drawn = page.evaluate("() => livePlazaPage.shell.page.stage.barrage.statistics.frames")
    before, begun = busy(), time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    spent, passed = busy(), time.monotonic() - begun
    after = page.evaluate("() => livePlazaPage.shell.page.stage.barrage.statistics")
    parts = ", ".join(f"{name.removesuffix('Duration').lower()} {(spent[name] - before[name]) / passed * 1000:.0f}"
                      for name in spent)
    print(f"at 40 messages a second: {(after['frames'] - drawn) / passed:.1f} frames/s, slowest drawing "
          f"{after['slowest']:.1f} ms, "
          f"{after['shown']} on the screen; processor time of the main thread, ms of each second: {parts}")
    page.close()


def first_item(cluster, viewer, live):
    """From a click on a live until its first message is shown. It has ten messages a second, and no history."""
    taken = []
    is_over = threading.Event()

    def send():
        number = 0
        while not is_over.wait(0.1):
            number += 1
            cluster.send_text(live, f"ticking {number}", key=f"tick-{number}")

    sender = threading.Thread(target=send)
    sender.start()
    try:
        for _ in range(RUNS):
            viewer.page.evaluate("() => { location.hash = '#/'; }")
            viewer.page.wait_for_selector(f"a[href$='{live}']")
            viewer.page.wait_for_timeout(500)
            taken.append(viewer.page.evaluate("""(live) => new Promise((done) => {
                const begun = performance.now();
                setTimeout(() => done(NaN), 20000);
                const observer = new MutationObserver(() => {
                    if (!document.querySelector('.chat-row:not(.tip, .note, .welcome)')) return;
                    observer.disconnect();
                    requestAnimationFrame(() => done(performance.now() - begun));
                });
                observer.observe(document.body, { childList: true, subtree: true });
                document.querySelector(`a[href$='${live}']`).click();
            })""", live))
    finally:
        is_over.set()
        sender.join()
    print(f"click to first item: median {statistics.median(taken):.0f} ms of "
          f"{', '.join(f'{one:.0f}' for one in taken)}")


def reconnect(cluster, windows):
    """From the kill of a gateway until each of its pages is connected again."""
    count = "() => livePlazaPage.session.wire.resumes"
    taken = []
    for _ in range(3):
        addresses = [window.page.evaluate("() => livePlazaPage.session.wire.address").rstrip("/") for window in windows]
        victim = max(set(addresses), key=addresses.count)
        hit = [window for window, address in zip(windows, addresses) if address == victim]
        before = [window.page.evaluate(count) for window in hit]
        for window, old in zip(hit, before):
            window.page.evaluate("""(old) => { const timer = setInterval(() => { if (livePlazaPage.session.wire.resumes > old) { clearInterval(timer); window.back = Date.now(); } }, 10); }""", old)
        killed = time.time() * 1000
        cluster.kill_gateway(1 + cluster.sockets.index(victim))
        for window in hit:
            window.page.wait_for_function("() => window.back !== undefined", timeout=60_000)
            taken.append(window.page.evaluate("() => { const { back } = window; window.back = undefined; return back; }") - killed)
        time.sleep(8)
    print(f"kill of a gateway to resumed: median {statistics.median(taken):.0f} ms, most {max(taken):.0f} ms, "
          f"{len(taken)} connections")


def main():
    server = static_server.serve()
    url = f"http://127.0.0.1:{server.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        most_frames(browser)
        frames(browser, url)
        most_frames(browser)
        cluster = Cluster()
        try:
            loaded(browser, cluster.url)
            windows = [Window(browser, cluster.url).sign_in(f"Measure {number}") for number in range(6)]
            live = windows[0].go_live("Measured")
            windows[1].page.wait_for_timeout(3000)
            windows[1].page.reload()
            first_item(cluster, windows[1], live)
            for window in windows[1:]:
                window.enter(live)
            reconnect(cluster, windows)
        finally:
            cluster.stop()
        browser.close()


if __name__ == "__main__":
    main()
