// SPDX-License-Identifier: Apache-2.0
package import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// Sample records and feed items for the tests of this folder; ids and positions are arbitrary.
enum Sample {
    static let app = AppID("demo")
    /// The epoch of the lives and feeds, unless a test gives another one.
    static let epoch: Int64 = 10

    static func key(_ live: String) -> LiveKey { LiveKey(Self.app, LiveID(live)) }

    static func live(
        _ live: String, epoch: Int64 = Sample.epoch, revision: Int64 = 1, name: String = "", categories: [Int] = [],
        isVisible: Bool = true, ended: LiveEndReason? = nil, metaData: [String: String] = [:]
    ) -> LiveRecord {
        let info = LiveInfo(liveID: LiveID(live), liveOwner: UserInfo(userID: "anna")) {
            ($0.liveName, $0.isPublicVisible) = (name, isVisible)
            ($0.categoryList, $0.metaData) = (categories, metaData)
        }
        return LiveRecord(app: Self.app, info: info, epoch: epoch, revision: revision, ended: ended)
    }

    /// The viewer counts of a live; half of its `total` viewers are still there.
    static func count(_ live: String, total: Int, epoch: Int64 = Sample.epoch, at: Int64 = 1) -> CountRecord {
        CountRecord(
            app: Self.app, live: LiveID(live), epoch: epoch, count: total / 2, totalViewers: total,
            at: Timestamp(milliseconds: at))
    }

    /// A feed item of `size` bytes that was read at `at`, in milliseconds.
    static func item(
        _ number: Int64, _ feedClass: FeedClass = .barrage, at: Int64 = 0, offset: Int64? = nil, size: Int = 4
    ) -> EncodedFeedItem {
        EncodedFeedItem(
            number: number, feedClass: feedClass, readAt: MonotonicTime(milliseconds: at), offset: offset,
            bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size))
    }

    /// The caller bob with the request number `counter`.
    static func caller(_ counter: Int64 = 1) -> Caller {
        Caller(
            user: UserInfo(userID: "bob"), role: .user, request: RequestID(session: "s", counter: counter),
            replyTo: "gateway-1")
    }
}

// The tests of this folder write points in time as integers, in milliseconds.

extension Timestamp: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(milliseconds: value) }
}

extension MonotonicTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(milliseconds: value) }
}

/// The read model, which keeps the records of public topics in memory, and replies that wait for it.
///
/// A reply waits until the model has the revision of the record that the call has changed.
///
/// `apply` returns whether the record changed the model. `bufferIfPremature` returns whether the reply must wait and is
/// stored; `takeDue` removes and returns the stored replies that may be sent now.
@Suite struct ReadModelTests {
    @Test func `a record with an older or equal revision, or of an earlier live with the same id, changes nothing`() {
        var model = ReadModel()
        #expect(model.apply(Sample.live("arena", revision: 5, name: "five")) == true)
        #expect(model.apply(Sample.live("arena", revision: 5, name: "again")) == false)
        #expect(model.apply(Sample.live("arena", revision: 4, name: "four")) == false)
        #expect(model.details(Sample.key("arena"))?.info.liveName == "five")
        #expect(model.apply(Sample.live("arena", epoch: 11, revision: 1, name: "next live")) == true)
        #expect(model.apply(Sample.live("arena", epoch: 10, revision: 9)) == false)
        #expect(model.details(Sample.key("arena"))?.info.liveName == "next live")
    }

    /// Rules: R3.52.
    @Test func `an ended live cannot be read, although the model keeps its record until it is removed`() {
        var model = ReadModel()
        model.apply(Sample.live("arena"))
        model.apply(Sample.live("arena", revision: 2, ended: .endedByHost))
        #expect(model.details(Sample.key("arena")) == nil)
        #expect(model.count(Sample.key("arena")) == nil)
        #expect(model.stage(Sample.key("arena")) == nil)
        #expect(model.metadata(Sample.key("arena"), keys: []) == nil)
        #expect(model.live(Sample.key("arena")) != nil, "the model still has the record")
        model.removeLive(Sample.key("arena"))
        #expect(model.live(Sample.key("arena")) == nil)
    }

