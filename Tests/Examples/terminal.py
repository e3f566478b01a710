# SPDX-License-Identifier: Apache-2.0
"""Runs a program in a pseudo-terminal, and reads the screen that a user would see."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte


class Terminal:
    """Starts a program; `close` ends it."""

    def __init__(self, command, columns=80, rows=24):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.output = b""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color"})
        self.resize(columns, rows)

    def resize(self, columns, rows):
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def press(self, keys):
        os.write(self.file, keys.encode())

    def enter(self, line):
        self.press(line + "\r")

    def read(self, seconds):
        """Reads what the program writes, for a time.

        Returns False once the program has closed the terminal.
        """
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self.file], [], [], left)[0]:
                break
            try:
                data = os.read(self.file, 65536)
            except OSError:
                data = b""
            if not data:
                return False
            self.output += data
            self.stream.feed(data)
        return True

    def wait(self, *texts, seconds=20):
        """Waits until all texts are on the screen."""
        deadline = time.monotonic() + seconds
        while any(text not in self.text for text in texts):
            if time.monotonic() > deadline or not self.read(0.1):
                missing = [text for text in texts if text not in self.text]
                raise AssertionError(f"not on the screen: {missing}\n{self.text}")
        return self

    def exit(self, keys, seconds=10):
        """Presses keys that end the program, and returns its exit status."""
        self.press(keys)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.read(0.1):
                time.sleep(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"the program still runs\n{self.text}")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None
        os.close(self.file)
