// SPDX-License-Identifier: Apache-2.0
import Foundation
import ViewerScreens

/// The terminal: its size, its input and its output.
///
/// The viewer changes the terminal's settings. `exit`, signals and crashes restore them. After SIGKILL they are not
/// restored; then the command `reset` helps.
@MainActor
final class Terminal {
    /// Switches to the alternate screen, turns bracketed paste on and the wrapping of lines off, and clears the screen.
    private static let enterSequence = "\u{1B}[?1049h\u{1B}[?2004h\u{1B}[?7l\u{1B}[2J"
    /// Undoes `enterSequence`; also ends a drawing that was interrupted, and shows the cursor.
    private static let leaveSequence = "\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"

    /// - Throws: `TerminalError` if standard input or output is no terminal.
    init() throws {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw TerminalError(text: "run me in a terminal: standard input or output is none")
        }
        guard unsafe TerminalRestore.prepare(Array(Self.leaveSequence.utf8)) else {
            throw TerminalError(text: "the terminal does not tell its settings")
        }
        self.takeOver()
    }

    /// The size in cells; 80 by 24 if the terminal does not report it.
    var size: Size {
        var window = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
        guard isKnown, window.ws_col > 0, window.ws_row > 0 else { return Size(columns: 80, rows: 24) }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    /// Changes the terminal's settings for the viewer, at the beginning and after a pause.
    func takeOver() {
        unsafe TerminalRestore.setRaw()
        self.write(Array(Self.enterSequence.utf8))
    }

    /// Restores the terminal and stops the process, until the shell continues it.
    func pause() {
        unsafe TerminalRestore.restore()
        kill(getpid(), SIGSTOP)
    }

    /// Writes all bytes, unless the terminal is gone.
    func write(_ bytes: [UInt8]) {
        var remaining = bytes[...]
        while !remaining.isEmpty {
            let count = unsafe remaining.withUnsafeBytes {
                unsafe Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count > 0 { remaining = remaining.dropFirst(count) } else if errno != EINTR && errno != EAGAIN { return }
        }
    }

    /// Reads the bytes of the keys that were pressed; empty if there are none now.
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

/// Restores the terminal.
///
/// All memory is allocated before any signal, because a signal handler must not allocate memory.
@unsafe
private enum TerminalRestore {
    /// The settings before the viewer began.
    private nonisolated(unsafe) static let originalSettings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    /// The bytes of `Terminal.leaveSequence`.
    private nonisolated(unsafe) static var leaveSequence = unsafe UnsafeMutableBufferPointer<UInt8>(
        start: nil, count: 0)
    /// The signals that end the process by default and that the app handles only here.
    private static let crashSignals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT]

    /// Stores the settings, and makes `exit` and crashes restore them.
    ///
    /// - Returns: false if the settings cannot be read.
    static func prepare(_ leaveSequence: [UInt8]) -> Bool {
        unsafe self.leaveSequence = UnsafeMutableBufferPointer.allocate(capacity: leaveSequence.count)
        _ = unsafe self.leaveSequence.initialize(from: leaveSequence)
        unsafe self.originalSettings.initialize(to: termios())
        guard unsafe tcgetattr(STDIN_FILENO, self.originalSettings) == 0 else { return false }
        atexit { unsafe TerminalRestore.restore() }
        for number in unsafe self.crashSignals {
            signal(number) { number in
                unsafe TerminalRestore.restore()
                // The default action ends the process as it would have ended without the handler.
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        return true
    }

    /// Turns off echo and line editing, and makes keys such as Ctrl-C arrive as bytes.
    static func setRaw() {
        var raw = unsafe self.originalSettings.pointee
        unsafe cfmakeraw(&raw)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    }

    /// Restores the settings and the first screen; a signal handler may call it.
    static func restore() {
        _ = unsafe write(STDOUT_FILENO, self.leaveSequence.baseAddress, self.leaveSequence.count)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, self.originalSettings)
    }
}
