// SPDX-License-Identifier: Apache-2.0

/// Code that gets bytes from outside and must not trap on any of them.
///
/// The file `<Name>Fuzz.swift` holds the target `<Name>`; its first inputs are in `Tests/Fuzz/Corpus/<Name>`.
/// `deploy/fuzz.sh` runs targets with libFuzzer, which makes new inputs; `CorpusTests` runs them on their corpora only.
public protocol FuzzTarget {
    /// Handles one input.
    ///
    /// - Parameter input: any bytes, at most 64 KB.
    static func run(_ input: [UInt8])
}

/// All targets by name.
public enum FuzzTargetList {
    /// The targets, as `deploy/fuzz.sh` names them.
    public static var all: [(name: String, target: any FuzzTarget.Type)] {
        [
            ("Frames", FramesFuzz.self), ("Handshake", HandshakeFuzz.self), ("ProxyHeader", ProxyHeaderFuzz.self),
            ("JSON", JSONFuzz.self), ("Calls", CallsFuzz.self), ("Tokens", TokensFuzz.self), ("Files", FilesFuzz.self),
            ("Records", RecordsFuzz.self), ("Cursors", CursorsFuzz.self), ("Metadata", MetadataFuzz.self),
            ("Leases", LeasesFuzz.self), ("DirectoryRows", DirectoryRowsFuzz.self),
            ("BarrageRows", BarrageRowsFuzz.self), ("SeatRows", SeatRowsFuzz.self),
            ("ConnectionRows", ConnectionRowsFuzz.self), ("Client", ClientFuzz.self),
            ("Requests", RequestsFuzz.self),
        ]
    }
}
