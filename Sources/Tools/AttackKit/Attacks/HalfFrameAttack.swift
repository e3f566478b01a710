// SPDX-License-Identifier: Apache-2.0

/// An attack by many connections that send half of a frame and stop.
///
/// The whole frame is a little smaller than a connection may send before its login. So the gateway accepts the half,
/// and must buffer it until the other half comes.
package struct HalfFrameAttack: Attack {
    package let name = "half-frames"
    package let summary = "many WebSockets that each send half of a frame of 15 KB and stop"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = nil

    package func connectionCount(limit: Int) -> Int { limit }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient { SingleShot(.raw(Self.halfFrame)) }

    /// The header of a masked text frame whose payload has `frameBytes` bytes, and the first half of the payload.
    ///
    /// The header has eight bytes. 0x81 means a final text frame. 0x80 means that it is masked, and 126 that its length
    /// follows in two bytes. The mask is four zeros.
    static let halfFrame: [UInt8] =
        [0x81, 0x80 | 126, UInt8(Self.frameBytes >> 8), UInt8(Self.frameBytes & 0xFF), 0, 0, 0, 0]
        + Array(repeating: UInt8(ascii: " "), count: Self.frameBytes / 2)

    private static let frameBytes = 15_000
}
