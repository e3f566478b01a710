// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import Settings
import Tokens

/// How a subcommand reaches a cluster: the one that runs in a directory, or gateways and keys that are named.
struct ClusterAccess: Sendable {
    /// The gateways' WebSocket addresses.
    let gateways: [PlazaAddress]
    /// The ops ports of the processes by name and program, as far as they are known.
    let ops: [(name: String, kind: String, port: Int)]
    private let key: AppKey
    private let app: String

    /// Declares the options, and finds the cluster.
    ///
    /// - Throws: when no cluster runs, or the app has no key here.
    static func read(_ reader: inout SettingsReader) throws -> ClusterAccess {
        let directory = reader.runDirectory()
        let named = reader.list(
            "gateway", placeholder: "HOST:PORT,…",
            help: "gateways to connect to, instead of those that run in the directory")
        let apps = AppsOptions(&reader)
        try reader.finish()

        var gateways: [PlazaAddress] = []
        var ops: [(name: String, kind: String, port: Int)] = []
        if named.isEmpty {
            let state = try ClusterState.read(runDirectory: directory)
            gateways = state.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.port)) }
            ops = state.processes.compactMap { process in
                process.opsPort.map { (process.name, process.kind, $0) }
            }
        }
        for text in named {
            guard let address = Inquiry.split(address: text), let port = UInt16(exactly: address.port) else {
                throw AccessError("\(text) is not of the form HOST:PORT")
            }
            gateways.append(PlazaAddress(host: address.host, port: port))
        }
        let key = try AppsFile.signingKey(of: apps.app, in: apps.source(else: RunDirectory(directory)))
        return ClusterAccess(gateways: gateways, ops: ops, key: key, app: apps.app)
    }

    /// A token for a user of the app that holds for a day.
    func token(_ user: String, isServer: Bool = false) -> String {
        let claims = TokenClaims(
            app: self.app, user: user, expires: Int64(Date().timeIntervalSince1970) + 86_400,
            role: isServer ? .server : .user)
        // The key was read from a keyring, which takes none that cannot sign.
        return (try? TokenSigner.sign(claims, with: self.key)) ?? ""
    }
}

/// Why a subcommand finds no cluster.
struct AccessError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
