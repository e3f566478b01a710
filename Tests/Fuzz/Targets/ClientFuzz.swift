// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import ProtocolClient

/// What a server may send to the Swift client: each line of the input is one frame.
public enum ClientFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        var core = BareClientCore(BareClientCore.Options(token: "t", session: "s"), seed: 1)
        var actions: [BareClientCore.Action] = []
        core.start(into: &actions)
        var now = MonotonicTime.seconds(1)
        core.connected(at: now, into: &actions)
        for line in input.split(separator: UInt8(ascii: "\n")) {
            now = now + Milliseconds(100)
            let frame = Array(line)
            if let scan = FeedScan(frame.span) {
                _ = core.feedReceived(scan)
                precondition(FeedToken(text: scan.token.text) == scan.token)
            } else {
                core.received(frame, at: now, into: &actions)
            }
            core.tick(at: now, into: &actions)
            _ = try? Wire.decode(ServerFrame.self, from: frame)
        }
        // 1006: the connection is lost without a close frame. After a minute the client tries to reconnect.
        core.disconnected(code: 1006, at: now, into: &actions)
        core.tick(at: now + .seconds(60), into: &actions)
    }
}
