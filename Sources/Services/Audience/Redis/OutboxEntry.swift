// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import PlazaModel
internal import RedisClient

/// One change to the leases, as stored in the partition's outbox, a stream in Redis.
///
/// The change is published once, in the Kafka transaction that commits the input that made the change. The entry is
/// deleted after this transaction has committed.
struct OutboxEntry {
    /// The number of the entry in the partition's outbox, in ascending order.
    var id: Int64
    /// The offset of the input that made the change.
    var offset: Int64
    var change: LeaseChange

    /// Reads an entry as XRANGE returns it: its id, then field names and values alternately.
    init?(_ reply: RedisReply) {
        guard let idAndFields = reply.elements, idAndFields.count == 2, let streamID = idAndFields[0].text,
            let id = Int64(streamID.prefix { $0 != "-" }),
            let fieldList = idAndFields[1].elements, fieldList.count % 2 == 0
        else { return nil }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: fieldList.count, by: 2) {
            guard let name = fieldList[index].text, let value = fieldList[index + 1].text else { return nil }
            fields[name] = value
        }
        // o: offset, k: kind, c: number of users, u and p: user and profile, v: live, and the flags f: first session,
        // r: other sessions replaced, n: renamed, l: last session. The head of each script lists its entries' fields.
        guard let offset = fields["o"].flatMap({ Int64($0) }), let kind = fields["k"] else { return nil }
        let count = fields["c"].flatMap { Int($0) } ?? 0
        let user = fields["u"].map { StoredProfile.user(UserID($0), fields["p"] ?? StoredProfile.empty) }
        let change: LeaseChange
        switch (kind, user) {
        case ("joined", _):
            change = .joined(
                isFirst: fields["f"] == "1", count: count, replacesOthers: fields["r"] == "1",
                isRenamed: fields["n"] == "1")
        case ("full", _): change = .full
        case ("void", _): change = .ticketVoid
        case ("left", .some(let user)): change = .left(user: user, isLast: fields["l"] == "1", count: count)
        case ("kicked", .some(let user)): change = .kicked(user: user, count: count)
        case ("back", .some(let user)): change = .returned(user: user, count: count)
        case ("renamed", _): change = .renamed
        case ("asserted", _): change = .asserted(count: count)
        case ("expired", .some(let user)):
            guard let live = fields["v"].flatMap({ LiveKey(text: $0) }) else { return nil }
            change = .expired(live: live, user: user, count: count)
        default: return nil
        }
        self.id = id
        self.offset = offset
        self.change = change
    }
}
