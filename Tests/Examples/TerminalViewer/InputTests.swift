// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ViewerScreens

/// The keys that a terminal sends as bytes.
@Suite struct KeyTests {
    /// The bytes of `keys`, as a terminal sends them.
    private static let bytesOfKeys = Array("a\u{1B}[A\u{1B}[5~é你\u{1B}OH\r\u{7F}\u{03}\u{1B}[3~".utf8)
    private static let keys: [Key] = [
        .character("a"), .up, .pageUp, .character("é"), .character("你"), .home, .enter, .backspace, .control("c"),
        .delete,
    ]

    @Test func `keys are read wherever the terminal splits their bytes`() {
        for splitIndex in 0...Self.bytesOfKeys.count {
            var parser = KeyParser()
            let first = parser.read(Self.bytesOfKeys[..<splitIndex])
            let second = parser.read(Self.bytesOfKeys[splitIndex...])
            #expect(first + second == Self.keys)
        }
    }

    @Test func `an escape byte that nothing follows is the key Escape`() {
        var parser = KeyParser()
        #expect(parser.read([0x1B]) == [])
        // The program flushes the parser when no byte has followed for a moment.
        #expect(parser.hasPendingEscape)
        #expect(parser.flush() == [.escape])
        #expect(parser.flush() == [])
    }

    @Test func `line breaks in pasted text are not the key Enter`() {
        var parser = KeyParser()
        #expect(
            parser.read(Array("\u{1B}[200~a\nb\u{1B}[201~\r".utf8)) == [
                .character("a"), .character(" "), .character("b"), .enter,
            ])
    }

    @Test func `the parser still works after random bytes`() {
        // A linear congruential generator makes the bytes from its high bits, which are random enough.
        var (parser, state) = (KeyParser(), UInt64(7))
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            _ = parser.read([UInt8(truncatingIfNeeded: state >> 33)])
        }
        // 64 letters end any sequence that the random bytes have begun.
        _ = parser.read(Array(repeating: UInt8(ascii: "z"), count: 64))
        #expect(parser.read([UInt8(ascii: "q")]) == [.character("q")])
    }
}

/// The line in which a user types.
@Suite struct InputLineTests {
    @Test func `keys edit the line, and the key Up recalls the line before`() {
        var line = InputLine()
        for character in "hello wrld" { line.press(.character(character)) }
        // The cursor moves left to the place before "rld", where the "o" is missing.
        for _ in 0..<3 { line.press(.left) }
        line.press(.character("o"))
        #expect(line.text == "hello world")
        // Ctrl-W deletes the letters of the word before the cursor, which is after "wo".
        line.press(.control("w"))
        #expect(line.text == "hello rld")
        #expect(line.takeLine() == "hello rld")
        #expect(line.isEmpty)
        line.press(.up)
        #expect(line.text == "hello rld")
        line.press(.down)
        #expect(line.isEmpty)
        let isEditingKey = line.press(.enter)
        #expect(!isEditingKey)
    }

    @Test func `the cursor is always in the visible part`() {
        var line = InputLine()
        for _ in 0..<50 { line.press(.character("你")) }
        for columns in 1...30 {
            let (text, cursor) = line.visiblePart(columns: columns)
            #expect(text.width <= columns && cursor <= columns)
        }
        line.press(.home)
        #expect(line.visiblePart(columns: 10).cursor == 0)
    }

    @Test func `a line has at most 500 characters`() {
        var line = InputLine()
        for _ in 0..<1000 { line.press(.character("x")) }
        #expect(line.text.count == 500)
    }
}

/// The commands and messages that a user types.
@Suite struct CommandTests {
    @Test func `each command of the help is accepted with its parameters, and rejected without required ones`() throws {
        for command in Command.all {
            let example = command.usage
                .replacing("[N]", with: "2").replacing("[SECONDS]", with: "30").replacing("on|off", with: "on")
                .filter { $0 != "[" && $0 != "]" }
            _ = try Command(example)
            if !command.parameters.isEmpty, !command.parameters.hasPrefix("[") {
                #expect(throws: CommandError.self) { try Command("/\(command.name)") }
            }
        }
    }

    @Test func `a line that does not begin with a slash, or begins with two, is a message`() throws {
        #expect(try Command("hello") == .sendMessage("hello"))
        #expect(try Command("//shrug") == .sendMessage("/shrug"))
    }

    @Test func `seats are counted from one`() throws {
        #expect(try Command("/seat 1") == .seat(0))
        #expect(try Command("/invite bob 3") == .invite("bob", seat: 2))
        #expect(throws: CommandError(text: "Enter /seat [N]: apply for a seat.")) { try Command("/seat 0") }
    }

    @Test func `the error about an unknown command names a similar command`() {
        let error = #expect(throws: CommandError.self) { try Command("/inv bob") }
        #expect(error?.text.contains("Did you mean /invite?") == true)
        #expect(throws: CommandError.self) { try Command("/") }
    }

    @Test func `the completions of a command's beginning are all commands that begin with it`() {
        #expect(Command.completions(of: "/inv") == ["/invite"])
        #expect(Command.completions(of: "/gift") == ["/gifts", "/gift"])
        #expect(Command.completions(of: "inv") == [])
    }
}

/// The options of the program's command line.
@Suite struct OptionsTests {
    private func readOptions(_ words: String..., environment: [String: String] = [:]) throws(OptionsError) -> Options? {
        try Options.read(words, environment: environment)
    }

    @Test func `a name signs in at the default server`() throws {
        let options = try self.readOptions("--name", "Alice")
        #expect(options?.signIn == .demo(server: "http://127.0.0.1:8081", name: "Alice"))
        #expect(options?.hasColour == true)
    }

    @Test func `a token needs a gateway, and may come from the environment`() throws {
        let options = try self.readOptions(
            "--gateway", "ws://a/v1", "--gateway", "ws://b/v1", environment: ["LIVEPLAZA_TOKEN": "t"])
        #expect(options?.signIn == .token("t", gateways: ["ws://a/v1", "ws://b/v1"]))
        #expect(throws: OptionsError.self) { try self.readOptions("--token", "t") }
    }

    @Test func `the option --help gives no options, and wrong options are rejected`() throws {
        #expect(try self.readOptions("--help") == nil)
        #expect(throws: OptionsError.self) { try self.readOptions() }
        #expect(throws: OptionsError.self) { try self.readOptions("--nmae", "x") }
        #expect(throws: OptionsError.self) { try self.readOptions("--name") }
        #expect(throws: OptionsError.self) { try self.readOptions("--name", "a", "--name", "b") }
        #expect(throws: OptionsError.self) { try self.readOptions("--name", "a", "--token", "t") }
    }

    @Test func `NO_COLOR turns colours off`() throws {
        #expect(try self.readOptions("--name", "a", environment: ["NO_COLOR": "1"])?.hasColour == false)
    }

    @Test func `a user's id is derived from the user's name, as the browser does`() {
        #expect(userID(ofName: " Alice B ") == "alice-b")
        #expect(userID(ofName: "") == "guest")
        // A character that an id may not have becomes its code point in base 36: U+00E9 is 233 = 6 * 36 + 17, and h is
        // the digit 17.
        #expect(userID(ofName: "é") == "6h")
    }
}
