# SPDX-License-Identifier: Apache-2.0
"""Who uses a live by keyboard or by ear: reaching and using everything, and keeping the focus while others act. On
sample data, without a cluster."""

import re
import unittest

from playwright.sync_api import expect

from accessibility import problems
from fixture_case import SIZES, TELL, FixtureCase


class Keyboard(FixtureCase):
    def live(self, number=3, query="fixture", size="desktop"):
        return self.page(f"#/live/sample-{number}", query, viewport=SIZES[size], reduced_motion="reduce")

    def test_the_keyboard_reaches_everything_of_a_live(self):
        page = self.live()
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? "
                                      "document.activeElement.textContent.trim()"))
        for label in ("Send a heart", "Send a gift", "Say something", "Free seat 6", "Connection", "Chat"):
            self.assertIn(label, reached)

    def test_a_gift_is_sent_and_a_seat_is_taken_by_keyboard_alone(self):
        page = self.live()

        def reach(name):
            for _ in range(60):
                page.keyboard.press("Tab")
                if page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? "
                                 "document.activeElement.textContent.trim()") == name:
                    return
            self.fail(f"not reached: {name}")

        reach("Send a gift")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        reach("Rose1 coin")
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("radio", name="Cup of tea")).to_be_checked()
        reach("Send")
        page.keyboard.press("Space")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".chat-row.gift", has_text="Cup of tea").first).to_be_visible()
        # Who closes a dialog is where it was opened.
        expect(page.get_by_role("button", name="Send a gift")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Send a gift")).to_be_focused()
        reach("Free seat 6")
        page.keyboard.press("Enter")
        expect(page.locator(".plate-name", has_text="You")).to_be_visible()
        reach("Say something")
        page.keyboard.type("by keyboard")
        page.keyboard.press("Enter")
        expect(page.locator(".chat-row", has_text="by keyboard")).to_be_visible()
        self.assertEqual(self.faults, [])

    def test_the_focus_and_a_press_stay_while_scores_and_people_come(self):
        page = self.live(0, "fixture&host")
        tab = lambda name: page.get_by_role("tab", name=name).click()
        page.get_by_role("tab", name="Manage").click()
        expect(page.get_by_role("heading", name="Connected lives")).to_be_visible()
        page.get_by_role("button", name="Lives to connect with").click()
        expect(page.get_by_role("button", name="Ask").first).to_be_visible()
        places = {
            "microphone": ("Manage", page.get_by_role("button", name=re.compile("microphone"))),
            "application": ("Manage", page.get_by_role("button", name="Accept").last),
            "connected live": ("Manage", page.get_by_role("button", name="Leave out their sound")),
            "candidate": ("Manage", page.get_by_role("button", name="Ask").nth(1)),
            "viewer": ("Audience", page.locator(".people .person").nth(5)),
        }
        for name, (panel, button) in places.items():
            with self.subTest(name):
                tab(panel)
                button.focus()
                scores = page.locator(".battle-side").all_inner_texts()
                # Scores come every 1.5 s, and somebody every 3.8 s.
                page.wait_for_timeout(4500)
                self.assertNotEqual(page.locator(".battle-side").all_inner_texts(), scores)
                expect(button).to_be_focused()
        # A press that lasts longer than a redraw.
        tab("Manage")
        application = page.locator(".manage li", has=page.get_by_role("button", name="Decline")).first
        name = application.locator(".person-name").inner_text()
        application.get_by_role("button", name="Decline").hover()
        page.mouse.down()
        page.wait_for_timeout(4500)
        page.mouse.up()
        expect(page.locator(".manage .person-name", has_text=name)).to_have_count(0)
        self.assertEqual(self.faults, [])

    def test_an_own_change_keeps_the_focus_at_its_button(self):
        page = self.live()
        page.get_by_role("button", name="Free seat 6").click()
        expect(page.get_by_role("button", name="Leave the seat")).to_be_visible()
        button = page.get_by_role("button", name=re.compile("^Turn the microphone"))
        button.focus()
        # The same button in the other language, and back.
        for language in ("zh", "en"):
            page.evaluate("(language) => import('/pages/lib/i18n.js').then(({ setLanguage }) => setLanguage(language))",
                          language)
            page.wait_for_timeout(300)
        expect(button).to_be_focused()

    def test_an_invitation_can_be_answered_beside_the_other_actions(self):
        page = self.live()
        invitation = {"hostUser": {"userID": "aoi", "userName": "Aoi", "avatarURL": ""}, "seatIndex": -1,
                      "extraInfo": ""}
        tell = lambda kind, detail: page.evaluate(TELL, ["coGuest", kind, detail])
        expires = lambda seconds: {**invitation, "expiresAt": page.evaluate("() => Date.now() / 1000") + seconds}
        accept = page.get_by_role("button", name="Accept the invitation")
        decline = page.get_by_role("button", name="Decline the invitation")
        toast = page.locator(".toast", has_text="Aoi invites you")
        page.evaluate("""() => {
            const { coGuest } = livePlazaPage.shell.page.stores;
            window.answers = [];
            for (const name of ['acceptInvitation', 'rejectInvitation']) coGuest[name] = async ({ inviterID }) => { answers.push(`${name} ${inviterID}`); };
        }""")
        tell("onHostInvitationReceived", expires(60))
        expect(toast).to_be_visible()
        accept.press("Enter")
        for gone in (accept, decline, toast):
            expect(gone).to_have_count(0)
        tell("onHostInvitationReceived", expires(60))
        decline.press("Enter")
        expect(toast).to_have_count(0)
        # An answer over the page, the host's cancel, and the end of its time take the buttons away too.
        tell("onHostInvitationReceived", expires(60))
        toast.get_by_role("button", name="Accept").click()
        expect(accept).to_have_count(0)
        self.assertEqual(page.evaluate("() => answers"),
                         ["acceptInvitation aoi", "rejectInvitation aoi", "acceptInvitation aoi"])
        tell("onHostInvitationReceived", expires(60))
        tell("onHostInvitationCancelled", {"hostUser": {"userID": "other"}, "isTimeout": False})
        expect(accept).to_be_visible()
        tell("onHostInvitationCancelled", {"hostUser": {"userID": "aoi"}, "isTimeout": False})
        expect(accept).to_have_count(0)
        tell("onHostInvitationReceived", expires(4))
        expect(accept).to_be_visible()
        expect(accept).to_have_count(0, timeout=10_000)
        self.assertEqual(self.faults, [])

    def test_open_requests_of_other_hosts_are_answered_in_the_panel_until_they_end(self):
        page = self.live(0, "fixture&host&requests")
        panel = page.get_by_role("tab", name="Manage")
        panel.click()
        rows = page.locator(".requests li")
        # Two to connect and one to a battle from others, one of each of the own; one of them ends by itself.
        expect(rows).to_have_count(5)
        expect(rows.filter(has_text="wants to connect")).to_have_count(2)
        self.assertEqual(problems(page), [])
        first = rows.first.get_by_role("timer").inner_text()
        expect(rows.first.get_by_role("timer")).not_to_have_text(first)
        expect(rows).to_have_count(4, timeout=15_000)
        rows.filter(has_text="asked for a battle").get_by_role("button", name="Withdraw").press("Enter")
        expect(rows).to_have_count(3)
        rows.filter(has_text="challenges you").get_by_role("button", name="Decline").press("Enter")
        expect(page.locator(".toast", has_text="challenges you")).to_have_count(0)
        # A page that is loaded again shows what is open.
        page.reload()
        panel.click()
        expect(rows).to_have_count(5)
        asks = rows.filter(has_text="Bold Bob")
        asks.get_by_role("button", name="Accept").press("Enter")
        expect(asks).to_have_count(0)
        expect(page.locator(".toast", has_text="Bold Bob")).to_have_count(0)
        self.assertEqual(self.faults, [])

    def test_the_focus_goes_on_when_the_row_that_has_it_goes_away(self):
        page = self.live(0, "fixture&host&requests")
        page.get_by_role("tab", name="Manage").click()
        rows = page.locator(".requests li")
        expect(rows).to_have_count(5)
        self.assertTrue(rows.first.get_by_role("button", name="Decline").is_visible())
        rows.first.get_by_role("button", name="Decline").press("Enter")
        expect(rows).to_have_count(4)
        # The row that has come up in its place, at the same answer.
        expect(rows.first.get_by_role("button").last).to_be_focused()
        # The next stop of the keyboard is in the panel, and not at the top of the page.
        page.keyboard.press("Tab")
        self.assertTrue(page.evaluate("() => document.activeElement.closest('.manage') !== null"))
        # Without any request left, the part of the panel goes away.
        page.evaluate("""() => {
            const { requests } = livePlazaPage.shell.page.manage.coHost;
            document.querySelector('.requests li button').focus();
            for (const request of [...requests.requests.byKey.values()]) requests.requests.end(request);
        }""")
        expect(rows).to_have_count(0)
        expect(page.locator(".manage")).to_be_focused()
        self.assertEqual(self.faults, [])

    def test_a_category_keeps_the_focus_however_it_is_chosen(self):
        page = self.page("#/", viewport=SIZES["desktop"])
        music = page.get_by_role("tab", name="Music")
        music.focus()
        page.keyboard.press("Enter")
        expect(music).to_have_attribute("aria-selected", "true")
        expect(music).to_be_focused()
        games = page.get_by_role("tab", name="Games")
        games.click()
        expect(games).to_be_focused()
        tabs = page.get_by_role("tab")
        for key, index in (("End", -1), ("ArrowRight", 0), ("ArrowLeft", -1), ("Home", 0), ("ArrowRight", 1)):
            page.keyboard.press(key)
            expect(tabs.nth(index)).to_be_focused()
            expect(tabs.nth(index)).to_have_attribute("aria-selected", "true")
        games.click()
        page.get_by_role("button", name="Language").click()
        expect(page.get_by_role("tab", name="游戏")).to_have_attribute("aria-selected", "true")
        self.assertEqual(self.faults, [])

    def test_a_panel_over_the_stage_of_a_phone_has_the_focus_until_escape_closes_it(self):
        page = self.live(size="phone")
        people = page.get_by_role("button", name="Audience")
        people.press("Enter")
        expect(page.locator(".side.open .people .person").first).to_be_visible()
        expect(page.get_by_role("tab", name="Audience")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        # Escape closes what is in front.
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".side.open")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(".side.open")).to_have_count(0)
        expect(people).to_be_focused()
        people.press("Enter")
        page.get_by_role("tab", name="Chat").press("Enter")
        expect(page.locator(".side.open")).to_have_count(0)
        expect(people).to_be_focused()
        self.assertEqual(self.faults, [])

    def test_the_keyboard_gets_past_a_fast_chat(self):
        page = self.live(3, "fixture&rate=40")
        page.locator(".chat-view").focus()
        page.keyboard.press("Tab")
        expect(page.get_by_label("Say something")).to_be_focused()
        self.assertEqual(self.faults, [])

    def test_a_fast_chat_is_read_out_in_parts_that_one_can_follow(self):
        page = self.live(3, "fixture&rate=40")
        said = page.evaluate("""() => new Promise((done) => {
            let count = 0;
            const log = document.querySelector('.chat > [aria-live=polite]');
            new MutationObserver((changes) => { for (const { addedNodes } of changes) count += addedNodes.length; }).observe(log, { childList: true });
            setTimeout(() => done(count), 10000);
        })""")
        self.assertTrue(4 <= said <= 10, said)
        self.assertEqual(self.faults, [])


if __name__ == "__main__":
    unittest.main()
