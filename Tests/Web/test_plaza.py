# SPDX-License-Identifier: Apache-2.0
"""The list of lives: further ones, a search, and what changes in it. On sample data, without a cluster."""

import re
import unittest

from playwright.sync_api import expect

from fixture_case import SIZES, FixtureCase


class Plaza(FixtureCase):
    def test_the_plaza_scrolls_on_and_finds_by_category_and_name(self):
        page = self.page("#/", viewport=SIZES["desktop"])
        cards = page.locator(".cards > li").filter(visible=True)
        self.assertLess(cards.count(), 64)
        for _ in range(6):
            page.mouse.wheel(0, 5000)
            page.wait_for_timeout(300)
        expect(page.get_by_text("That is everything.")).to_be_visible()
        expect(cards).to_have_count(64)
        page.get_by_label("Search by name").fill("PIANO late")
        expect(cards).to_have_count(6)
        page.get_by_label("Search by name").fill("")
        page.get_by_role("tab", name="All").press("ArrowRight")
        page.get_by_role("tab", name="Chatting").press("ArrowRight")
        expect(page.get_by_role("tab", name="Music")).to_be_focused()
        expect(cards).to_have_count(11)
        self.assertEqual(self.faults, [])

    def test_an_address_of_nothing_is_the_plaza_and_says_so(self):
        page = self.page("#/", viewport=SIZES["desktop"])
        told = page.locator(".toast", has_text="There is nothing at this address.")
        expect(told).to_have_count(0)
        for place in ("#/foo/bar", "#/live/%E0%A4%A"):
            page.evaluate("(place) => { location.hash = place; }", place)
            expect(told).to_be_visible()
            expect(page.get_by_role("heading", name="Lives")).to_be_visible()
            page.evaluate("() => document.querySelectorAll('.toast').forEach((toast) => toast.remove())")
        self.assertEqual(self.faults, [])

    def test_a_search_reads_on_only_when_it_is_asked_to(self):
        page = self.page("#/", viewport=SIZES["desktop"])
        page.evaluate("""() => {
            const { plaza } = livePlazaPage.session;
            const call = plaza.call.bind(plaza);
            window.pages = 0;
            plaza.call = (method, ...rest) => {
                if (method === 'live.list') window.pages += 1;
                return call(method, ...rest);
            };
        }""")
        loaded = page.evaluate("() => livePlazaPage.shell.page.list.state.liveList.length")
        self.assertLess(loaded, 64)
        search = page.get_by_label("Search by name")
        search.fill("no such name")
        expect(page.get_by_text("No live loaded so far has this name.")).to_be_visible()
        page.wait_for_timeout(2000)
        self.assertEqual(page.evaluate("() => pages"), 0, "a search has read on by itself")
        more = page.get_by_role("button", name="Load more lives")
        more.click()
        page.wait_for_function("() => pages === 1 && livePlazaPage.shell.page.list.state.liveList.length > 24")
        page.wait_for_timeout(1000)
        self.assertEqual(page.evaluate("() => pages"), 1)
        search.fill("")
        expect(more).to_be_hidden()
        for _ in range(6):
            page.mouse.wheel(0, 5000)
            page.wait_for_timeout(300)
        expect(page.get_by_text("That is everything.")).to_be_visible()
        self.assertEqual(self.faults, [])

    def test_lives_that_begin_and_end_come_and_go_on_the_plaza(self):
        page = self.page("#/", viewport=SIZES["desktop"])
        page.evaluate("""() => {
            const { plaza } = livePlazaPage.session;
            const call = plaza.call.bind(plaza);
            window.lives = [];
            plaza.call = async (method, ...rest) => (method === 'live.list' ? { items: window.lives, cursor: '' } : call(method, ...rest));
        }""")
        page.get_by_role("tab", name="Music").click()
        expect(page.get_by_text("Nobody is live just now.")).to_be_visible()
        live = """(id, count) => ({ info: { liveID: id, liveName: `Live ${id}`, liveOwner: { userID: 'u' } }, audienceCount: count, totalViewerCount: 9 })"""
        page.evaluate(f"() => {{ window.lives = [({live})('one', 3), ({live})('two', 5)]; }}")
        expect(page.locator(".card")).to_have_count(2, timeout=15_000)
        page.evaluate(f"() => {{ window.lives = [({live})('two', 1234)]; }}")
        expect(page.locator(".card")).to_have_count(1, timeout=15_000)
        expect(page.locator(".card")).to_contain_text("1,234")
        # Title, cover and state are renewed too, in the same link.
        page.locator(".card").focus()
        page.evaluate("""() => { window.lives = window.lives.map((live) => ({ ...live,
            info: { ...live.info, liveName: 'Another title', status: 3, coverURL: '/pages/covers/evening-cup.svg' } })); }""")
        expect(page.locator(".card-title")).to_have_text("Another title", timeout=15_000)
        expect(page.locator(".card")).to_contain_text("Back soon")
        expect(page.locator(".card")).to_have_attribute("aria-label", re.compile("^Another title, "))
        expect(page.locator(".card img")).to_have_attribute("src", re.compile("evening-cup.svg$"))
        expect(page.locator(".card")).to_be_focused()
        self.assertEqual(self.faults, [])

    def test_a_page_loads_the_texts_of_its_language_alone_until_another_one_is_chosen(self):
        texts = []

        def prepare(page):
            page.on("request",
                    lambda request: "/texts/" in request.url and texts.append(request.url.rpartition("/")[2]))

        page = self.page("#/", prepare=prepare, viewport=SIZES["desktop"], locale="zh-CN")
        expect(page.get_by_role("heading", name="直播", exact=True)).to_be_visible()
        self.assertEqual(texts, ["zh.json"])
        page.get_by_role("button", name="语言").click()
        expect(page.get_by_role("heading", name="Lives", exact=True)).to_be_visible()
        self.assertEqual(texts, ["zh.json", "en.json"])
        self.assertEqual(self.faults, [])

    def test_a_page_without_the_texts_of_its_language_begins_with_the_other_one(self):
        page = self.page("#/", prepare=lambda page: page.route("**/texts/zh.json", lambda route: route.abort()),
                         viewport=SIZES["desktop"], locale="zh-CN")
        expect(page.get_by_role("heading", name="Lives", exact=True)).to_be_visible()
        page.get_by_role("button", name="Language").click()
        expect(page.locator(".toast")).to_contain_text("could not be loaded")

    def test_a_page_without_any_texts_says_so(self):
        for place in ("?fixture", "pages/ops/index.html"):
            with self.subTest(place):
                context = self.browser.new_context(locale="en-GB")
                self.addCleanup(context.close)
                page = context.new_page()
                page.route("**/texts/*.json", lambda route: route.fulfill(status=503))
                page.goto(self.url + place)
                expect(page.get_by_role("alert")).to_contain_text("could not start: its texts could not be loaded")


if __name__ == "__main__":
    unittest.main()
