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
    /// - Throws: `invalidParameter` if the scheme is neither `ws` nor `wss`, or if the host or the port is missing or
    ///   invalid.
    init(_ text: String) throws(ErrorInfo) {
        // -1001 is the code of `invalidParameter`.
        func addressError(_ reason: String) -> ErrorInfo { ErrorInfo(code: -1001, message: "'\(text)' \(reason)") }
        self.isSecure = text.hasPrefix("wss://")
        guard self.isSecure || text.hasPrefix("ws://") else {
            throw addressError("does not begin with ws:// or wss://")
        }
        let authorityAndPath = text.dropFirst(self.isSecure ? "wss://".count : "ws://".count)
        let defaultPort: UInt16 = self.isSecure ? 443 : 80
        let authority = authorityAndPath.prefix { $0 != "/" }
        let path = authorityAndPath.dropFirst(authority.count)
        self.path = path.isEmpty ? "/" : String(path)
        if authority.hasPrefix("[") {
            // An IPv6 address is written in brackets, because it contains colons.
            guard let end = authority.firstIndex(of: "]") else { throw addressError("has no closing bracket") }
            self.host = String(authority[authority.index(after: authority.startIndex)..<end])
            let port = authority[authority.index(after: end)...]
            guard port.isEmpty || port.hasPrefix(":") else { throw addressError("has no port after the bracket") }
            guard let number = port.isEmpty ? defaultPort : UInt16(port.dropFirst()) else {
                throw addressError("has no valid port")
            }
            self.port = number
        } else {
            let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
            self.host = String(parts[0])
            guard parts.count <= 2, let number = parts.count == 2 ? UInt16(parts[1]) : defaultPort else {
                throw addressError("has no valid port")
            }
            self.port = number
        }
        if self.host.isEmpty || self.port == 0 { throw addressError("has no host and port") }
    }
}
