// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// Why something on an event loop could not be done, or why a stream ended.
package enum LoopError: Error, Hashable, Sendable {
    /// The peer sent its end of the stream in order.
    case endOfStream
    /// The stream, listener or timer was closed before.
    case closed
    /// The loop is ending and takes nothing new.
    case loopEnding
    /// The stream's pending bytes would pass their limit; nothing of this write was taken.
    case overflow(limit: Int)
    /// Nobody listens at the address.
    case connectionRefused
    /// The peer, or the network, tore the connection down.
    case connectionReset
    /// The network gave up on the peer.
    case timedOut
    /// There is no route to the address.
    case unreachable
    /// Another socket holds the address.
    case addressInUse
    /// The text is not an address, or not one of this machine, or its name is unknown.
    case addressInvalid
    /// The process or the system has no more descriptors or memory for it.
    case outOfResources
    /// The process may not do this (a low port, for example).
    case notPermitted
    /// Anything else: libuv's (negated errno) code.
    case system(code: Int32)

    /// Translates a negative status of libuv.
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

    /// Throws the error that a status stands for; a status of zero or more is none.
    static func check(_ status: Int32) throws(LoopError) {
        if status < 0 { throw LoopError(status: status) }
    }
}
