// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// Why an operation on an event loop failed, or why a stream ended.
package enum LoopError: Error, Hashable, Sendable {
    /// The peer closed its side of the stream in an orderly way.
    case endOfStream
    /// The stream, listener or timer is already closed.
    case closed
    /// The loop is ending and accepts no new handles.
    case loopEnding
    /// The pending bytes of the stream would exceed their limit, or its queue has too many pieces; no byte of this
    /// write was accepted.
    case overflow(limit: Int)
    /// All streams of the loop together have reached the limit of the output budget, and this stream would exceed its
    /// share; no byte of this write was accepted.
    case overShare
    /// No process listens at the address.
    case connectionRefused
    /// The peer or the network reset the connection.
    case connectionReset
    /// The system received no response from the peer in time.
    case timedOut
    /// There is no route to the address.
    case unreachable
    /// Another socket is bound to the address.
    case addressInUse
    /// The text is not an address, the address does not belong to this machine, or the host name cannot be resolved.
    case addressInvalid
    /// The process or the system has no free descriptors or memory.
    case outOfResources
    /// The process lacks the permission, for example to bind a low port.
    case notPermitted
    /// The TLS handshake or a TLS record failed, for example because the peer's certificate is not trusted.
    case tls(reason: String)
    /// Any other error, with libuv's code, which is the negated system error number.
    case system(code: Int32)

    /// Translates a negative status code of libuv.
    init(status: Int32) {
        switch status {
        case UV_EOF.rawValue: self = .endOfStream
        case UV_ECANCELED.rawValue, UV_ENOTCONN.rawValue, UV_EBADF.rawValue: self = .closed
        case UV_ECONNREFUSED.rawValue: self = .connectionRefused
        case UV_ECONNRESET.rawValue, UV_EPIPE.rawValue, UV_ECONNABORTED.rawValue: self = .connectionReset
        case UV_ETIMEDOUT.rawValue: self = .timedOut
        case UV_EHOSTUNREACH.rawValue, UV_ENETUNREACH.rawValue, UV_ENETDOWN.rawValue: self = .unreachable
        case UV_EADDRINUSE.rawValue: self = .addressInUse
        case UV_EADDRNOTAVAIL.rawValue, UV_EINVAL.rawValue, UV_EAI_NONAME.rawValue, UV_EAI_NODATA.rawValue,
            UV_EAI_AGAIN.rawValue, UV_EAI_FAIL.rawValue:
            self = .addressInvalid
        case UV_EMFILE.rawValue, UV_ENFILE.rawValue, UV_ENOMEM.rawValue, UV_ENOBUFS.rawValue: self = .outOfResources
        case UV_EACCES.rawValue, UV_EPERM.rawValue: self = .notPermitted
        default: self = .system(code: status)
        }
    }

    /// Throws the error for a negative status code of libuv; zero and positive codes mean success.
    static func check(_ status: Int32) throws(LoopError) {
        if status < 0 { throw LoopError(status: status) }
    }
}
