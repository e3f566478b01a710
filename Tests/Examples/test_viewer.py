# SPDX-License-Identifier: Apache-2.0
"""Uses the terminal viewer as people do, in pseudo-terminals on a local cluster."""

import os
import pathlib
import sys
import termios
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Web"))

from terminal import Terminal
from web_cluster import Cluster, programs


def viewer():
    return os.environ.get("LIVEPLAZA_VIEWER") or str(programs() / "TerminalViewer")


class Viewer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(gateways=1)
        cls.addClassCleanup(cls.cluster.stop)

    def start(self, name, columns=80, rows=24, live=None):
        command = [viewer(), "--name", name, "--server", self.cluster.url] + (["--live", live] if live else [])
        terminal = Terminal(command, columns, rows)
        self.addCleanup(terminal.close)
        return terminal.wait(name)

    def go_live(self, name, title):
        host = self.start(name)
        host.press("g")
        host.wait("The name of your live:").enter(title)
        return host.wait("You are live", f"1 {name} ★")

    def test_a_live_evening(self):
        alice = self.go_live("alice", "夜のライブ")
        bob = self.start("bob", columns=120, rows=40)
        # The viewer reads the list again by itself.
        bob.wait("夜のライブ").press("\r")
        bob.wait("1 watching")
        alice.wait("bob has come in")

        bob.enter("你好 hello")
        # The message is in the chat, and flies over the lanes, which begin in the row below the title.
        alice.wait("bob: 你好 hello")
        bob.wait("bob: 你好 hello").read(1.5)
        rows = [line for line in bob.screen.display[1:6] if "hello" in line]
        self.assertEqual(len(rows), 1, bob.text)
        # Alice's terminal is narrower: there the message has left the lanes, and no part of it remains.
        alice.read(6)
        self.assertFalse("".join(alice.screen.display[1:4]).strip(), alice.text)

        alice.enter("/invite bob")
        bob.wait("alice offers you a seat").enter("/accept")
        alice.wait("bob takes the seat", "2 bob")
        bob.enter("/mic on")
        alice.wait("mic on")

        carol = self.go_live("carol", "carol sings")
        for _ in range(10):
            alice.enter("/hosts")
            alice.read(1)
            if "live-carol" in alice.text:
                break
        alice.enter("/connect live-carol")
        carol.wait("alice would like to connect").enter("/accept")
        alice.wait("carol accepts the connection", "1 carol ★")
        alice.enter("/battle 60")
        carol.wait("alice challenges you").enter("/accept")
        for terminal in (alice, bob, carol):
            terminal.wait("alice 0", "carol 0", "█", "░")
        battle = self.cluster.call("battle.get", {"live": "live-alice"})["battleInfo"]["details"]["id"]
        scores = [{"live": "live-alice", "score": 300}, {"live": "live-carol", "score": 100}]
        self.cluster.call("battle.score", {"battle": battle, "scores": scores})
        for terminal in (alice, bob, carol):
            terminal.wait("alice 300", "carol 100")
        bar = next(line for line in alice.screen.display if line.startswith("█"))
        self.assertGreater(bar.count("█"), bar.count("░"))

        alice.resize(120, 40)
        alice.wait("alice 300")
        alice.resize(40, 12)
        alice.wait("alice 300").enter("/end")
        alice.wait("Your live had 1 viewers and 1 messages.")
        bob.wait("The live has ended.")

    def test_the_terminal_is_restored(self):
        terminal = self.start("dora")
        terminal.wait("q quit")
        self.assertFalse(termios.tcgetattr(terminal.file)[3] & termios.ECHO)
        self.assertEqual(terminal.exit("\x03"), 0)
        for sequence in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?7h"):
            self.assertIn(sequence, terminal.output)
        self.assertTrue(termios.tcgetattr(terminal.file)[3] & termios.ECHO)


if __name__ == "__main__":
    unittest.main()
