# SPDX-License-Identifier: Apache-2.0
"""What people do with the pages, against a real cluster."""

import re
import unittest

from playwright.sync_api import expect

from accessibility import problems
from browsing import BrowserCase, TAG

PHONE = {"width": 390, "height": 844}

# The scores beside the names on the stage, from left to right.
SEAT_SCORES = """() => {
    const left = (score) => score.closest('.plate').getBoundingClientRect().left;
    return [...document.querySelectorAll('.plate-score')].sort((a, b) => left(a) - left(b)).map((score) => score.textContent);
}"""


class Lives(BrowserCase):
    def test_sign_in_browse_enter_and_chat_both_ways(self):
        host = self.window("Mira One")
        live = host.go_live(f"Evening piano {TAG}", **{"Welcome message": "Be kind"})
        viewer = self.window("Noor One")
        card = viewer.page.get_by_role("link", name=re.compile(f"Evening piano {TAG}"))
        for _ in range(6):
            if card.count():
                break
            viewer.page.wait_for_timeout(2000)
            viewer.page.reload()
            expect(viewer.page.get_by_role("heading", name="Lives")).to_be_visible()
            viewer.page.wait_for_timeout(1000)
        card.first.click()
        expect(viewer.page.get_by_text("Be kind")).to_be_visible()
        expect(host.page.locator(".chat-row", has_text=f"Noor One {TAG} came in")).to_be_visible()
        viewer.say("good evening")
        host.wait_for_message("good evening")
        host.say("welcome!")
        for window in (host, viewer):
            window.wait_for_message("welcome!")
            self.assertEqual(window.messages(), ["good evening", "welcome!"])
        self.assertTrue(viewer.page.url.endswith(f"#/live/{live}"))

    def test_a_second_window_of_one_browser_is_another_user_and_a_reload_the_same(self):
        host = self.window("Mira Nineteen")
        live = host.go_live("Two windows")
        other = host.context.new_page()
        other.goto(f"{self.cluster.url}/#/live/{live}")
        name = other.get_by_label("Your name")
        expect(name).to_have_value("")
        expect(other.get_by_text("One name is one user")).to_be_visible()
        for wrong, said in (("   ", "Write a name"), ("Noor\tNineteen", "control characters are not allowed")):
            name.fill(wrong)
            self.assertIn(said, name.evaluate("(input) => input.validationMessage"))
        name.fill(f"Noor Nineteen {TAG}")
        self.assertEqual(name.evaluate("(input) => input.validationMessage"), "")
        other.get_by_role("button", name="Sign in").click()
        expect(other.get_by_label("Say something")).to_be_visible()
        # The host is still in its live, and hears the viewer.
        other.get_by_label("Say something").fill("from the second window")
        other.keyboard.press("Enter")
        host.wait_for_message("from the second window")
        expect(host.page.locator(".chat-row", has_text=f"Noor Nineteen {TAG} came in")).to_be_visible()
        for page, user in ((host.page, "Mira Nineteen"), (other, "Noor Nineteen")):
            page.reload()
            expect(page.get_by_label("Say something")).to_be_visible()
            self.assertEqual(page.evaluate("() => livePlazaPage.session.user.userName"), f"{user} {TAG}")

    def test_a_page_that_is_closed_leaves_at_once(self):
        host = self.window("Mira Seven")
        live = host.go_live(f"Closing {TAG}")
        viewer = self.window("Noor Seven").enter(live)
        people = "() => livePlazaPage.shell.page.stores.audience.state.audienceList.map((user) => user.userName)"
        host.page.wait_for_function(f"(name) => ({people})().includes(name)", arg=f"Noor Seven {TAG}")
        viewer.page.goto("about:blank")
        # Without the farewell, the others would see the viewer until the lease ends, after 90 s.
        host.page.wait_for_function(f"(name) => !({people})().includes(name)", arg=f"Noor Seven {TAG}", timeout=10_000)

    def test_an_application_becomes_a_seat_and_a_kick_ends_the_visit(self):
        host = self.window("Mira Two")
        live = host.go_live("Seats")
        viewer = self.window("Noor Two").enter(live)
        viewer.page.get_by_role("button", name="Ask for a seat").click()
        expect(viewer.toast("Your application waits")).to_be_visible()
        host.toast(f"Noor Two {TAG} asks for a seat").get_by_role("button", name="Accept").click()
        for window in (host, viewer):
            expect(window.page.locator(".plate-name", has_text="Noor Two")).to_be_visible()
        expect(viewer.page.get_by_role("button", name="Leave the seat")).to_be_visible()
        viewer.page.get_by_role("button", name=re.compile("Turn the microphone on")).click()
        expect(viewer.page.get_by_role("button", name="Turn the microphone off")).to_be_visible()
        # The user's own level is measured; the others are told.
        user = viewer.page.evaluate("() => livePlazaPage.session.user.userID")
        for window in (host, viewer):
            window.page.wait_for_function(
                "(user) => document.querySelector(`.tile[data-user='${user}']`).style.getPropertyValue('--level') > 0.2", arg=user)
        viewer.page.get_by_role("button", name="Turn the camera on").click()
        expect(host.page.locator(".plate", has_text=re.compile("Noor Two.*camera on"))).to_have_count(1)
        viewer.page.get_by_role("button", name="Turn the camera off").click()
        expect(host.page.locator(".plate", has_text="camera on")).to_have_count(0)
        host.act_on("Noor Two", "Close the microphone")
        expect(viewer.toast("A host closed your microphone.")).to_be_visible()
        # What the host closed is heard no more.
        viewer.page.wait_for_function(
            "(user) => document.querySelector(`.tile[data-user='${user}']`).style.getPropertyValue('--level') === '0'",
            arg=user)
        host.act_on("Noor Two", "Put out of the live")
        expect(viewer.page.get_by_role("heading", name="You were put out of the live.")).to_be_visible()
        expect(host.page.locator(".plate-name", has_text="Noor Two")).to_have_count(0)

    def test_the_owner_ends_the_live_and_all_see_its_figures(self):
        host = self.window("Mira Three")
        live = host.go_live("Short one")
        viewer = self.window("Noor Three").enter(live)
        viewer.say("one message")
        host.wait_for_message("one message")
        host.page.get_by_role("tab", name="Manage").click()
        host.page.get_by_role("button", name="End the live").click()
        host.page.get_by_role("button", name="Yes, end it").click()
        for window in (host, viewer):
            expect(window.page.get_by_role("heading", name="The live has ended")).to_be_visible()
            expect(window.page.locator(".summary div", has_text="Messages").locator("dd")).to_have_text("1")
        # On a phone too, where a live is dark and its end is not.
        viewer.page.set_viewport_size(PHONE)
        self.assertEqual(problems(viewer.page), [])
        viewer.page.goto(f"{self.cluster.url}/#/live/none-{TAG}")
        expect(viewer.page.get_by_role("alert")).to_contain_text("You cannot enter this live")
        self.assertEqual(problems(viewer.page), [])

    def test_two_hosts_connect_and_battle_with_equal_scores_in_three_windows(self):
        first = self.window("Mira Four")
        live = first.go_live("Left")
        second = self.window("Aoi Four")
        other = second.go_live("Right")
        viewer = self.window()
        # This machine's clock is two hours ahead; a battle ends by the server's.
        viewer.page.add_init_script("const { now } = Date; Date.now = () => now() + 7200_000")
        viewer.sign_in(f"Noor Four {TAG}").enter(live)
        first.connect(other)
        second.toast("wants to connect").get_by_role("button", name="Accept").click()
        for window in (first, second, viewer):
            expect(window.page.locator(".plate-name", has_text="Aoi Four")).to_be_visible()
            expect(window.page.locator(".plate-name", has_text="Mira Four")).to_be_visible()
        first.page.get_by_label("Duration").select_option("30")
        first.page.get_by_role("button", name="Start a battle").click()
        for window in (first, second, viewer):
            expect(window.page.locator(".battle-track")).to_be_visible()
        battle = self.cluster.call("battle.get", {"live": live})["battleInfo"]["details"]["id"]
        self.cluster.call("battle.score",
                          {"battle": battle, "scores": [{"live": live, "score": 41}, {"live": other, "score": 59}]})
        # In each window the side of its live stands first, as its seats do.
        orders = ((first, ["41", "59"]), (second, ["59", "41"]), (viewer, ["41", "59"]))
        for window, order in orders:
            expect(window.page.locator(".battle-side")).to_have_text(order)
            self.assertEqual(window.page.evaluate(SEAT_SCORES), order)
            label = window.page.locator(".battle-track").get_attribute("aria-label")
            self.assertEqual(re.findall(r": (\d+)(?=;|$)", label), order, label)
        times = [window.page.locator(".battle-clock").inner_text() for window in (first, second, viewer)]
        seconds = [int(time.split(":")[1]) for time in times]
        self.assertLessEqual(max(seconds) - min(seconds), 2, times)
        for window, order in orders:
            expect(window.page.locator(".battle-clock")).to_have_text("Battle over", timeout=45_000)
            expect(window.page.locator(".battle-side")).to_have_text(order)

    def test_markup_and_rare_characters_are_shown_as_text(self):
        hostile = "<b>x</b>\U00020bb7\U0001f98a"
        title = f"<img src=x onerror=alert(1)>{hostile}"
        host = self.window(f"Eve {hostile}")
        live = host.go_live(title, **{
            "Welcome message": f"welcome {hostile}", "Product (shown as a card)": f"cup {hostile}",
            "Price": f"1 {hostile}", "Picture of the product": f"{self.cluster.url}/pages/covers/evening-cup.svg",
            "Page of the product": "https://shop.example/cup"})
        viewer = self.window("Noor Five").enter(live)
        expect(viewer.page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        expect(viewer.page.locator(".live-title p")).to_have_text(f"Eve {hostile} {TAG}")
        expect(viewer.page.locator(".product")).to_contain_text(f"cup {hostile}")
        expect(viewer.page.locator(".product img")).to_have_attribute("src", re.compile("evening-cup.svg$"))
        expect(viewer.page.get_by_role("link", name="See the product")).to_have_attribute("href", "https://shop.example/cup")
        viewer.page.set_viewport_size(PHONE)
        self.assertGreater(viewer.page.locator(".product strong").bounding_box()["width"], 80)
        name, card = (viewer.page.locator(place).bounding_box() for place in (".plate-row", ".product"))
        self.assertGreaterEqual(card["y"], name["y"] + name["height"], "the product covers the host's name")
        expect(viewer.page.locator(".chat-row.welcome")).to_have_text(f"welcome {hostile}")
        host.say(f"say {title}")
        expect(viewer.page.locator(".chat-row", has_text=f"say {title}")).to_be_visible()
        for window in (host, viewer):
            # Nowhere in the document: messages over the page and dialogs are not in its main part.
            self.assertEqual(window.page.locator("b, img[src*=x]").count(), 0)


if __name__ == "__main__":
    unittest.main()
