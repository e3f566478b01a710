// SPDX-License-Identifier: Apache-2.0
import Foundation
import ViewerScreens

/// The terminal: its size, its bytes, and its state before the viewer began, which is restored at any exit.
///
/// `exit`, signals and crashes restore it. Only SIGKILL cannot: the command `reset` helps then.
@MainActor
final class Terminal {
    /// What is left behind: the second screen, bracketed paste, the cursor and the wrapping of lines.
    private static let enter = "\u{1B}[?1049h\u{1B}[?2004h\u{1B}[?7l\u{1B}[2J"
    private static let leave = "\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"

    /// - Throws: `TerminalError` if standard input or output is no terminal.
    init() throws {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw TerminalError(text: "run me in a terminal: standard input or output is none")
        }
        guard unsafe TerminalRestore.prepare(Array(Self.leave.utf8)) else {
            throw TerminalError(text: "the terminal does not tell its settings")
        }
        self.begin()
    }

    /// The size in cells; 80 by 24 if the terminal does not tell.
    var size: Size {
        var window = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
        guard isKnown, window.ws_col > 0, window.ws_row > 0 else { return Size(columns: 80, rows: 24) }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    /// Takes the terminal over, at the beginning and after a pause.
    func begin() {
        unsafe TerminalRestore.setRaw()
        self.write(Array(Self.enter.utf8))
    }

    /// Stops as Ctrl-Z does in other programs, until the shell continues this one.
    func pause() {
        unsafe TerminalRestore.restore()
        kill(getpid(), SIGSTOP)
    }

    /// Writes all bytes, unless the terminal is gone.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR && errno != EAGAIN { return }
        }
    }

    /// Reads what was typed.
    ///
    /// - Returns: nil if the terminal is gone.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe Foundation.read(STDIN_FILENO, $0.baseAddress, $0.count)
        }
        if count > 0 { return Array(bytes[..<count]) }
        return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
    }
}

/// Why the viewer cannot use the terminal.
struct TerminalError: Error {
    let text: String
}

/// Restores the terminal; its memory is made before any signal, because a handler may make none.
@unsafe
private enum TerminalRestore {
    /// The settings before the viewer began.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    private nonisolated(unsafe) static var leave = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    /// Signals that end a process which does not handle them, besides those of the app itself.
    private static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT]

    /// Remembers the settings, and restores them at an exit and at crashes.
    static func prepare(_ leave: [UInt8]) -> Bool {
        unsafe self.leave = UnsafeMutableBufferPointer.allocate(capacity: leave.count)
        _ = unsafe self.leave.initialize(from: leave)
        unsafe self.before.initialize(to: termios())
        guard unsafe tcgetattr(STDIN_FILENO, self.before) == 0 else { return false }
        atexit { unsafe TerminalRestore.restore() }
        for number in unsafe self.crashes {
            signal(number) { number in
                unsafe TerminalRestore.restore()
                // The default action ends the process as it would have ended without the handler.
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        return true
    }

    /// No echo, no line editing, and keys such as Ctrl-C as bytes.
    static func setRaw() {
        var raw = unsafe self.before.pointee
        unsafe cfmakeraw(&raw)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    }

    /// Restores the settings and the first screen; a signal handler may call it.
    static func restore() {
        _ = unsafe write(STDOUT_FILENO, self.leave.baseAddress, self.leave.count)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, self.before)
    }
}
