# SPDX-License-Identifier: Apache-2.0
"""Dialogs over a page, and the messages over them: what is said can be read and pressed, and a dialog ends with its
page. On sample data, without a cluster."""

import unittest

from playwright.sync_api import expect

from accessibility import problems
from fixture_case import SIZES, TELL, FixtureCase

# Notes the gifts that are sent, and answers them when it is told to.
SENDING = """() => {
    const { gift } = livePlazaPage.shell.page.stores;
    window.sent = [];
    gift.sendGift = (order) => new Promise((resolve, reject) => sent.push({ order, resolve, reject }));
}"""
REFUSE = "() => sent.at(-1).reject(Object.assign(new Error(), { codeName: 'giftCheckFailed' }))"
# Tells the page that the user was put out, or that the live has ended, as the server would.
END = """([type, detail]) => {
    const { list, liveID } = livePlazaPage.shell.page;
    list.dispatchEvent(Object.assign(new Event(type), { detail: { liveID, ...detail } }));
}"""
INVITE = {"hostUser": {"userID": "aoi", "userName": "Aoi", "avatarURL": ""}, "seatIndex": -1, "extraInfo": ""}


class Dialogs(FixtureCase):
    def live(self, number=3, query="fixture", size="desktop"):
        return self.page(f"#/live/sample-{number}", query, viewport=SIZES[size], reduced_motion="reduce")

    def gifts(self, page):
        page.get_by_role("button", name="Send a gift").click()
        expect(page.get_by_role("radio", name="Paper boat")).to_be_visible()
        return page.get_by_role("dialog")

    def test_a_gift_is_sent_once_by_a_double_click_and_by_a_key_that_is_held(self):
        page = self.live()
        page.evaluate(SENDING)
        dialog = self.gifts(page)
        send = dialog.get_by_role("button", name="Send", exact=True)
        send.dblclick()
        self.assertEqual(page.evaluate("() => sent.length"), 1)
        page.evaluate("() => sent[0].resolve()")
        expect(dialog).to_have_count(0)
        dialog = self.gifts(page)
        send.focus()
        for _ in range(5):
            # Without an up between, as the keyboard repeats.
            page.keyboard.down("Enter")
        page.keyboard.up("Enter")
        self.assertEqual(page.evaluate("() => sent.length"), 2)
        page.evaluate(REFUSE)
        expect(page.locator(".toast", has_text="the gift was refused")).to_be_visible()
        expect(send).to_be_focused()
        send.click()
        self.assertEqual(page.evaluate("() => sent.length"), 3)
        self.assertEqual(self.faults, [])

    def test_a_message_over_a_dialog_is_read_and_pressed(self):
        for size in SIZES:
            with self.subTest(size=size):
                page = self.live(size=size)
                page.evaluate(SENDING)
                dialog = self.gifts(page)
                dialog.get_by_role("button", name="Send", exact=True).click()
                page.evaluate(REFUSE)
                toast = page.locator(".toast", has_text="the gift was refused")
                expect(toast).to_be_visible()
                # What is inert is read by nobody; what lies under something is seen by nobody.
                self.assertTrue(page.evaluate("""() => {
                    const toast = document.querySelector('.toast');
                    const { x, y, width, height } = toast.getBoundingClientRect();
                    return toast.closest('dialog[open] [aria-live], dialog[open] [role=status]') !== null
                        && toast.contains(document.elementFromPoint(x + width / 2, y + height / 2));
                }"""))
                self.assertEqual(problems(page), [])
                page.evaluate("() => { livePlazaPage.shell.page.stores.coGuest.acceptInvitation = async ({ inviterID }) => { window.accepted = inviterID; }; }")
                page.evaluate(TELL,
                              ["coGuest", "onHostInvitationReceived",
                               {**INVITE, "expiresAt": page.evaluate("() => Date.now() / 1000") + 60}])
                page.locator(".toast", has_text="Aoi invites you").get_by_role("button", name="Accept", exact=True).click()
                self.assertEqual(page.evaluate("() => accepted"), "aoi")
                expect(dialog).to_be_visible()
                page.keyboard.press("Escape")
                expect(dialog).to_have_count(0)
                # Afterwards messages are over the page again.
                page.evaluate("() => livePlazaPage.shell.say('over the page')")
                expect(page.locator("body > .toasts .toast", has_text="over the page")).to_be_visible()
                self.assertEqual(self.faults, [])

    def test_a_dialog_ends_with_its_live(self):
        page = self.live()
        dialog = self.gifts(page)
        page.evaluate(END, ["onLiveEnded", {"reason": "endedByHost"}])
        expect(dialog).to_have_count(0)
        heading = page.get_by_role("heading", name="The live has ended")
        expect(heading).to_be_visible()
        expect(heading).to_be_focused()
        page.get_by_role("link", name="Back to the plaza").last.click()
        expect(page.get_by_role("heading", name="Lives", exact=True)).to_be_visible()
        self.assertEqual(self.faults, [])

    def test_a_dialog_ends_with_its_page(self):
        page = self.page("#/", viewport=SIZES["desktop"])
        opened = {
            "gifts": lambda: page.get_by_role("button", name="Send a gift").click(),
            "connection": lambda: page.get_by_role("button", name="Connection").click(),
            "person": lambda: page.locator(".chat-row .name-button").last.click(),
            "account": lambda: page.get_by_role("button", name="Your account").click(),
        }
        for name, action in opened.items():
            with self.subTest(name):
                page.evaluate("() => { location.hash = '#/live/sample-3'; }")
                expect(page.locator(".chat-row .name-button").last).to_be_visible()
                action()
                expect(page.get_by_role("dialog")).to_be_visible()
                page.go_back()
                expect(page.get_by_role("dialog")).to_have_count(0)
                expect(page.get_by_role("link", name="Go live")).to_be_visible()
                page.get_by_role("tab", name="Music").click()
                page.get_by_role("tab", name="All").click()
        # A session that ends leaves no dialog over the form to sign in either.
        page.evaluate("() => { location.hash = '#/live/sample-3'; }")
        self.gifts(page)
        page.evaluate("() => livePlazaPage.session.login.logout()")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_label("Your name").fill("Somebody")
        self.assertEqual(self.faults, [])

    def test_gifts_that_could_not_be_read_are_read_again(self):
        page = self.live()
        page.evaluate("""() => {
            const { plaza } = livePlazaPage.session;
            const call = plaza.call.bind(plaza);
            window.fails = true;
            const { gift } = livePlazaPage.shell.page.stores;
            const read = gift.refreshUsableGifts.bind(gift);
            gift.refreshUsableGifts = async () => {
                if (window.fails) throw Object.assign(new Error(), { codeName: 'timedOut' });
                return read();
            };
        }""")
        page.get_by_role("button", name="Send a gift").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("alert")).to_contain_text("The gifts could not be loaded: there was no answer "
                                                            "in time")
        again = dialog.get_by_role("button", name="Try again")
        again.press("Enter")
        expect(again).to_be_focused()
        page.evaluate("() => { window.fails = false; }")
        again.press("Enter")
        expect(dialog.get_by_role("radio", name="Rose")).to_be_focused()
        self.assertEqual(self.faults, [])

    def test_who_lost_the_place_by_the_network_is_told_so_and_enters_again(self):
        page = self.live()
        page.evaluate(END, ["onKickedOutOfLive", {"reason": "forNetworkDisconnected", "message": ""}])
        expect(page.get_by_role("heading", name="You are not in the live any more.")).to_be_focused()
        expect(page.get_by_text("You were put out")).to_have_count(0)
        self.assertEqual(problems(page), [])
        page.get_by_role("button", name="Enter again").click()
        expect(page.get_by_label("Say something")).to_be_visible()
        self.assertEqual(self.faults, [])

    def test_a_page_that_cannot_be_loaded_says_so_in_its_place_and_is_tried_again(self):
        page = self.live()
        page.route("**/pages/plaza/plaza-page.js*", lambda route: route.abort())
        page.get_by_role("link", name="Back to the plaza").first.click()
        expect(page.get_by_role("alert")).to_contain_text("the connection is lost")
        expect(page.get_by_label("Say something")).to_have_count(0)
        page.unroute("**/pages/plaza/plaza-page.js*")
        # Chromium may remember a module that it could not load: the button loads the window again.
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Lives", exact=True)).to_be_visible()


if __name__ == "__main__":
    unittest.main()
