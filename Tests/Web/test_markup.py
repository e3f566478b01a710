# SPDX-License-Identifier: Apache-2.0
"""Whatever people write is shown as text, wherever it is shown. On sample data whose every text is hostile."""

import time
import unittest

from playwright.sync_api import expect

import static_server
from fixture_case import SIZES, TELL, FixtureCase

BAD = "<img src=x onerror=alert(1)><b>x</b>"
LINK = "javascript:alert(1)"
# What is replaced in the sample data; each stands there once.
CHANGES = {
    "userName, avatarURL: '' }": f"userName: '{BAD}' + userName, avatarURL: '{LINK}' }}",
    "({ giftID, name, coins, level, desc: '', iconURL: ''": f"({{ giftID, name: '{BAD}' + name, coins, level, desc: '', iconURL: '{LINK}'",
    "liveName: titles[number % titles.length], notice: 'Be kind.": f"liveName: '{BAD}' + titles[number % "
                                                                   f"titles.length], notice: '{BAD}Be kind.",
    "coverURL: '', backgroundURL: ''": f"coverURL: '{LINK}', backgroundURL: '{LINK}'",
    "'product-name': 'Stoneware cup, ash glaze', 'product-price': '€ 24'":
        f"'product-name': '{BAD}cup', 'product-price': '{BAD}24', 'product-cover': '{LINK}', 'product-url': '{LINK}'",
    "export const texts = [": f"export const texts = ['{BAD}', ",
}


class Markup(FixtureCase):
    def hostile(self, place, query="fixture"):
        self.dialogs = []
        text = (static_server.ROOT / "pages/session/fixture-lives.js").read_text()
        for old, new in CHANGES.items():
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)

        def prepare(page):
            page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
            page.route("**/session/fixture-lives.js",
                       lambda route: route.fulfill(body=text, content_type="text/javascript"))

        return self.page(place, query, prepare, viewport=SIZES["desktop"])

    def check(self, page, *shown):
        """Each of these has the hostile text in it, and nothing in the document has become an element or a link."""
        for element in shown:
            expect(element).to_contain_text(BAD)
        self.assertEqual(page.locator("b, img, [src^='javascript:'], [href^='javascript:']").count(), 0)
        self.assertEqual((self.dialogs, self.faults), ([], []))

    def test_on_the_plaza_and_in_a_product(self):
        page = self.hostile("#/")
        self.check(page, page.locator(".card-title").first, page.locator(".card-host").first)
        page.evaluate("() => { location.hash = '#/live/sample-2'; }")
        expect(page.locator(".product strong")).to_be_visible()
        # The first row of the chat, which is an element only while it is in view.
        page.locator(".chat-view").evaluate("(view) => { view.scrollTop = 0; }")
        self.check(page, page.locator(".product strong"), page.locator(".product-price"),
                   page.locator(".live-title h1"),
                   page.locator(".live-title p"), page.locator(".chat-row.welcome"))
        # A product's page is a page; anything else is no link.
        expect(page.locator(".product a")).to_have_count(0)

    def test_in_gifts_persons_and_messages_over_the_page(self):
        page = self.hostile("#/live/sample-3")
        page.get_by_role("button", name="Send a gift").click()
        self.check(page, page.get_by_role("radio").first)
        page.get_by_role("button", name="Send", exact=True).last.click()
        self.check(page, page.locator(".chat-row.gift").last, page.locator(".gift-row").first)
        # Not the row of the gift: that is the window's own user, whose name is its own.
        page.locator(".chat-row .name-button", has_text=BAD).last.click()
        self.check(page, page.locator("dialog h2"))
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Audience").click()
        self.check(page, page.locator(".people .person").last)
        user = {"userID": "u", "userName": BAD, "avatarURL": LINK}
        page.evaluate(TELL,
                      ["coGuest", "onHostInvitationReceived",
                       {"hostUser": user, "expiresAt": time.time() + 60, "seatIndex": -1, "extraInfo": BAD}])
        self.check(page, page.locator(".toast").last)

    def test_in_the_names_of_hosts_applicants_and_battles(self):
        page = self.hostile("#/live/sample-0", "fixture&host")
        page.get_by_role("tab", name="Manage").click()
        page.get_by_role("button", name="Lives to connect with").click()
        host = {"userID": "u", "userName": BAD, "avatarURL": LINK, "liveID": "sample-9"}
        page.evaluate(TELL,
                      ["coHost", "onCoHostRequestReceived",
                       {"inviter": host, "expiresAt": time.time() + 60, "extensionInfo": BAD}])
        self.check(page, page.locator(".plate-name").first, page.locator(".plate-name").last,
                   page.locator(".manage .person-name").first, page.locator("[data-live] .person-name").first,
                   page.locator(".connection .person-name").first, page.locator(".toast").last)
        page.evaluate(TELL,
                      ["battle", "onBattleRequestReceived",
                       {"battleID": "b", "inviter": host, "expiresAt": time.time() + 60}])
        self.check(page, page.locator(".toast", has_text="challenges you").last)
        self.assertIn(BAD, page.locator(".battle-track").get_attribute("aria-label"))
        # The result of a battle names its winner.
        page = self.hostile("#/live/sample-3")
        page.evaluate("""async () => {
            const { view } = livePlazaPage.shell.page.stage;
            view.plaza = { serverTime: Date.now() };
            const sides = [['a', 2], ['b', 1]].map(([userID, score]) => ({ user: { userID, userName: '<b>x</b>' + userID }, score, hasLeft: false }));
            await view.showBattle({ id: 'mine', endTime: Date.now(), isOver: false, sides });
            await view.showBattle({ id: 'mine', endTime: Date.now(), isOver: true, sides });
        }""")
        expect(page.locator(".battle-result")).to_have_text("<b>x</b>a wins")
        self.check(page)


if __name__ == "__main__":
    unittest.main()
