// SPDX-License-Identifier: Apache-2.0

/// Encrypts and decrypts the bytes of one stream, such as a TLS session; always on the loop's thread.
///
/// It performs no IO: encrypted bytes wait in it until `takeOutput()`.
package protocol StreamSecurity: AnyObject {
    /// Whether the handshake has succeeded; only then may `encrypt` be called.
    var isEstablished: Bool { get }
    /// Begins the handshake, as the side that connects.
    ///
    /// - Throws: `LoopError.tls` when it cannot begin.
    func beginHandshake() throws(LoopError)
    /// Accepts bytes from the peer, and continues the handshake if it is not over.
    ///
    /// - Throws: `LoopError.tls` when the handshake has failed.
    func receive(_ bytes: Span<UInt8>) throws(LoopError)
    /// Decrypts received bytes into `buffer`.
    ///
    /// - Returns: The number of decrypted bytes; 0 when the rest of a record has not been received.
    /// - Throws: `LoopError.endOfStream` when the peer has ended the stream, `LoopError.tls` for a damaged record.
    func decrypt(into buffer: UnsafeMutableBufferPointer<UInt8>) throws(LoopError) -> Int
    /// Encrypts bytes.
    ///
    /// - Throws: `LoopError.tls` when the session has failed.
    func encrypt(_ bytes: Span<UInt8>) throws(LoopError)
    /// Announces that no more bytes follow.
    func encryptEnd()
    /// Removes and returns the encrypted bytes that are to be sent; nil when there are none.
    func takeOutput() -> SharedBytes?
}

/// The encrypted stream: all bytes between the socket and the stream's delegate pass through `security`.
extension TCPStream {
    /// The maximum number of bytes of `pieces` after their encryption.
    ///
    /// Each piece is encrypted on its own, in records of at most 16 KiB, and TLS 1.3 adds 22 bytes to each record. The
    /// formula allows more: 64 bytes for each 16 KiB of a piece (64 / 16,384 = 1 / 256), and 64 for its last record.
    static func maxEncryptedBytes(_ pieces: [SharedBytes]) -> Int {
        var total = 0
        for piece in pieces where piece.count > 0 { total += piece.count + piece.count / 256 + 64 }
        return total
    }

    /// Begins the handshake on a new connection.
    func beginHandshake(_ security: any StreamSecurity) {
        self.startReading()
        do throws(LoopError) {
            try security.beginHandshake()
            try self.sendOutput(of: security)
        } catch { self.end(error) }
    }

    /// Encrypts and sends pieces.
    ///
    /// The limit is checked before the encryption, because a record that is encrypted must be sent: the peer counts the
    /// records.
    ///
    /// - Returns: Whether the system has accepted all bytes.
    /// - Throws: `LoopError.overflow` if no byte was encrypted, `.closed`, or the error with which the stream ended.
    func write(_ pieces: [SharedBytes], encryptedBy security: any StreamSecurity) throws(LoopError) -> Bool {
        if self.isClosed || !security.isEstablished { throw .closed }
        guard self.pendingBytes + Self.maxEncryptedBytes(pieces) <= self.pendingLimitBytes else {
            throw .overflow(limit: self.pendingLimitBytes)
        }
        do throws(LoopError) {
            for piece in pieces where piece.count > 0 {
                try piece.withSpan { bytes throws(LoopError) in try security.encrypt(bytes) }
            }
            return try self.sendOutput(of: security)
        } catch {
            // Records that were encrypted and not sent would be missing at the peer, so the stream cannot continue.
            self.end(error)
            throw error
        }
    }

    /// Decrypts `count` bytes of the loop's read buffer, and passes the result to the delegate.
    func receive(_ count: Int, decryptedBy security: any StreamSecurity) {
        let wasEstablished = security.isEstablished
        do throws(LoopError) {
            try security.receive(unsafe self.loop.readBuffer.extracting(0..<count).span)
            try self.sendOutput(of: security)
            if !wasEstablished, security.isEstablished { self.delegate?.streamConnected(self) }
            while security.isEstablished, !self.isClosed {
                // The session has copied the received bytes, so their buffer is free for the decrypted ones.
                let decrypted = try unsafe security.decrypt(into: self.loop.readBuffer)
                // A decrypted message of the handshake may have to be answered, for example a change of keys.
                try self.sendOutput(of: security)
                if decrypted == 0 { return }
                self.passToDelegate(decrypted)
            }
        } catch {
            // The output contains the alert that tells the peer what failed.
            _ = try? self.sendOutput(of: security)
            self.end(error)
        }
    }

    /// Sends the message that ends the encrypted stream.
    func sendEnd(encryptedBy security: any StreamSecurity) {
        guard security.isEstablished else { return }
        security.encryptEnd()
        // If the write fails, the stream is ending and will call `streamEnded`.
        _ = try? self.sendOutput(of: security)
    }

    /// Sends what the session has encrypted.
    ///
    /// - Returns: Whether the system has accepted all bytes.
    @discardableResult private func sendOutput(of security: any StreamSecurity) throws(LoopError) -> Bool {
        guard let output = security.takeOutput() else { return self.pendingBytes == 0 }
        return try self.writeToSocket(output)
    }
}
