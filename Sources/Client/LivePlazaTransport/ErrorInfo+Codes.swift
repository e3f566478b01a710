// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The errors of the transport; PROTOCOL.md, section 13, lists the numbers of the codes.
extension ErrorInfo {
    /// An error with the code `invalidParameter`.
    static func invalidParameter(_ message: String) -> ErrorInfo { ErrorInfo(code: -1001, message: message) }

    /// An error with the code `failed`.
    static func failed(_ message: String) -> ErrorInfo { ErrorInfo(code: -1, message: message) }
}
