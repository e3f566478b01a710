// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL
package import EventLoop

/// Makes a client's TLS sessions, which all trust the same authorities.
///
/// It is `@unchecked Sendable` because several threads may use OpenSSL's context, which is not changed after `init`.
@safe package final class TLSClient: @unchecked Sendable {
    private let context: OpaquePointer

    /// Makes a client that speaks TLS 1.2 and 1.3, and accepts only servers with a trusted certificate.
    ///
    /// - Parameter authoritiesFile: The path of a file with the certificates of authorities in PEM; nil trusts the
    ///   authorities of the system.
    /// - Throws: `LoopError.tls` when the certificates cannot be read.
    package init(authoritiesFile: String? = nil) throws(LoopError) {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw .tls(reason: OpenSSLErrors.takeText())
        }
        unsafe self.context = context
        _ = unsafe plaza_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        let isLoaded =
            if let authoritiesFile {
                unsafe SSL_CTX_load_verify_locations(context, authoritiesFile, nil) == 1
            } else {
                unsafe SSL_CTX_set_default_verify_paths(context) == 1
            }
        // All properties are set, so the deinit runs although the initializer throws, and frees the context.
        guard isLoaded else { throw .tls(reason: OpenSSLErrors.takeText()) }
    }

    deinit { unsafe SSL_CTX_free(self.context) }

    /// Makes the session of one connection.
    ///
    /// - Parameter host: The name or numeric address to which the client connects. The server's certificate must be
    ///   valid for it.
    /// - Returns: The session, whose handshake has not begun.
    /// - Throws: `LoopError.tls` when `host` is neither a valid name nor a numeric address, or OpenSSL cannot make a
    ///   session.
    package func makeSession(host: String) throws(LoopError) -> TLSSession {
        try unsafe TLSSession(context: self.context, host: host)
    }
}

/// The errors that OpenSSL records for the current thread.
enum OpenSSLErrors {
    /// Removes the recorded errors, and returns the text of the first one.
    static func takeText() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        if code == 0 { return "unknown error" }
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
