// SPDX-License-Identifier: Apache-2.0

/// Many connections that send half of a frame and stop.
///
/// The frame is as large as a connection may send before its login, so that a gateway must keep all of it.
package struct HalfFrameAttack: Attack {
    package let name = "half-frames"
    package let summary = "many WebSockets that each send half of a frame of 15 KB and stop"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = nil

    package func connections(limit: Int) -> Int { limit }

    package func client(_ setting: AttackClientSetting) -> any AttackClient { SingleShot(.raw(Self.half)) }

    /// A masked text frame that announces `frameBytes`, and half of them.
    static let half: [UInt8] =
        [0x81, 0x80 | 126, UInt8(Self.frameBytes >> 8), UInt8(Self.frameBytes & 0xFF), 0, 0, 0, 0]
        + Array(repeating: UInt8(ascii: " "), count: Self.frameBytes / 2)

    private static let frameBytes = 15_000
}
