# SPDX-License-Identifier: Apache-2.0
"""A gateway is killed under six pages."""

import threading
import time
import unittest

from browsing import BrowserCase

MESSAGES = 120


class GatewayLost(BrowserCase):
    def test_no_message_is_missing_or_twice_and_no_page_is_loaded_again(self):
        host = self.window("Mira Six")
        live = host.go_live("Killed under")
        windows = [host] + [self.window(f"Viewer {number}").enter(live) for number in range(5)]
        for window in windows:
            window.page.evaluate("() => { window.marker = 'the same page'; }")
        sent = []

        def send():
            for number in range(MESSAGES):
                text = f"message {number}"
                # A repetition with the same key is not applied twice.
                for attempt in range(30):
                    try:
                        self.cluster.send_text(live, text, key=f"kill-{number}")
                        break
                    except OSError:
                        time.sleep(0.5)
                sent.append(text)
                time.sleep(0.1)

        sender = threading.Thread(target=send)
        sender.start()
        time.sleep(3)
        # The gateway that most pages are connected to is killed.
        victims = [window.page.evaluate("() => livePlazaPage.session.wire.address") for window in windows]
        number = 1 + self.cluster.sockets.index(max(set(victims), key=victims.count).rstrip("/"))
        self.cluster.kill_gateway(number)
        sender.join(120)
        self.assertEqual(len(sent), MESSAGES)
        for window in windows:
            window.wait_for_message(f"message {MESSAGES - 1}")
            texts = [text for text in window.messages() if text.startswith("message ")]
            self.assertEqual(texts, sent)
            self.assertEqual(window.page.evaluate("() => window.marker"), "the same page")
        resumes = [window.page.evaluate("() => livePlazaPage.session.wire.resumes") for window in windows]
        self.assertGreaterEqual(sum(resumes), 1, "the killed gateway had no page")


if __name__ == "__main__":
    unittest.main()
