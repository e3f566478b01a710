// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import PlazaModel
import Settings
import Tokens

/// `plaza token`: prints a token that the cluster accepts.
enum TokenCommand: Subcommand {
    static let name = "token"
    static let summary = "prints a token for a user, signed with the cluster's own key"
    static let help =
        "prints a token that this cluster accepts, and nothing else, so that a script can use the output. "
        + "In production an app's own server signs its users' tokens with a key that it shares with LivePlaza."

    /// The roles, as named on the command line.
    private enum Role: String, CaseIterable {
        case user
        case server
    }

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let directory = RunDirectory(reader.runDirectory())
        let apps = AppsOptions(&reader)
        let user = reader.string("user", placeholder: "ID", help: "the user's id: letters, digits, '-' and '_'")
        let displayName = reader.optionalString("name", help: "the user's name as others see it")
        let role = reader.choice(
            "role", default: Role.user,
            help: "user: acts for itself. server: the app's own server, which may make every call")
        let seconds = reader.int(
            "seconds", default: 86_400, range: 1...31_536_000, help: "seconds from now until the token expires")
        if UserID(checking: user) == nil {
            reader.reject("user", value: user, remedy: "give 1 to 32 bytes of letters, digits, '-' and '_'")
        }
        try reader.finish()
        let expires = Int64(Date().timeIntervalSince1970) + Int64(seconds)
        let claims = TokenClaims(
            app: apps.app, user: user, expires: expires, role: role == .server ? .server : .user, name: displayName)
        Subcommands.printLine(try AppsFile.token(claims, signedBy: apps.source(default: directory)))
        return 0
    }
}
