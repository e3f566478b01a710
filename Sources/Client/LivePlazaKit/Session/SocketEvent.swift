// SPDX-License-Identifier: Apache-2.0

/// An event of a transport, with its frame already decoded.
enum SocketEvent: Sendable {
    case opened
    case frame(IncomingFrame)
    /// A message was received that is no frame of the protocol.
    case unreadable(ErrorInfo)
    case closed(code: Int)

    /// Decodes the frame of a transport's event.
    init(_ event: TransportEvent) {
        switch event {
        case .opened: self = .opened
        case .text(let bytes):
            do throws(ErrorInfo) {
                self = .frame(try IncomingFrame(bytes))
            } catch {
                self = .unreadable(error)
            }
        case .binary: self = .unreadable(.badFrame("a binary message"))
        case .closed(let code): self = .closed(code: code)
        }
    }
}
