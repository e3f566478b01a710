// SPDX-License-Identifier: Apache-2.0

/// The position of a notice: its id is `partition-offset`.
///
/// The offset before a partition's first notice is -1, so `3--1` is an id too.
struct NoticePosition {
    private let partition: Int64
    private let offset: Int64

    private init?(id: String) {
        let parts = id.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let partition = Int64(parts[0]), let offset = Int64(parts[1]) else { return nil }
        self.partition = partition
        self.offset = offset
    }

    /// Whether the notice `id` comes after the notice `last`, which was received last.
    ///
    /// All notices of a user are in one partition of the topic. An id that cannot be compared counts as later, so that
    /// no notice is dropped by mistake.
    static func isLater(_ id: String, than last: String?) -> Bool {
        guard let last, let new = NoticePosition(id: id), let previous = NoticePosition(id: last),
            new.partition == previous.partition
        else { return true }
        return new.offset > previous.offset
    }
}
