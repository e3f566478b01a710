// SPDX-License-Identifier: Apache-2.0

/// A line that the user enters on the page of a live: a command, or a message to send.
package enum Command: Hashable, Sendable {
    case sendMessage(String)
    case like
    case gifts
    case gift(id: String, count: UInt)
    /// Apply for the seat with this index; nil for any free seat.
    case seat(Int?)
    /// Leave the seat.
    case stand
    /// Offer the seat with this index to the user with this id; nil for any free seat.
    case invite(String, seat: Int?)
    /// Accept the oldest request, or the request of the user with this name.
    case accept(String?)
    /// Decline the oldest request, or the request of the user with this name.
    case reject(String?)
    /// Ask the host of the live with this id to connect.
    case connect(String)
    /// List the lives that can be asked to connect.
    case hosts
    /// Leave the connection with other lives.
    case disconnect
    /// Challenge the hosts of the connected lives.
    case battle(seconds: Double)
    /// Leave the battle.
    case exitBattle
    case microphone(isOn: Bool)
    case camera(isOn: Bool)
    /// Put the user with this id out of the live.
    case kick(String)
    /// Mute the user with this id, or end the mute.
    case mute(String, isMuted: Bool)
    /// Make the user with this id an admin, or dismiss the admin.
    case admin(String, isAdmin: Bool)
    /// Leave the live for the list.
    case leave
    /// End the user's own live.
    case end
    case help
    case quit
}

/// The error for a line that is no valid command; the text tells the user what to enter.
package struct CommandError: Error, Hashable, Sendable {
    package let text: String
}

extension Command {
    /// A command as the help shows it.
    package struct Description: Hashable, Sendable {
        package let name: String
        package let parameters: String
        package let text: String

        /// How it is entered.
        package var usage: String { "/\(self.name)" + (self.parameters.isEmpty ? "" : " \(self.parameters)") }
    }

    /// All commands, in the order of the help.
    package static let all: [Description] = [
        Description(name: "like", parameters: "", text: "send a like"),
        Description(name: "gifts", parameters: "", text: "what can be given"),
        Description(name: "gift", parameters: "ID [N]", text: "give it to the host"),
        Description(name: "seat", parameters: "[N]", text: "apply for a seat"),
        Description(name: "stand", parameters: "", text: "leave the seat"),
        Description(name: "mic", parameters: "on|off", text: "your microphone"),
        Description(name: "cam", parameters: "on|off", text: "your camera"),
        Description(name: "accept", parameters: "[NAME]", text: "accept a request"),
        Description(name: "reject", parameters: "[NAME]", text: "decline a request"),
        Description(name: "invite", parameters: "USER [N]", text: "host: offer a seat"),
        Description(name: "kick", parameters: "USER", text: "host: put out"),
        Description(name: "mute", parameters: "USER", text: "host: no messages"),
        Description(name: "unmute", parameters: "USER", text: "host: messages again"),
        Description(name: "admin", parameters: "USER", text: "owner: appoint"),
        Description(name: "unadmin", parameters: "USER", text: "owner: dismiss"),
        Description(name: "hosts", parameters: "", text: "owner: other lives"),
        Description(name: "connect", parameters: "LIVE", text: "owner: ask to connect"),
        Description(name: "disconnect", parameters: "", text: "owner: leave them"),
        Description(name: "battle", parameters: "[SECONDS]", text: "owner: challenge them"),
        Description(name: "exitbattle", parameters: "", text: "owner: leave it"),
        Description(name: "leave", parameters: "", text: "back to the list"),
        Description(name: "end", parameters: "", text: "owner: end the live"),
        Description(name: "help", parameters: "", text: "this page"),
        Description(name: "quit", parameters: "", text: "leave the program"),
    ]

    /// The maximum duration of a battle, in seconds.
    private static let maxBattleSeconds = 3600.0

