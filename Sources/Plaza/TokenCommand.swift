// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import PlazaModel
import Settings
import Tokens

/// `plaza token`: a token that the cluster accepts.
enum TokenCommand: Subcommand {
    static let name = "token"
    static let summary = "prints a token for a user, signed with the cluster's own key"

    /// The roles by the words that are typed.
    private enum Role: String, CaseIterable {
        case user
        case server
    }

    static func run(_ arguments: [String], environment: [String: String]) async throws -> Int32 {
        var reader = SettingsReader(
            program: "plaza token",
            summary: "prints a token that this cluster accepts, and nothing else, so that a script can take it. "
                + "In production an app's own server signs its users' tokens with a key that it shares with LivePlaza.",
            arguments: arguments, environment: environment)
        let directory = RunDirectory(reader.runDirectory())
        let apps = AppsOptions(&reader)
        let user = reader.string("user", placeholder: "ID", help: "the user's id: letters, digits, '-' and '_'")
        let shownName = reader.optionalString("name", help: "the user's name as others see it")
        let role = reader.choice(
            "role", default: Role.user, help: "user: acts for itself. server: the app's own server, which may all")
        let seconds = reader.int(
            "seconds", default: 86_400, range: 1...31_536_000, help: "how long the token is valid from now")
        if UserID(checking: user) == nil {
            reader.refuse("user", value: user, remedy: "give 1 to 32 bytes of letters, digits, '-' and '_'")
        }
        try reader.finish()
        let expires = Int64(Date().timeIntervalSince1970) + Int64(seconds)
        let claims = TokenClaims(
            app: apps.app, user: user, expires: expires, role: role == .server ? .server : .user, name: shownName)
        Subcommands.say(try AppsFile.token(claims, signedBy: apps.source(else: directory)))
        return 0
    }
}
