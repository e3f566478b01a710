# SPDX-License-Identifier: Apache-2.0
"""`plaza dashboard` beside a real cluster: processes are killed by the page's button, and the page shows what
follows."""

import os
import queue
import re
import signal
import subprocess
import threading
import time
import urllib.error

from playwright.sync_api import expect

from browsing import BrowserCase
from web_cluster import programs

# How long a process of a cluster may take until it is ready again; a loaded machine is slow.
RECOVERY = 90_000


class Dashboard(BrowserCase):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen(
            [programs() / "plaza", "dashboard", "--run-dir", self.cluster.run, "--port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.end)
        lines = queue.Queue()
        threading.Thread(target=lambda: [lines.put(line) for line in self.process.stdout], daemon=True).start()
        self.url = None
        while self.url is None:
            found = re.search(r"http://127\.0\.0\.1:\d+/", lines.get(timeout=30))
            self.url = found and found.group()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def dashboard(self):
        context = self.browser.new_context(viewport={"width": 1360, "height": 860}, locale="en-GB")
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(self.url)
        expect(page.locator(".process[data-state=ready]").first).to_be_visible()
        return page

    def report(self, page):
        return page.evaluate("() => livePlazaOps.source.report")

    def test_a_kill_by_the_page_loses_nothing_and_its_recovery_is_timed(self):
        host = self.window("Dash host")
        live = host.go_live("Under the dashboard")
        viewer = self.window("Dash viewer").enter(live)
        page = self.dashboard()
        before_kills = self.report(page)["ledger"]
        sent = []
        for victim in ("barrage-fanout-1", "gateway-1"):
            with self.subTest(process=victim):
                row = page.locator(".process", has_text=victim)
                expect(row).to_have_attribute("data-state", "ready")
                before = next(one["pid"] for one in self.report(page)["processes"] if one["name"] == victim)
                row.get_by_role("button").click()
                page.get_by_role("button", name="Kill it").click()
                # A quick one has recovered before the page asks again.
                expect(row).to_contain_text(re.compile("recovering:|recovered in"), timeout=20_000)
                # What is sent while the process is away is not lost.
                for _ in range(5):
                    sent.append(f"text {len(sent)}")
                    self.send(live, sent[-1])
                expect(row).to_contain_text("recovered in", timeout=RECOVERY)
                expect(row).to_have_attribute("data-state", "ready", timeout=RECOVERY)
                print(f"{victim}: {row.locator('.process-clock').inner_text()}")
                after = next(one["pid"] for one in self.report(page)["processes"] if one["name"] == victim)
                self.assertNotEqual(after, before)
                with self.assertRaises(ProcessLookupError):
                    os.kill(before, 0)
        viewer.wait_for_message(sent[-1])
        self.assertEqual([text for text in viewer.messages() if text in sent], sent)
        # The ledger counts what all processes have told, also the killed ones; nothing may be unexplained when all is
        # quiet.
        page.wait_for_function(
            "() => { const { ledger } = livePlazaOps.source.report; return ledger.feedGap === 0 && ledger.deliveryGap === 0; }",
            timeout=60_000)
        ledger = page.locator("section", has=page.get_by_role("heading", name="Ledger", exact=True))
        for name in ("gap in feeds", "gap in deliveries", "have ended"):
            expect(ledger).to_contain_text(name)
        # The counts of the killed processes are still in it, beside those of their successors.
        after_kills = self.report(page)["ledger"]
        self.assertGreaterEqual(after_kills["ends"], before_kills["ends"] + 2)
        self.assertGreaterEqual(after_kills["published"], before_kills["published"] + len(sent))
        self.assertGreaterEqual(after_kills["due"], before_kills["due"] + len(sent))
        # Every partition has one owner again.
        page.wait_for_function(
            "() => livePlazaOps.source.report.owners.every(({ partitions }) => partitions.every((names) => "
            "names.length === 1))",
            timeout=60_000)
        self.assertEqual(
            {owner["machine"] for owner in self.report(page)["owners"]},
            {"audience", "barrage", "connection", "directory", "seat"})
        folder = os.environ.get("LIVEPLAZA_SCREENSHOTS")
        if folder:
            page.screenshot(path=os.path.join(folder, "dashboard-after-kills.png"), full_page=True)

    def send(self, live, text):
        for _ in range(60):
            try:
                return self.cluster.send_text(live, text, key=f"dash-{text.replace(' ', '-')}")
            except urllib.error.HTTPError as answer:
                # A request that is refused stays refused; only a busy or missing service is worth another try.
                if answer.code < 500 and answer.code != 429:
                    raise AssertionError(f"{answer.code} {answer.read()[:300]}") from answer
                time.sleep(0.5)
            except OSError:
                time.sleep(0.5)
        raise AssertionError(f"not taken: {text}")
