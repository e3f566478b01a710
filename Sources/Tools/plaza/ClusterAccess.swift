// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import ProtocolClient
import Settings
import Tokens

/// The addresses and the signing key with which a subcommand uses a cluster.
///
/// They belong to the cluster that runs in a directory, or are given as options.
struct ClusterAccess: Sendable {
    /// The directory in which the cluster runs.
    let runDirectory: String
    /// The gateways' WebSocket addresses.
    let gateways: [PlazaAddress]
    /// The gateways' HTTP addresses; empty when the gateways are given as options.
    let http: [PlazaAddress]
    /// The number of partitions of each topic; nil when the gateways are given as options.
    let partitions: Int?
    /// The ops port of each process, with its name and its service's program name; empty when the gateways are given
    /// as options.
    let opsPorts: [(name: String, kind: String, port: Int)]
    private let key: AppKey
    /// The app to act for.
    let app: String

    /// Declares the options and finds the cluster.
    ///
    /// - Throws: an error when no gateway is given and no cluster runs in the directory, or when no signing key of
    ///   the app is available.
    static func read(_ reader: inout SettingsReader) throws -> ClusterAccess {
        let directory = reader.runDirectory()
        let givenGateways = reader.list(
            "gateway", placeholder: "HOST:PORT,…",
            help: "gateways to connect to, instead of those that run in the directory")
        let apps = AppsOptions(&reader)
        try reader.finish()

        var gateways: [PlazaAddress] = []
        var http: [PlazaAddress] = []
        var partitions: Int?
        var opsPorts: [(name: String, kind: String, port: Int)] = []
        if givenGateways.isEmpty {
            let state = try ClusterState.read(runDirectory: directory)
            gateways = state.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.port)) }
            http = state.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.httpPort)) }
            partitions = state.partitions
            opsPorts = state.processes.compactMap { process in
                process.opsPort.map { (process.name, process.kind, $0) }
            }
        }
        gateways += try givenGateways.map { try Self.parseAddress($0) }
        let key = try AppsFile.signingKey(of: apps.app, in: apps.source(default: RunDirectory(directory)))
        return ClusterAccess(
            runDirectory: directory, gateways: gateways, http: http, partitions: partitions, opsPorts: opsPorts,
            key: key, app: apps.app)
    }

    /// Parses the address that an option gives.
    ///
    /// - Throws: `AccessError` when the text is not of the form `HOST:PORT`.
    static func parseAddress(_ text: String) throws(AccessError) -> PlazaAddress {
        guard let address = HealthProbe.split(address: text), let port = UInt16(exactly: address.port) else {
            throw AccessError("\(text) is not of the form HOST:PORT")
        }
        return PlazaAddress(host: address.host, port: port)
    }

    /// Makes a token for a user of the app, valid for one day.
    func token(_ user: String, isServer: Bool = false) -> String {
        let claims = TokenClaims(
            app: self.app, user: user, expires: Int64(Date().timeIntervalSince1970) + 86_400,
            role: isServer ? .server : .user)
        // Signing cannot fail, because `signingKey` returned a key that can sign. If it did fail, a gateway would
        // reject the empty token.
        return (try? TokenSigner.sign(claims, with: self.key)) ?? ""
    }
}

/// Why a subcommand cannot reach a cluster.
struct AccessError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
