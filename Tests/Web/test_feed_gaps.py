# SPDX-License-Identifier: Apache-2.0
"""A page whose connection loses what was sent, or that returns to a place that the server cannot replay from."""

import json
import unittest

from playwright.sync_api import expect

from browsing import BrowserCase, TAG


class Network:
    """What lies between a page and the gateways: drops frames, cuts connections, and changes the place of a resume."""

    def __init__(self, window):
        self.dropped = []
        self.drops = lambda frame: False
        self.forgets_place = False
        self.routes = []
        window.page.route_web_socket("**/*", self._connect)

    def _connect(self, route):
        server = route.connect_to_server()
        self.routes.append(route)
        route.on_message(lambda text: server.send(self._sent(text)))
        server.on_message(lambda text: self._received(route, text))

    def _sent(self, text):
        call = json.loads(text)
        resume = call.get("params", {}).get("resume")
        if not self.forgets_place or not resume:
            return text
        # A place of an earlier epoch.
        resume["position"]["epoch"] -= 1
        epoch, *rest = resume["token"].split(".")
        resume["token"] = ".".join([str(int(epoch) - 1), *rest])
        return json.dumps(call)

    def _received(self, route, text):
        if self.drops(json.loads(text)):
            self.dropped.append(text)
        else:
            route.send(text)

    def cut(self):
        self.routes[-1].close(code=4000)


class FeedGaps(BrowserCase):
    def enter(self, name, title):
        host = self.window(f"Mira {name}")
        live = host.go_live(title)
        viewer = self.window()
        network = Network(viewer)
        viewer.sign_in(f"Noor {name} {TAG}").enter(live)
        return host, viewer, network

    def send(self, host, *texts):
        for text in texts:
            host.say(text)
            host.wait_for_message(text)

    def wait_for_resume(self, viewer, times):
        viewer.page.wait_for_function("(times) => livePlazaPage.session.wire.resumes >= times", arg=times)

    def test_what_was_left_out_is_said_and_the_feed_goes_on_and_is_resumed(self):
        host, viewer, network = self.enter("Fourteen", "Gaps")
        self.send(host, "one")
        viewer.wait_for_message("one")
        network.drops = lambda frame: "lost" in json.dumps(frame.get("feed", {}))
        self.send(host, "lost", "two")
        viewer.wait_for_message("two")
        self.assertEqual(len(network.dropped), 1)
        expect(viewer.page.locator(".chat-row", has_text="1 message was left out here")).to_have_count(1)
        # What came before a lost connection is not replayed; what came after it is, once.
        network.drops = lambda frame: False
        network.cut()
        self.send(host, "three")
        viewer.wait_for_message("three")
        self.wait_for_resume(viewer, 1)
        expect(viewer.toast("Connected again. Nothing is missing.")).to_be_visible()
        self.send(host, "four")
        viewer.wait_for_message("four")
        self.assertEqual(viewer.messages(), ["one", "two", "three", "four"])
        expect(viewer.page.locator(".chat-row", has_text="left out here")).to_have_count(1)
        viewer.page.get_by_role("button", name="Connection").click()
        facts = viewer.page.locator(".facts")
        expect(facts).to_contain_text("Times resumed1")
        expect(facts).to_contain_text("Messages left out1")

    def test_who_returns_to_a_place_that_cannot_be_replayed_sees_the_live_as_it_is(self):
        host, viewer, network = self.enter("Fifteen", "Too late")
        self.send(host, "before")
        viewer.wait_for_message("before")
        network.forgets_place = True
        network.cut()
        self.wait_for_resume(viewer, 1)
        expect(viewer.toast("some messages are lost")).to_be_visible()
        network.forgets_place = False
        self.send(host, "after")
        viewer.wait_for_message("after")
        self.assertEqual(viewer.messages().count("after"), 1)
        viewer.page.get_by_role("tab", name="Audience").click()
        expect(viewer.page.locator(".people .person")).to_have_count(2)


if __name__ == "__main__":
    unittest.main()
