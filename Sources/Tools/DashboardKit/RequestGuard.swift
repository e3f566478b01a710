// SPDX-License-Identifier: Apache-2.0

/// Which requests the dashboard answers (R13.35).
///
/// The dashboard has no sign-in: whoever uses this machine may use it. Pages of other origins in the same browser must
/// not, neither by a form or script that sends requests here (CSRF), nor by a host name that resolves to loopback (DNS
/// rebinding).
package struct RequestGuard: Sendable {
    private let hosts: Set<String>

    /// - Parameter port: the port at which the dashboard listens.
    package init(port: UInt16) {
        self.hosts = ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
    }

    /// Whether a request may be answered.
    ///
    /// - Parameters:
    ///   - headers: the headers by lower-case name.
    ///   - changes: whether the request changes something. Then it must name the dashboard's own origin.
    /// - Returns: false if 403 is the answer.
    package func allows(_ headers: [String: String], changes: Bool) -> Bool {
        guard let host = headers["host"]?.lowercased(), self.hosts.contains(host) else { return false }
        let site = headers["sec-fetch-site"]
        guard changes else { return true }
        return headers["origin"] == "http://\(host)" && (site == nil || site == "same-origin")
    }
}