    /// Reads a line.
    ///
    /// - Throws: `CommandError`, whose text says what to enter instead.
    package init(_ line: String) throws(CommandError) {
        // A message that begins with a slash is entered with two slashes.
        guard line.hasPrefix("/"), !line.hasPrefix("//") else {
            self = .sendMessage(line.hasPrefix("//") ? String(line.dropFirst()) : line)
            return
        }
        let words = line.dropFirst().split(separator: " ").map(String.init)
        let name = words.first?.lowercased() ?? ""
        guard let description = Self.all.first(where: { $0.name == name }) else {
            throw CommandError(text: "There is no command /\(name).\(Self.suggestion(for: name)) /help shows all.")
        }
        guard let command = Self.command(name, Array(words.dropFirst())) else {
            throw CommandError(text: "Enter \(description.usage): \(description.text).")
        }
        self = command
    }

    /// The commands, with their slash, that begin with the text of the line; for the key Tab.
    package static func completions(of line: String) -> [String] {
        guard line.hasPrefix("/"), !line.contains(" ") else { return [] }
        return self.all.map { "/\($0.name)" }.filter { $0.hasPrefix(line.lowercased()) }
    }

    private static func suggestion(for name: String) -> String {
        let similar = self.all.first { !name.isEmpty && ($0.name.hasPrefix(name) || name.hasPrefix($0.name)) }
        return similar.map { " Did you mean /\($0.name)?" } ?? ""
    }

    /// Makes a command from its name and parameters; nil if the parameters are wrong.
    private static func command(_ name: String, _ words: [String]) -> Command? {
        switch (name, words.count) {
        case ("like", 0): return .like
        case ("gifts", 0): return .gifts
        case ("gift", 1): return .gift(id: words[0], count: 1)
        case ("gift", 2): return UInt(words[1]).flatMap { $0 > 0 ? .gift(id: words[0], count: $0) : nil }
        case ("seat", 0): return .seat(nil)
        case ("seat", 1): return Self.seatIndex(words[0]).map { .seat($0) }
        case ("stand", 0): return .stand
        case ("mic", 1): return Self.isOn(words[0]).map { .microphone(isOn: $0) }
        case ("cam", 1): return Self.isOn(words[0]).map { .camera(isOn: $0) }
        case ("accept", _): return .accept(words.isEmpty ? nil : words.joined(separator: " "))
        case ("reject", _): return .reject(words.isEmpty ? nil : words.joined(separator: " "))
        case ("invite", 1): return .invite(words[0], seat: nil)
        case ("invite", 2): return Self.seatIndex(words[1]).map { .invite(words[0], seat: $0) }
        case ("kick", 1): return .kick(words[0])
        case ("mute", 1): return .mute(words[0], isMuted: true)
        case ("unmute", 1): return .mute(words[0], isMuted: false)
        case ("admin", 1): return .admin(words[0], isAdmin: true)
        case ("unadmin", 1): return .admin(words[0], isAdmin: false)
        case ("hosts", 0): return .hosts
        case ("connect", 1): return .connect(words[0])
        case ("disconnect", 0): return .disconnect
        case ("battle", 0): return .battle(seconds: 60)
        case ("battle", 1):
            guard let seconds = Double(words[0]), seconds >= 1, seconds <= Self.maxBattleSeconds else { return nil }
            return .battle(seconds: seconds)
        case ("exitbattle", 0): return .exitBattle
        case ("leave", 0): return .leave
        case ("end", 0): return .end
        case ("help", 0): return .help
        case ("quit", 0): return .quit
        default: return nil
        }
    }

    /// The index of a seat, which counts from 0; `word` is the number on the screen, which counts from 1.
    ///
    /// Nil if `word` is no number, or above 100, which is more than the seats of any live.
    private static func seatIndex(_ word: String) -> Int? { Int(word).flatMap { $0 >= 1 && $0 <= 100 ? $0 - 1 : nil } }

    /// True for `on`, false for `off`, nil for any other word.
    private static func isOn(_ word: String) -> Bool? { word == "on" ? true : word == "off" ? false : nil }
}
