# SPDX-License-Identifier: Apache-2.0
"""The operators' page: its figures, a kill and its recovery, a live, both languages, roles and contrast."""

import unittest

from playwright.sync_api import expect

import ops_server
from accessibility import problems
from browsing import shared_browser

SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1360, "height": 860}}


class Ops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = shared_browser()

    def page(self, place="#/", **options):
        self.server = ops_server.serve()
        self.addCleanup(self.server.shutdown)
        context = self.browser.new_context(**{"locale": "en-GB", **options})
        self.addCleanup(context.close)
        page = context.new_page()
        self.faults = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.faults.append(message.text))
        page.goto(f"http://127.0.0.1:{self.server.server_port}/{place}")
        expect(page.locator("main h1")).to_be_visible()
        return page

    def test_processes_charts_and_ledger_are_shown(self):
        page = self.page(viewport=SIZES["desktop"])
        expect(page.locator(".process")).to_have_count(9)
        expect(page.locator(".process", has_text="barrage-fanout-1")).to_contain_text("barrage: 1 partition")
        expect(page.locator(".chart")).to_have_count(10)
        self.assertEqual(page.locator(".chart-line").evaluate_all("lines => lines.filter((line) => "
                                                                  "line.getAttribute('d')).length"), 20)
        expect(page.get_by_text("gap in deliveries")).to_be_visible()
        expect(page.get_by_text("No gap:")).to_be_visible()
        expect(page.locator("dt", has_text="due to viewers").locator("+ dd")).to_have_text("16,188,000")
        heading = page.get_by_role("heading", name="Drops and refusals")
        expect(page.locator("section", has=heading)).to_contain_text("barrage: feed budget")
        before = page.evaluate("() => livePlazaOps.source.report.now")
        page.wait_for_function("before => livePlazaOps.source.report.now > before", arg=before)
        self.assertEqual(page.evaluate("() => livePlazaOps.source.samples.length"), 900)
        self.assertEqual(self.faults, [])

    def test_partitions_have_owners_until_their_process_is_killed(self):
        page = self.page(viewport=SIZES["desktop"])
        row = page.get_by_role("row", name="barrage barrage-fanout")
        expect(row.get_by_role("cell")).to_have_text(["1barrage-fanout-1", "2barrage-fanout-2"])
        page.locator(".process", has_text="barrage-fanout-2").get_by_role("button").press("Enter")
        page.get_by_role("button", name="Kill it").press("Enter")
        expect(row.get_by_role("cell").last).to_have_text("–nobody")
        expect(page.get_by_text("1 process has ended.")).to_be_visible()
        expect(row.get_by_role("cell").last).to_have_text("2barrage-fanout-2", timeout=15_000)
        self.assertEqual(self.faults, [])

    def test_a_process_is_killed_after_a_question_and_the_clock_shows_its_recovery(self):
        page = self.page(viewport=SIZES["desktop"])
        row = page.locator(".process", has_text="gateway-1")
        row.get_by_role("button").press("Enter")
        self.assertEqual(self.server.cluster.kills, [])
        page.get_by_role("button", name="Kill it").press("Enter")
        expect(row).to_contain_text("recovering:")
        expect(row).to_contain_text("recovered in", timeout=15_000)
        self.assertEqual(self.server.cluster.kills, ["gateway-1"])
        self.assertEqual(self.faults, [])

    def test_a_live_is_shown_with_its_counters_and_its_name_as_text(self):
        page = self.page("#/lives")
        page.get_by_role("link", name="Evening <b>show</b>").click()
        expect(page.get_by_role("heading", name="evening")).to_be_visible()
        expect(page.locator("dt", has_text="messages").locator("+ dd")).to_have_text("9,041")
        expect(page.locator("dt", has_text="duration").locator("+ dd")).to_have_text("1:02:05")
        self.assertNotIn("totalMessageCount", page.locator("main").inner_text())
        expect(page.locator("dt", has_text="seats taken").locator("+ dd")).to_have_text("1")

    def test_the_place_is_told_in_the_bar_and_the_title_is_in_the_language_of_the_page(self):
        page = self.page("#/lives", locale="zh-CN")
        views = page.get_by_role("navigation").get_by_role("link")
        self.assertEqual(page.title(), "LivePlaza：运维")
        self.assertEqual([view.get_attribute("aria-current") for view in views.all()], [None, "page"])
        page.locator("header button").first.click()
        expect(page).to_have_title("LivePlaza: operators")
        views.first.click()
        expect(views.first).to_have_attribute("aria-current", "page")
        self.assertIsNone(views.last.get_attribute("aria-current"))

    def test_the_focus_stays_at_a_live_while_its_counts_change(self):
        page = self.page("#/lives")
        link = page.get_by_role("link", name="Evening <b>show</b>")
        link.evaluate("(link) => { link.focus(); window.link = link; }")
        expect(page.locator(".process")).to_contain_text("480 watching")
        self.server.viewers = 481
        expect(page.locator(".process")).to_contain_text("481 watching", timeout=15_000)
        expect(link).to_be_focused()
        self.assertTrue(link.evaluate("(link) => link === window.link"))

    def test_a_tool_that_is_gone_is_said(self):
        page = self.page()
        page.route("**/ops/report*", lambda route: route.abort())
        expect(page.get_by_text("does not answer")).to_be_visible()

    def test_roles_names_contrast_and_width_in_both_languages(self):
        for theme in ("light", "dark"):
            for size, viewport in SIZES.items():
                for place in ("#/", "#/lives", "#/live/evening"):
                    with self.subTest(size=size, theme=theme, place=place):
                        page = self.page(place, viewport=viewport, color_scheme=theme, reduced_motion="reduce")
                        page.wait_for_timeout(500)
                        for language in ("en", "zh-Hans"):
                            self.assertEqual(page.evaluate("() => document.documentElement.lang"), language)
                            self.assertEqual(problems(page), [])
                            self.assertNotRegex(page.evaluate("() => document.body.innerText"), r"\bops\.[a-z]+")
                            self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth"),
                                                 viewport["width"])
                            page.locator("header button").first.click()
                            page.wait_for_timeout(500)
                        self.assertEqual([fault for fault in self.faults if "404" not in fault], [])


if __name__ == "__main__":
    unittest.main()
