# SPDX-License-Identifier: Apache-2.0
"""What hosts do with people and seats: invitations, locks, mutes, admins, a long audience, battles that are asked
for."""

import re
import unittest

from playwright.sync_api import expect

from browsing import BrowserCase, TAG

# Enters a live with some users more, each with a connection of its own, and keeps them for `crowd`.
CROWD = """async ({ live, sockets, tokens }) => {
    const { LivePlaza } = await import('/src/index.js');
    globalThis.crowd = await Promise.all(tokens.map(async (token, number) => {
        const plaza = new LivePlaza({ url: sockets[number % sockets.length], token });
        await plaza.loginStore.login();
        await plaza.liveListStore.joinLive({ liveID: live });
        return plaza;
    }));
}"""

# Notes for how long the last message over the page is shown, in milliseconds.
LASTS = """() => {
    const { toasts } = livePlazaPage.shell;
    const show = toasts.show.bind(toasts);
    toasts.show = (text, options) => {
        globalThis.lasts = options?.lasts;
        return show(text, options);
    };
}"""


class Hosting(BrowserCase):
    def test_an_invited_viewer_declines_then_accepts(self):
        host = self.window("Mira Eight")
        live = host.go_live("Invitations")
        viewer = self.window("Noor Eight").enter(live)
        host.act_on("Noor Eight", "Invite to a seat")
        expect(host.toast("is invited")).to_be_visible()
        invitation = viewer.toast(f"Mira Eight {TAG} invites you to the stage")
        invitation.get_by_role("button", name="Decline").click()
        expect(host.toast("declined the invitation")).to_be_visible()
        expect(host.page.locator(".plate-name", has_text="Noor Eight")).to_have_count(0)
        viewer.page.evaluate(LASTS)
        host.act_on("Noor Eight", "Invite to a seat")
        expect(invitation).to_be_visible()
        # The question stays for as long as the invitation, which is half a minute.
        lasts = viewer.page.evaluate("() => lasts")
        self.assertTrue(20_000 < lasts <= 30_000, lasts)
        invitation.get_by_role("button", name="Accept").click()
        expect(host.toast("accepted the invitation")).to_be_visible()
        for window in (host, viewer):
            expect(window.page.locator(".plate-name", has_text="Noor Eight")).to_be_visible()
        expect(viewer.page.get_by_role("button", name="Leave the seat")).to_be_visible()

    def test_a_locked_seat_is_taken_by_nobody_until_it_is_unlocked(self):
        host = self.window("Mira Nine")
        live = host.go_live("Locks", Stage="Voice, rows of four", Seats="Free for everybody")
        viewer = self.window("Noor Nine").enter(live)
        host.page.get_by_role("button", name="Free seat 4").click()
        host.page.get_by_role("button", name="Lock seat 4", exact=True).click()
        locked = viewer.page.get_by_role("button", name="Seat 4 is locked")
        locked.click()
        expect(viewer.toast("Seat 4 is locked")).to_be_visible()
        expect(viewer.page.get_by_role("button", name="Leave the seat")).to_have_count(0)
        host.page.get_by_role("button", name="Seat 4 is locked").click()
        host.page.get_by_role("button", name="Unlock seat 4", exact=True).click()
        viewer.page.get_by_role("button", name="Free seat 4").click()
        expect(viewer.page.get_by_role("button", name="Leave the seat")).to_be_visible()
        for window in (host, viewer):
            expect(window.page.locator(".plate-name", has_text="Noor Nine")).to_be_visible()
        # A voice live has no cameras.
        expect(viewer.page.get_by_role("button", name=re.compile("microphone"))).to_be_visible()
        expect(viewer.page.get_by_role("button", name=re.compile("camera"))).to_have_count(0)

    def test_a_host_locks_any_seat_also_where_an_empty_one_is_not_on_the_stage(self):
        host = self.window("Mira Sixteen")
        live = host.go_live("All locks", Seats="Free for everybody")
        viewer = self.window("Noor Sixteen").enter(live)
        host.page.get_by_role("tab", name="Manage").click()
        seats = host.page.locator(".manage .seats li")
        expect(seats).to_have_count(9)
        # The owner's seat has no lock.
        expect(seats.first.get_by_role("button")).to_have_count(0)
        for number in range(2, 9):
            lock = host.page.get_by_role("button", name=f"Lock seat {number}", exact=True)
            lock.press("Enter")
            unlock = host.page.get_by_role("button", name=f"Unlock seat {number}", exact=True)
            expect(unlock).to_be_focused()
        viewer.page.get_by_role("button", name="Take a seat").click()
        expect(seats.nth(8)).to_contain_text("Seat 9: Noor Sixteen")
        host.page.get_by_role("button", name="Unlock seat 2", exact=True).click()
        expect(seats.nth(1)).to_contain_text("Free seat 2")
        # A lock takes off the seat who sits there, and its button says so.
        lock = host.page.get_by_role("button", name=f"Take off and lock: Noor Sixteen {TAG}, seat 9")
        expect(lock).to_have_text("Take off and lock")
        lock.click()
        expect(seats.nth(8)).to_contain_text("Seat 9 is locked")
        expect(viewer.page.get_by_role("button", name="Take a seat")).to_be_visible()

    def test_a_guest_who_loads_the_page_again_is_told_that_the_seat_is_left(self):
        host = self.window("Mira Twenty")
        live = host.go_live("Loaded again", Seats="Free for everybody")
        guest = self.window("Noor Twenty").enter(live)
        guest.page.get_by_role("button", name="Take a seat").click()
        seat = host.page.locator(".plate-name", has_text="Noor Twenty")
        expect(seat).to_be_visible()
        guest.page.reload()
        told = guest.toast("You left your seat when the page was loaded again")
        expect(told).to_be_visible()
        expect(seat).to_have_count(0)
        # It is said once, and to no one who did not sit.
        guest.page.reload()
        expect(guest.page.get_by_role("button", name="Take a seat")).to_be_visible()
        expect(told).to_have_count(0)
        host.page.reload()
        expect(host.page.get_by_label("Say something")).to_be_visible()
        expect(host.toast("You left your seat")).to_have_count(0)

    def test_gifts_that_are_off_cannot_be_chosen_and_the_button_says_why(self):
        host = self.window("Mira Twenty-One")
        live = host.go_live("Without gifts")
        viewer = self.window("Noor Twenty-One").enter(live)
        gift = viewer.page.get_by_role("button", name="Send a gift")
        expect(gift).to_have_attribute("aria-disabled", "false")
        host.page.get_by_role("tab", name="Manage").click()
        host.page.get_by_label("Gifts are on").uncheck()
        expect(gift).to_have_attribute("aria-disabled", "true")
        expect(gift).to_have_attribute("title", "Gifts are off in this live.")
        # Playwright does not press what is disabled; a finger does.
        gift.dispatch_event("click")
        expect(viewer.toast("Gifts are off in this live.")).to_be_visible()
        expect(viewer.page.locator("dialog")).to_have_count(0)
        host.page.get_by_label("Gifts are on").check()
        expect(gift).to_have_attribute("aria-disabled", "false")
        expect(gift).to_have_attribute("title", "Send a gift")

    def test_on_a_phone_the_seats_below_the_chat_are_reached(self):
        host = self.window("Mira Fifteen")
        live = host.go_live("Low seats", Stage="Fixed grid (video, 9)", Seats="Free for everybody")
        viewer = self.window("Noor Fifteen", viewport={"width": 390, "height": 844}).enter(live)
        viewer.page.get_by_role("button", name="Free seat 8").click()
        expect(host.page.locator(".plate-name", has_text="Noor Fifteen")).to_be_visible()
        expect(host.page.get_by_role("button", name="Free seat 8")).to_have_count(0)

    def test_who_is_muted_cannot_write_until_the_mute_is_lifted(self):
        host = self.window("Mira Ten")
        live = host.go_live("Mutes")
        viewer = self.window("Noor Ten").enter(live)
        field = viewer.page.locator(".composer input")
        host.act_on("Noor Ten", "Mute in the chat")
        expect(field).to_be_disabled()
        expect(field).to_have_attribute("placeholder", "You may not write now")
        host.act_on("Noor Ten", "Lift the mute")
        expect(field).to_be_enabled()
        viewer.say("heard again")
        host.wait_for_message("heard again")
        host.page.get_by_role("tab", name="Manage").click()
        host.page.get_by_label("Only hosts write").check()
        expect(field).to_be_disabled()
        expect(field).to_have_attribute("placeholder", "Only hosts may write now")
        host.page.get_by_role("tab", name="Chat").click()
        host.say("only me")
        viewer.wait_for_message("only me")
        host.page.get_by_role("tab", name="Manage").click()
        host.page.get_by_label("Only hosts write").uncheck()
        expect(field).to_be_enabled()

    def test_an_admin_answers_applications_until_the_owner_takes_it_back(self):
        host = self.window("Mira Eleven")
        live = host.go_live("Admins")
        admin = self.window("Aoi Eleven").enter(live)
        viewer = self.window("Noor Eleven").enter(live)
        manage = admin.page.get_by_role("tab", name="Manage")
        expect(manage).to_be_hidden()
        host.act_on("Aoi Eleven", "Make an admin")
        expect(manage).to_be_visible()
        expect(viewer.page.locator(".chat-row", has_text=f"Aoi Eleven {TAG} is an admin now")).to_be_visible()
        viewer.page.get_by_role("button", name="Ask for a seat").click()
        question = f"Noor Eleven {TAG} asks for a seat"
        expect(host.toast(question)).to_be_visible()
        admin.toast(question).get_by_role("button", name="Accept").click()
        expect(host.page.locator(".plate-name", has_text="Noor Eleven")).to_be_visible()
        # What another host has answered is asked no more.
        expect(host.toast(question)).to_have_count(0)
        # An admin is above viewers, but makes no admins and does nothing to the owner.
        admin.open_person("Noor Eleven")
        expect(admin.page.get_by_role("button", name="Mute in the chat")).to_be_visible()
        expect(admin.page.get_by_role("button", name="Make an admin")).to_have_count(0)
        admin.page.keyboard.press("Escape")
        admin.open_person("Mira Eleven")
        expect(admin.page.locator("dialog")).to_be_visible()
        expect(admin.page.locator("dialog [data-action]")).to_have_count(0)
        admin.page.keyboard.press("Escape")
        host.act_on("Aoi Eleven", "Admin no more")
        expect(manage).to_be_hidden()
        # The list of persons is open; a chat that is out of sight draws nothing.
        admin.page.get_by_role("tab", name="Chat").click()
        expect(admin.page.locator(".chat-row", has_text=f"Aoi Eleven {TAG} is no admin any more")).to_have_count(1)

    def test_a_long_audience_is_listed_whole_and_follows_who_goes(self):
        host = self.window("Mira Twelve")
        live = host.go_live("A crowd")
        viewer = self.window("Noor Twelve").enter(live)
        users = [f"crowd-{TAG}-{number:02}" for number in range(29)]
        viewer.page.evaluate(CROWD, {
            "live": live, "sockets": self.cluster.sockets,
            "tokens": [self.cluster.token(user, name=f"Guest {user}") for user in users]})
        host.page.get_by_role("tab", name="Audience").click()
        rows = host.page.locator(".people .person")
        # The owner, the viewer, and the crowd; rows out of view are reached by scrolling.
        expect(rows).to_have_count(31)
        rows.last.scroll_into_view_if_needed()
        expect(rows.last).to_be_in_viewport()
        expect(host.page.locator(".live-counts")).to_contain_text("30 people watching")
        # Who enters later reads the list, and does not know it by the tips.
        late = self.window("Liv Twelve").enter(live)
        late.page.get_by_role("tab", name="Audience").click()
        expect(late.page.locator(".people .person")).to_have_count(32)
        viewer.page.evaluate("() => Promise.all(crowd.map((plaza) => plaza.liveListStore.leaveLive()))")
        for window in (host, late):
            expect(window.page.locator(".people .person")).to_have_count(3)
        viewer.page.evaluate("() => Promise.all(crowd.map((plaza) => plaza.loginStore.logout()))")

    def test_a_battle_that_is_asked_for_starts_only_when_it_is_accepted(self):
        first = self.window("Mira Thirteen")
        first.go_live("Asks")
        second = self.window("Aoi Thirteen")
        other = second.go_live("Is asked")
        # Whoever has not asked does not know that there is none.
        first.page.get_by_role("tab", name="Manage").click()
        expect(first.page.get_by_text("No other live can be connected now")).to_have_count(0)
        first.connect(other)
        second.toast("wants to connect").get_by_role("button", name="Accept").click()
        expect(first.page.get_by_role("heading", name="Connected lives")).to_be_visible()
        first.page.get_by_label("Ask before it starts").check()
        start = first.page.get_by_role("button", name="Start a battle")
        start.click()
        question = second.toast(f"Mira Thirteen {TAG} challenges you to a battle")
        question.get_by_role("button", name="Decline").click()
        expect(first.toast(f"Aoi Thirteen {TAG} declined the battle")).to_be_visible()
        for window in (first, second):
            expect(window.page.locator(".battle-track")).to_be_hidden()
        start.click()
        question.get_by_role("button", name="Accept").click()
        for window in (first, second):
            expect(window.page.locator(".battle-track")).to_be_visible()
        # Who has left has no battle to leave, and may begin another one.
        leave = first.page.get_by_role("button", name="Leave the battle")
        expect(start).to_be_hidden()
        leave.click()
        expect(leave).to_be_hidden()
        expect(start).to_be_visible()

    def test_who_goes_live_again_with_another_stage_is_told_that_the_old_one_stays(self):
        host = self.window("Mira Seventeen")
        host.go_live("Same title")
        host.page.get_by_role("link", name="Go live").click()
        host.page.get_by_label("Stage", exact=True).select_option(label="Fixed grid (video, 9)")
        host.page.get_by_role("button", name="Start the live").click()
        expect(host.toast("Your live is still running")).to_be_visible()
        # Nothing is said where nothing was to change.
        host.page.get_by_role("link", name="Go live").click()
        expect(host.toast("Your live is still running")).to_have_count(0, timeout=20_000)
        host.page.get_by_role("button", name="Start the live").click()
        expect(host.page.get_by_role("heading", name="Same title", exact=True)).to_be_visible()
        expect(host.toast("Your live is still running")).to_have_count(0)

    def test_a_picture_that_the_page_would_not_show_is_refused_and_those_of_the_server_are_offered(self):
        host = self.window("Mira Eighteen")
        host.page.get_by_role("link", name="Go live").click()
        cover = host.page.get_by_label("Cover", exact=True)
        expect(host.page.locator("#host-cover-hint")).to_contain_text(self.cluster.url.rstrip("/"))
        cover.fill("https://elsewhere.example/cover.png")
        self.assertIn("This server shows pictures from", cover.evaluate("(input) => input.validationMessage"))
        offered = host.page.locator("#host-covers option").evaluate_all("(options) => options.map(({ value }) => "
                                                                        "value)")
        self.assertEqual(len(offered), 5)
        cover.fill(offered[0])
        self.assertEqual(cover.evaluate("(input) => input.validationMessage"), "")
        expect(host.page.locator(".host-preview img")).to_have_attribute("src", offered[0])
        link = host.page.get_by_label("Page of the product")
        for address, said in (("http://shop.example/cup", "begins with https://"), ("cup", "begins with https://"),
                              ("https://shop.example/cup", "")):
            link.fill(address)
            message = link.evaluate("(input) => input.validationMessage")
            self.assertTrue(said in message if said else not message, message)

    def test_who_goes_live_again_is_told_that_the_live_runs_as_it_was(self):
        host = self.window("Mira Fourteen")
        live = host.go_live("Runs on")
        host.page.get_by_role("link", name="Go live").click()
        host.page.get_by_label("Title", exact=True).fill("Begins anew")
        host.page.get_by_role("button", name="Start the live").click()
        expect(host.toast("Your live is still running")).to_be_visible()
        expect(host.page.get_by_role("heading", name="Runs on", exact=True)).to_be_visible()
        self.assertTrue(host.page.url.endswith(live))


if __name__ == "__main__":
    unittest.main()
