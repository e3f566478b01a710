# SPDX-License-Identifier: Apache-2.0
"""Windows of a real browser, one for each user."""

import atexit
import functools
import os
import re
import secrets
import unittest

from playwright.sync_api import TimeoutError, expect, sync_playwright

import web_cluster

# Users and lives of this run: a cluster may still know those of an earlier one.
TAG = secrets.token_hex(2)
CHROMIUM = os.environ.get("LIVEPLAZA_CHROMIUM", "/usr/bin/chromium")
# A loaded machine is slow, and says nothing about the pages.
expect.set_options(timeout=20_000)


@functools.cache
def shared_browser():
    """The browser of all cases: Playwright can run only once in a process."""
    return sync_playwright().start().chromium.launch(
        executable_path=CHROMIUM, args=[
            "--js-flags=--expose-gc", "--enable-precise-memory-info",
            # A microphone that beeps, and that each page is given.
            "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"])


class Window:
    """One user's window."""

    def __init__(self, browser, url, **options):
        self.faults = []
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self._console(message))
        self.url = url

    def _console(self, message):
        # A refused policy is a fault of ours; a lost connection is what some cases are about.
        if message.type == "error" and "WebSocket" not in message.text and "ERR_" not in message.text:
            self.faults.append(message.text)

    def open(self):
        """Loads the page. Chromium gives up loads when an interface of the machine appears, as containers' do."""
        for attempt in range(3):
            self.page.goto(self.url)
            try:
                self.page.wait_for_selector("main", timeout=10_000)
                return
            except TimeoutError:
                continue

    def sign_in(self, name):
        self.open()
        self.page.get_by_label("Your name").fill(name)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("heading", name="Lives")).to_be_visible()
        return self

    def go_live(self, title, **fields):
        self.page.get_by_role("link", name="Go live").click()
        self.page.get_by_label("Title", exact=True).fill(title)
        for label, text in fields.items():
            field = self.page.get_by_label(label, exact=True)
            if field.evaluate("(field) => field.tagName") == "SELECT":
                field.select_option(label=text)
            else:
                field.fill(text)
        self.page.get_by_role("button", name="Start the live").click()
        expect(self.page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        return self.page.url.rsplit("/", 1)[1]

    def enter(self, live):
        self.page.goto(f"{self.url}/#/live/{live}")
        expect(self.page.get_by_label("Say something")).to_be_visible()
        return self

    def say(self, text):
        self.page.get_by_label("Say something").fill(text)
        self.page.keyboard.press("Enter")

    def messages(self):
        """The texts of the chat, also those that are not in view."""
        return self.page.evaluate(
            "() => livePlazaPage.shell.page.chat.chat.messages.filter((m) => m.kind === 'text').map((m) => m.text)")

    def wait_for_message(self, text):
        self.page.wait_for_function(
            "(text) => livePlazaPage.shell.page.chat.chat.messages.some((m) => m.text === text)", arg=text)

    def open_person(self, name):
        """Opens what may be done with somebody in the audience."""
        self.page.get_by_role("tab", name="Audience").click()
        self.page.locator(".people").get_by_role("button", name=re.compile(name)).click()

    def act_on(self, name, action):
        self.open_person(name)
        self.page.get_by_role("button", name=action, exact=True).click()
        expect(self.page.locator("dialog")).to_have_count(0)

    def connect(self, live):
        """Asks the owner of another live to connect, from the panel of the own live."""
        self.page.get_by_role("tab", name="Manage").click()
        row = self.page.locator(f'[data-live="{live}"]')
        for _ in range(8):
            self.page.get_by_role("button", name="Lives to connect with").click()
            self.page.wait_for_timeout(1500)
            if row.count():
                break
        row.get_by_role("button", name="Ask").click()

    def toast(self, text):
        return self.page.locator(".toast", has_text=text)

    def close(self):
        self.context.close()


class BrowserCase(unittest.TestCase):
    """A case with a browser and a cluster, which all cases of the run share."""

    cluster = None

    @classmethod
    def setUpClass(cls):
        cls.browser = shared_browser()
        if BrowserCase.cluster is None:
            BrowserCase.cluster = web_cluster.Cluster()
            atexit.register(BrowserCase.cluster.stop)

    def setUp(self):
        self.windows = []

    def tearDown(self):
        for window in self.windows:
            window.close()
        for window in self.windows:
            self.assertEqual(window.faults, [])

    def window(self, name=None, **options):
        window = Window(self.browser, self.cluster.url, **options)
        self.windows.append(window)
        return window.sign_in(f"{name} {TAG}") if name else window
