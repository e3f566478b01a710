// SPDX-License-Identifier: Apache-2.0
package import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// Sample records of the public topics.
enum Sample {
    static let app = AppID("demo")
    static func key(_ live: String) -> LiveKey { LiveKey(Self.app, LiveID(live)) }
    static func room(
        _ live: String, epoch: Int64 = 10, revision: Int64 = 1, name: String = "", categories: [Int] = [],
        isVisible: Bool = true, ended: LiveEndReason? = nil, metaData: [String: String] = [:]
    ) -> LiveRecord {
        let info = LiveInfo(liveID: LiveID(live), liveOwner: UserInfo(userID: "anna")) {
            ($0.liveName, $0.isPublicVisible) = (name, isVisible)
            ($0.categoryList, $0.metaData) = (categories, metaData)
        }
        return LiveRecord(app: Self.app, info: info, epoch: epoch, revision: revision, ended: ended)
    }
    static func count(_ live: String, total: Int, epoch: Int64 = 10, at: Int64 = 1) -> CountRecord {
        CountRecord(
            app: Self.app, live: LiveID(live), epoch: epoch, count: total / 2, totalViewers: total,
            at: Timestamp(milliseconds: at))
    }
    static func item(
        _ number: Int64, _ feedClass: FeedClass = .barrage, at: Int64 = 0, offset: Int64? = nil, size: Int = 4
    ) -> EncodedFeedItem {
        EncodedFeedItem(
            number: number, feedClass: feedClass, readAt: MonotonicTime(milliseconds: at), offset: offset,
            bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size))
    }
    static func caller(_ counter: Int64 = 1) -> Caller {
        Caller(
            user: UserInfo(userID: "bob"), role: .user, request: RequestID(session: "s", counter: counter),
            replyTo: "gateway-1")
    }
}

extension Timestamp: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(milliseconds: value) }
}

extension MonotonicTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(milliseconds: value) }
}

@Suite struct ReadModelTests {
    @Test func `an older or equal revision changes nothing`() {
        var model = ReadModel()
        #expect(model.apply(Sample.room("a", revision: 5, name: "five")) == true)
        #expect(model.apply(Sample.room("a", revision: 5, name: "again")) == false)
        #expect(model.apply(Sample.room("a", revision: 4, name: "four")) == false)
        #expect(model.details(Sample.key("a"))?.info.liveName == "five")
        #expect(model.apply(Sample.room("a", epoch: 11, revision: 1, name: "next live")) == true)
        #expect(model.apply(Sample.room("a", epoch: 10, revision: 9)) == false)
        #expect(model.details(Sample.key("a"))?.info.liveName == "next live")
    }

    /// Rules: R3.52.
    @Test func `an ended live and a live without a record cannot be read`() {
        var model = ReadModel()
        model.apply(Sample.room("a"))
        model.apply(Sample.room("a", revision: 2, ended: .endedByHost))
        #expect(model.details(Sample.key("a")) == nil)
        #expect(model.count(Sample.key("a")) == nil)
        #expect(model.stage(Sample.key("a")) == nil)
        #expect(model.metadata(Sample.key("a"), keys: []) == nil)
        #expect(model.live(Sample.key("a")) != nil)
        model.removeLive(Sample.key("a"))
        #expect(model.live(Sample.key("a")) == nil)
    }

    @Test func `counts and stages of an earlier live with the same name are ignored`() {
        var model = ReadModel()
        model.apply(Sample.room("a", epoch: 20))
        model.apply(Sample.count("a", total: 8, epoch: 10))
        model.apply(StageRecord(app: Sample.app, live: "a", epoch: 10, revision: 1, seats: []))
        #expect(model.count(Sample.key("a"))?.totalViewers == 0)
        #expect(model.stage(Sample.key("a")) == .some(nil))
        model.apply(Sample.count("a", total: 2, epoch: 20, at: 9))
        model.apply(Sample.count("a", total: 1, epoch: 20, at: 8))
        #expect(model.count(Sample.key("a"))?.totalViewers == 2)
    }

    /// Rules: R3.46.
    @Test func `metadata is returned in whole or by key, and never from another app`() {
        var model = ReadModel()
        model.apply(Sample.room("a", metaData: ["x": "1", "y": "2"]))
        #expect(model.metadata(Sample.key("a"), keys: []) == ["x": "1", "y": "2"])
        #expect(model.metadata(Sample.key("a"), keys: ["y", "z"]) == ["y": "2"])
        #expect(model.metadata(LiveKey("other", "a"), keys: []) == nil, "I17")
    }

    @Test func `a reply is buffered until the model has its revision, for at most 200 ms`() {
        var model = ReadModel()
        var held = AwaitedReplies()
        let required = RequiredRevision(.rooms, "a", revision: 3)
        let reply = Reply(to: Sample.caller(), app: Sample.app, .success(result: .done), required: required)
        #expect(held.canSend(reply, in: model, at: 1000) == false)
        #expect(held.release(in: model, at: 1199).isEmpty)
        model.apply(Sample.room("a", revision: 3))
        #expect(held.release(in: model, at: 1199) == [reply])
        #expect(held.canSend(reply, in: model, at: 1200) == true)
        let later = Reply(
            to: Sample.caller(), app: Sample.app, .success(result: .done),
            required: RequiredRevision(.stages, "a", revision: 1))
        #expect(held.canSend(later, in: model, at: 2000) == false)
        #expect(held.nextDeadline == 2200)
        #expect(held.release(in: model, at: 2200) == [later])
        #expect(held.count == 0)
    }

    @Test func `I16 the number of buffered replies is limited, and further ones are sent immediately`() {
        var held = AwaitedReplies()
        let reply = Reply(
            to: Sample.caller(), app: Sample.app, .success(result: .done),
            required: RequiredRevision(.rooms, "a", revision: 3))
        for _ in 0..<AwaitedReplies.limit { #expect(held.canSend(reply, in: ReadModel(), at: 0) == false) }
        #expect(held.canSend(reply, in: ReadModel(), at: 0) == true)
    }
}