    /// Rules: R12.21.
    @Test func `an app's lives are counted until their records are removed, each once`() {
        var model = ReadModel()
        model.apply(Sample.live("arena"))
        model.apply(Sample.live("arena", revision: 2, name: "changed"))
        model.apply(Sample.live("bistro"))
        #expect(model.liveCount(of: Sample.app) == 2 && model.liveCount(of: "other") == 0)
        model.apply(Sample.live("arena", revision: 3, ended: .endedByHost))
        #expect(model.liveCount(of: Sample.app) == 2, "an ended live still takes memory")
        for _ in 0..<2 { model.removeLive(Sample.key("arena")) }
        model.removeLive(LiveKey("other", "bistro"))
        #expect(model.liveCount(of: Sample.app) == 1 && model.liveCount(of: "other") == 0)
        model.apply(Sample.live("arena", epoch: 11))
        #expect(model.liveCount(of: Sample.app) == 2)
    }

    @Test func `counts and stages of an earlier live with the same id, and older counts, are ignored`() {
        var model = ReadModel()
        // The live has epoch 20; epoch 10 is an earlier one.
        model.apply(Sample.live("arena", epoch: 20))
        model.apply(Sample.count("arena", total: 8, epoch: 10))
        model.apply(StageRecord(app: Sample.app, live: "arena", epoch: 10, revision: 1, seats: []))
        #expect(model.count(Sample.key("arena"))?.totalViewers == 0)
        #expect(model.stage(Sample.key("arena")) == .some(nil), "the live exists, but has no stage yet")
        // The second of these counts has an earlier time than the first.
        model.apply(Sample.count("arena", total: 2, epoch: 20, at: 9))
        model.apply(Sample.count("arena", total: 1, epoch: 20, at: 8))
        #expect(model.count(Sample.key("arena"))?.totalViewers == 2)
    }

    /// Rules: R3.46.
    @Test func `metadata is returned as a whole or by key, and never from another app`() {
        var model = ReadModel()
        model.apply(Sample.live("arena", metaData: ["x": "1", "y": "2"]))
        #expect(model.metadata(Sample.key("arena"), keys: []) == ["x": "1", "y": "2"])
        #expect(model.metadata(Sample.key("arena"), keys: ["y", "z"]) == ["y": "2"])
        #expect(model.metadata(LiveKey("other", "arena"), keys: []) == nil, "I17: another app's live")
    }

    @Test func `a reply is held back until the model has the required revision, but for at most 200 ms`() {
        // The reply may be sent when the live's record has revision 3.
        var model = ReadModel()
        var prematureReplies = PrematureReplies()
        let required = RequiredRevision(.rooms, "arena", revision: 3)
        let reply = Reply(to: Sample.caller(), app: Sample.app, .success(result: .done), required: required)
        #expect(prematureReplies.bufferIfPremature(reply, in: model, at: 1000) == true)
        #expect(prematureReplies.takeDue(in: model, at: 1199).isEmpty, "the model has no record of the live yet")
        model.apply(Sample.live("arena", revision: 3))
        #expect(prematureReplies.takeDue(in: model, at: 1199) == [reply])
        #expect(
            prematureReplies.bufferIfPremature(reply, in: model, at: 1200) == false,
            "the model has the revision, so the reply can be sent at once")

        // The model never gets the stage that this reply requires.
        let later = Reply(
            to: Sample.caller(), app: Sample.app, .success(result: .done),
            required: RequiredRevision(.stages, "arena", revision: 1))
        #expect(prematureReplies.bufferIfPremature(later, in: model, at: 2000) == true)
        #expect(prematureReplies.nextDeadline == 2200)
        #expect(prematureReplies.takeDue(in: model, at: 2200) == [later])
        #expect(prematureReplies.count == 0)
    }

    @Test func `I16 the number of replies that are held back is limited, and further ones are sent immediately`() {
        var prematureReplies = PrematureReplies()
        let reply = Reply(
            to: Sample.caller(), app: Sample.app, .success(result: .done),
            required: RequiredRevision(.rooms, "arena", revision: 3))
        for _ in 0..<PrematureReplies.maxReplies {
            #expect(prematureReplies.bufferIfPremature(reply, in: ReadModel(), at: 0) == true)
        }
        #expect(prematureReplies.bufferIfPremature(reply, in: ReadModel(), at: 0) == false)
    }
}
