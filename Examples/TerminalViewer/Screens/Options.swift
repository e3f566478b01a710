// SPDX-License-Identifier: Apache-2.0

/// The options of the command line.
package struct Options: Hashable, Sendable {
    /// How the user signs in.
    package enum SignIn: Hashable, Sendable {
        /// The server of the browser pages gives a demo token for any name.
        case demo(server: String, name: String)
        /// The app's server has given a token.
        case token(String, gateways: [String])
    }

    package var signIn: SignIn
    /// The live to enter at once.
    package var live: String?
    package var hasColour = true

    package static let usage = """
        TerminalViewer: watch lives, chat, take a seat, go live and battle, in a terminal.

        usage: TerminalViewer --name NAME [--server URL] [--live ID] [--no-color]
               TerminalViewer --token JWT --gateway URL [--gateway URL …] [--live ID] [--no-color]

          --name NAME      sign in under any name, at a cluster that is for trying out
          --server URL     the HTTP address of that cluster's pages; http://127.0.0.1:8081
          --token JWT      sign in with a token that your app's server has signed. Anybody on this machine can read
                           it in the list of processes: the variable LIVEPLAZA_TOKEN is not shown there
          --gateway URL    a gateway, such as ws://127.0.0.1:8080/v1; each reconnect tries the next one
          --live ID        enter this live at once
          --no-color       no colours; the variable NO_COLOR does the same
          --help           show this

        First steps, in three terminals:

          plaza up                               # a whole cluster; it gives demo tokens to this machine
          TerminalViewer --name alice            # press g to go live
          TerminalViewer --name bob              # press Enter to watch, type, or enter /seat

        In a live, what you type is sent as a message. Lines that begin with / are commands: /help shows them.

        """

    private static let names = ["--name", "--server", "--token", "--gateway", "--live", "--no-color", "--help"]

    /// Reads the command line; without `--token` and `--name`, the variable LIVEPLAZA_TOKEN gives the token.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - environment: the variables.
    /// - Returns: nil if the user asks for help.
    /// - Throws: `OptionsError` for options that are wrong or missing.
    package static func read(
        _ arguments: [String], environment: [String: String]
    ) throws(OptionsError) -> Options? {
        var values: [String: [String]] = [:]
        var index = 0
        while index < arguments.count {
            let word = arguments[index]
            index += 1
            if word == "-h" || word == "--help" { return nil }
            guard self.names.contains(word) else { throw OptionsError(text: "there is no option \(word)") }
            if word == "--no-color" {
                values[word, default: []].append("")
                continue
            }
            guard index < arguments.count else { throw OptionsError(text: "\(word) needs a value") }
            values[word, default: []].append(arguments[index])
            index += 1
        }
        for (name, optionValues) in values where optionValues.count > 1 && name != "--gateway" {
            throw OptionsError(text: "\(name) is given twice")
        }
        func firstValue(of name: String) -> String? { values[name]?.first.flatMap { $0.isEmpty ? nil : $0 } }
        let signIn = try self.signIn(firstValue, values["--gateway"] ?? [], environment)
        var options = Options(signIn: signIn, live: firstValue(of: "--live"))
        options.hasColour = values["--no-color"] == nil && environment["NO_COLOR", default: ""].isEmpty
        return options
    }

    private static func signIn(
        _ firstValue: (String) -> String?, _ gateways: [String], _ environment: [String: String]
    ) throws(OptionsError) -> SignIn {
        let token = firstValue("--token") ?? environment["LIVEPLAZA_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        if let name = firstValue("--name") {
            if firstValue("--token") != nil { throw OptionsError(text: "give either --name or --token") }
            if !gateways.isEmpty { throw OptionsError(text: "--gateway goes with --token; --name finds the gateways") }
            return .demo(server: firstValue("--server") ?? "http://127.0.0.1:8081", name: name)
        }
        guard let token else { throw OptionsError(text: "give --name NAME, or --token JWT with --gateway URL") }
        if gateways.isEmpty { throw OptionsError(text: "--token needs a gateway: --gateway ws://127.0.0.1:8080/v1") }
        return .token(token, gateways: gateways)
    }
}

/// The error for options that are wrong or missing.
package struct OptionsError: Error, Hashable, Sendable {
    package let text: String
}

/// Makes a user's id from a name, in the same way as the browser pages.
///
/// The name is trimmed and lowercased. The letters a to z, digits, hyphens and underscores stay; a space becomes a
/// hyphen; any other scalar becomes its number in base 36. The id has at most 32 characters.
package func userID(ofName name: String) -> String {
    var id = ""
    let trimmed = name.lowercased().drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    for scalar in String(trimmed).unicodeScalars {
        switch scalar {
        case "a"..."z", "0"..."9", "_", "-": id.unicodeScalars.append(scalar)
        case " ": id += "-"
        default: id += String(scalar.value, radix: 36)
        }
    }
    return id.isEmpty ? "guest" : String(id.prefix(32))
}
