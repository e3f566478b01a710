// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL
package import EventLoop

/// The client's side of one TLS connection, without IO: OpenSSL reads from memory and writes into memory.
@safe package final class TLSSession: StreamSecurity {
    private let session: OpaquePointer
    /// The bytes from the peer that are not decrypted yet; freed with the session.
    private let received: OpaquePointer
    /// The encrypted bytes that are not taken yet; freed with the session.
    private let output: OpaquePointer
    package private(set) var isEstablished = false

    init(context: OpaquePointer, host: String) throws(LoopError) {
        guard let session = unsafe SSL_new(context) else { throw .tls(reason: OpenSSLErrors.takeText()) }
        guard let received = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(session)
            throw .tls(reason: OpenSSLErrors.takeText())
        }
        unsafe SSL_set_bio(session, received, output)
        unsafe SSL_set_connect_state(session)
        unsafe self.session = session
        unsafe self.received = received
        unsafe self.output = output
        // A certificate names numeric addresses and host names in different fields. Only a name is sent to the server
        // (SNI).
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1 { return }
        ERR_clear_error()
        guard unsafe SSL_set1_host(session, host) == 1, unsafe plaza_SSL_set_tlsext_host_name(session, host) == 1 else {
            throw .tls(reason: "'\(host)' is no host name")
        }
    }

    deinit { unsafe SSL_free(self.session) }

    package func beginHandshake() throws(LoopError) { try self.continueHandshake() }

    package func receive(_ bytes: Span<UInt8>) throws(LoopError) {
        let written = unsafe bytes.withUnsafeBufferPointer { source in
            unsafe BIO_write(self.received, source.baseAddress, Int32(clamping: source.count))
        }
        // A memory BIO accepts all bytes, unless the process has no memory left.
        guard Int(written) == bytes.count else { throw .outOfResources }
        if !self.isEstablished { try self.continueHandshake() }
    }

    package func decrypt(into buffer: UnsafeMutableBufferPointer<UInt8>) throws(LoopError) -> Int {
        ERR_clear_error()
        let count = unsafe SSL_read(self.session, buffer.baseAddress, Int32(clamping: buffer.count))
        if count > 0 { return Int(count) }
        switch unsafe SSL_get_error(self.session, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return 0
        case SSL_ERROR_ZERO_RETURN: throw .endOfStream
        default: throw .tls(reason: OpenSSLErrors.takeText())
        }
    }

    package func encrypt(_ bytes: Span<UInt8>) throws(LoopError) {
        ERR_clear_error()
        let count = unsafe bytes.withUnsafeBufferPointer { source in
            unsafe SSL_write(self.session, source.baseAddress, Int32(clamping: source.count))
        }
        guard Int(count) == bytes.count else { throw .tls(reason: OpenSSLErrors.takeText()) }
    }

    package func encryptEnd() {
        unsafe SSL_shutdown(self.session)
        ERR_clear_error()
    }

    package func takeOutput() -> SharedBytes? {
        let count = unsafe BIO_ctrl_pending(self.output)
        if count == 0 { return nil }
        return SharedBytes(capacity: count) { bytes in
            unsafe bytes.withUnsafeMutableBufferPointer { target, initialized in
                let read = unsafe BIO_read(self.output, target.baseAddress, Int32(clamping: count))
                initialized = max(0, Int(read))
            }
        }
    }

    private func continueHandshake() throws(LoopError) {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(self.session)
        if result == 1 {
            self.isEstablished = true
            return
        }
        switch unsafe SSL_get_error(self.session, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        default: throw .tls(reason: self.failureText())
        }
    }

    /// Why the handshake failed: the fault of the certificate, or else OpenSSL's error.
    private func failureText() -> String {
        let result = unsafe SSL_get_verify_result(self.session)
        let text = OpenSSLErrors.takeText()
        guard result != Int(X509_V_OK) else { return text }
        let reason = unsafe String(cString: X509_verify_cert_error_string(result))
        return "the server's certificate: \(reason)"
    }
}
