// SPDX-License-Identifier: Apache-2.0

/// Decides which requests the dashboard answers (R13.35, docs/RULES.md).
///
/// The dashboard has no sign-in: every user of this machine may use it. A page of another origin in the same browser
/// must not use it. Such a page could send requests by a form or script (CSRF), or by a host name that resolves to
/// loopback (DNS rebinding).
package struct RequestGuard: Sendable {
    private let allowedHosts: Set<String>

    /// - Parameter port: the port on which the dashboard listens.
    package init(port: UInt16) {
        self.allowedHosts = ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
    }

    /// Whether a request may be answered.
    ///
    /// - Parameters:
    ///   - headers: the headers by lower-case name.
    ///   - isChange: whether the request changes something. Such a request must name the dashboard's own origin.
    /// - Returns: false if the request must be answered with 403.
    package func allows(_ headers: [String: String], isChange: Bool) -> Bool {
        guard let host = headers["host"]?.lowercased(), self.allowedHosts.contains(host) else { return false }
        guard isChange else { return true }
        // This header says whether a page of another origin sent the request. Older browsers do not send the header.
        let site = headers["sec-fetch-site"]
        return headers["origin"] == "http://\(host)" && (site == nil || site == "same-origin")
    }
}
