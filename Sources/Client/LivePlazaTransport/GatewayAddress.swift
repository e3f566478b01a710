// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The address of a gateway: `ws://host:port/path`, or `wss://…` for TLS.
struct GatewayAddress: Sendable, Equatable {
    let host: String
    let port: UInt16
    let path: String
    /// Whether the connection uses TLS.
    let isSecure: Bool

    /// Parses an address.
    ///
    /// Without a port, the port is 80 for `ws` and 443 for `wss`.
    ///
    /// - Throws: `invalidParameter` if the scheme is neither `ws` nor `wss`, if the host is missing, or if the port is
    ///   invalid.
    init(_ text: String) throws(ErrorInfo) {
        self.isSecure = text.hasPrefix("wss://")
        guard self.isSecure || text.hasPrefix("ws://") else {
            throw .invalidParameter("'\(text)' does not begin with ws:// or wss://")
        }
        let authorityAndPath = text.dropFirst(self.isSecure ? "wss://".count : "ws://".count)
        let authority = authorityAndPath.prefix { $0 != "/" }
        let path = authorityAndPath.dropFirst(authority.count)
        self.path = path.isEmpty ? "/" : String(path)
        let port: Substring?
        do throws(AuthorityFault) {
            (self.host, port) = try Self.split(authority)
        } catch {
            throw .invalidParameter("'\(text)' \(error.reason)")
        }
        let defaultPort: UInt16 = self.isSecure ? 443 : 80
        // A missing port gets the default; a port that is not a number gets 0, which is not valid.
        self.port = port.map { UInt16($0) ?? 0 } ?? defaultPort
        if self.port == 0 { throw .invalidParameter("'\(text)' has no valid port") }
        if self.host.isEmpty { throw .invalidParameter("'\(text)' has no host") }
    }

    /// Why an authority (`host:port`) cannot be split into host and port.
    private struct AuthorityFault: Error {
        let reason: String
    }

    /// Splits `host:port`, which is called the authority of a URL; the port is nil if it is not stated.
    private static func split(_ authority: Substring) throws(AuthorityFault) -> (host: String, port: Substring?) {
        if authority.hasPrefix("[") {
            // An IPv6 address is written in brackets, because it contains colons.
            guard let end = authority.firstIndex(of: "]") else {
                throw AuthorityFault(reason: "has no closing bracket")
            }
            let host = String(authority[authority.index(after: authority.startIndex)..<end])
            let port = authority[authority.index(after: end)...]
            guard port.isEmpty || port.hasPrefix(":") else {
                throw AuthorityFault(reason: "has no port after the bracket")
            }
            return (host, port.isEmpty ? nil : port.dropFirst())
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw AuthorityFault(reason: "has no valid port") }
        return (String(parts[0]), parts.count == 2 ? parts[1] : nil)
    }
}
