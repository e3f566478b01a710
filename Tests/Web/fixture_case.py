# SPDX-License-Identifier: Apache-2.0
"""Cases on sample data, without a cluster."""

import unittest

from playwright.sync_api import expect

import static_server
from browsing import shared_browser

SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1360, "height": 860}}

# Tells a store of the live an event, as the server's notice would.
TELL = """([store, type, detail]) => {
    const { stores } = livePlazaPage.shell.page;
    stores[store].dispatchEvent(Object.assign(new Event(type), { detail }));
}"""


class FixtureCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = static_server.serve()
        cls.browser = shared_browser()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}/"

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()

    def page(self, place, query="fixture", prepare=lambda page: None, **options):
        """A page at a place; `prepare` sees it before anything is loaded."""
        context = self.browser.new_context(**{"locale": "en-GB", **options})
        self.addCleanup(context.close)
        page = context.new_page()
        self.faults = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.faults.append(message.text))
        prepare(page)
        page.goto(f"{self.url}?{query}{place}")
        expect(page.locator("main h1, main .live-title h1").first).to_be_attached()
        page.wait_for_timeout(1200)
        return page
