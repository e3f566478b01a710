// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel

/// Values that have as many bytes in JSON as the limits allow.
///
/// JSON writes a quotation mark as two bytes, `\"`. So texts that may contain quotation marks are made of them.
enum Largest {
    static let app = AppID(Self.word(0, bytes: 32))
    static let live = Self.live(0)
    static let key = LiveKey(Self.app, Self.live)
    /// A policy with the largest numbers that an app may choose.
    static let policy: AppPolicy = {
        var policy = AppPolicy(
            feedBudget: 10_000, maxAdmins: 100, maxAudience: 100_000_000, maxBattleSeconds: 86_400,
            messagesPerUserPerSecond: 10_000)
        policy.hasWebhooks = true
        return policy
    }()
    static let policies = Policies([Self.app: Self.policy])
    /// The beginning of the year 3000, whose milliseconds have more digits than those of today.
    static let now = Timestamp(milliseconds: 32_503_680_000_000)
    /// An offset with as many digits as the largest integer that JSON readers represent exactly.
    static let offset: Int64 = 9_007_199_254_000_000

    /// An identifier of `bytes` bytes: the letter `w` repeated, then the index.
    static func word(_ index: Int, bytes: Int) -> String {
        let number = String(index)
        return String(repeating: "w", count: bytes - number.utf8.count) + number
    }
    static func user(_ index: Int) -> UserID { UserID(Self.word(index, bytes: 32)) }
    static func session(_ index: Int) -> SessionID { SessionID(Self.word(index, bytes: 80)) }
    /// The id of a live; such ids may contain quotation marks.
    static func live(_ index: Int) -> LiveID {
        let number = String(index)
        return LiveID(String(repeating: "\"", count: 48 - number.utf8.count) + number)
    }
    /// A text without characters that JSON must escape: `bytes` is its size in JSON, too.
    static func unescapedText(bytes: Int) -> String { String(repeating: "p", count: bytes) }
    /// A text of `bytes` quotation marks, which has twice as many bytes in JSON.
    static func quotationMarks(bytes: Int) -> String { String(repeating: "\"", count: bytes) }

    /// The profile of a user, with the largest name and avatar URL.
    static func profile(_ index: Int) -> UserInfo {
        UserInfo(
            userID: Self.user(index), userName: Self.unescapedText(bytes: Limits.userNameBytes),
            avatarURL: Self.unescapedText(bytes: Limits.urlBytes))
    }
    /// The caller of a call with this request counter; without `session`, the session has the index of the user.
    static func caller(_ index: Int, counter: Int64, session: Int? = nil) -> Caller {
        Caller(
            user: Self.profile(index), role: .user,
            request: RequestID(session: Self.session(session ?? index), counter: counter),
            replyTo: GatewayID(Self.word(0, bytes: 64)), ticket: Ticket(.max))
    }
    /// The app's server as the caller of a call with this request counter.
    static func server(counter: Int64) -> Caller {
        Caller(
            user: Self.profile(0), role: .server, request: RequestID(session: Self.session(0), counter: counter),
            replyTo: GatewayID(Self.word(0, bytes: 64)))
    }

    /// A create or update that names every field of a live.
    static let changes = LiveChanges(
        liveName: Self.unescapedText(bytes: Limits.liveNameBytes),
        notice: Self.quotationMarks(bytes: Limits.noticeBytes),
        // Template 70 is one of the voice templates, which have at most 50 seats.
        maxSeatCount: 50, seatTemplate: 70, coverURL: Self.unescapedText(bytes: Limits.urlBytes),
        backgroundURL: Self.unescapedText(bytes: Limits.urlBytes),
        categoryList: [.min, .min, .min], activityStatus: .min, maxMemberCount: 100_000_000)
    /// As many keys as a live may have; their values together have as many bytes as metadata may have.
    static let metadata: [String: String] = {
        var metadata: [String: String] = [:]
        for index in 0..<Limits.metadataKeys {
            let key = Self.quotationMarks(bytes: Limits.metadataKeyBytes - 1) + "\(index)"
            metadata[key] = Self.quotationMarks(bytes: Limits.metadataTotalBytes / Limits.metadataKeys)
        }
        return metadata
    }()
    /// The info of a live with `changes`, `metadata` and 100 admins.
    static var info: LiveInfo {
        var info = LiveInfo(liveID: Self.live, liveOwner: Self.profile(0), createTime: Self.now)
        info.liveName = Self.unescapedText(bytes: Limits.liveNameBytes)
        info.notice = Self.quotationMarks(bytes: Limits.noticeBytes)
        (info.maxSeatCount, info.seatTemplate) = (50, 70)
        info.coverURL = Self.unescapedText(bytes: Limits.urlBytes)
        info.backgroundURL = Self.unescapedText(bytes: Limits.urlBytes)
        (info.categoryList, info.activityStatus) = ([.min, .min, .min], .min)
        info.metaData = Self.metadata
        info.admins = (1...Self.policy.maxAdmins).map { Self.user($0) }
        return info
    }
    /// A revocation fence with the maximum number of users.
    static let fence: RevocationFence = {
        var fence = RevocationFence()
        // One user more than the limit; the fence drops the first one.
        for index in 0...Limits.floorsPerLive {
            fence.raiseFloor(
                of: Self.user(index), to: Ticket(Self.offset + Int64(index)), reason: .byLoggedOnOtherDevice)
        }
        return fence
    }()

    /// A seat that is taken.
    static func seat(_ index: Int, of live: LiveID) -> Seat {
        Seat(
            index: index,
            occupant: SeatUser(
                user: Self.profile(index), role: .generalUser, live: live, allowOpenMicrophone: false,
                allowOpenCamera: false, suspendStatus: .inBackground))
    }
    /// The taken seats of another live in a connection: as many as the largest video template has.
    static func seats(of live: LiveID) -> [Seat] {
        let maxSeats = SeatTemplate.all.filter { $0.kind == .video }.map(\.seats.upperBound).max() ?? 0
        return (0..<maxSeats).map { Self.seat($0, of: live) }
    }

    /// An app's settings with as many and as long words as the word filter may have, and without gifts.
    static let settings: AppSettings = {
        let words = (0..<AppLimits.words).map { index in
            // The words are distinct, and together have as many bytes as an app may have.
            Self.word(index, bytes: AppLimits.wordsTotalBytes / AppLimits.words)
        }
        return AppSettings(words: words, gifts: [])
    }()
}
