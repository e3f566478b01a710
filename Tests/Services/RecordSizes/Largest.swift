// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Values that are as large in JSON as the limits allow.
///
/// JSON has two bytes for each `"`, so texts that may contain this character consist of it.
enum Largest {
    static let app = AppID(Self.word(0, bytes: 32))
    static let live = Self.live(0)
    static let key = LiveKey(Self.app, Self.live)
    static let policy: AppPolicy = {
        var policy = AppPolicy(
            feedBudget: 10_000, maxAdmins: 100, maxAudience: 100_000_000, maxBattleSeconds: 86_400,
            messagesPerUserPerSecond: 10_000)
        policy.hasWebhooks = true
        return policy
    }()
    static let policies = Policies([Self.app: Self.policy])
    /// The beginning of the year 3000; no earlier time has more digits.
    static let now = Timestamp(milliseconds: 32_503_680_000_000)
    /// An offset with the maximum number of digits that JSON readers represent exactly.
    static let offset: Int64 = 9_007_199_254_000_000

    /// An identifier of `bytes` bytes that ends with the index.
    static func word(_ index: Int, bytes: Int) -> String {
        let number = String(index)
        return String(repeating: "w", count: bytes - number.utf8.count) + number
    }
    static func user(_ index: Int) -> UserID { UserID(Self.word(index, bytes: 32)) }
    static func session(_ index: Int) -> SessionID { SessionID(Self.word(index, bytes: 80)) }
    /// Live ids may contain `"`.
    static func live(_ index: Int) -> LiveID {
        let number = String(index)
        return LiveID(String(repeating: "\"", count: 48 - number.utf8.count) + number)
    }
    /// A text for fields in which `"` is not allowed.
    static func plainText(bytes: Int) -> String { String(repeating: "p", count: bytes) }
    /// A text of `bytes` quotation marks, which has twice as many bytes in JSON.
    static func quotationMarks(bytes: Int) -> String { String(repeating: "\"", count: bytes) }

    /// The profile of a user, with the largest name and avatar URL.
    static func person(_ index: Int) -> UserInfo {
        UserInfo(
            userID: Self.user(index), userName: Self.plainText(bytes: Limits.userNameBytes),
            avatarURL: Self.plainText(bytes: Limits.urlBytes))
    }
    /// The caller of a call with this request counter; the session's index is that of the user unless one is given.
    static func caller(_ index: Int, counter: Int64, session: Int? = nil) -> Caller {
        Caller(
            user: Self.person(index), role: .user,
            request: RequestID(session: Self.session(session ?? index), counter: counter),
            replyTo: GatewayID(Self.word(0, bytes: 64)), ticket: Ticket(.max))
    }
    /// The app's server as the caller of a call with this request counter.
    static func server(counter: Int64) -> Caller {
        Caller(
            user: Self.person(0), role: .server, request: RequestID(session: Self.session(0), counter: counter),
            replyTo: GatewayID(Self.word(0, bytes: 64)))
    }

    static let changes = LiveChanges(
        liveName: Self.plainText(bytes: Limits.liveNameBytes), notice: Self.quotationMarks(bytes: Limits.noticeBytes),
        maxSeatCount: 50, seatTemplate: 70, coverURL: Self.plainText(bytes: Limits.urlBytes),
        backgroundURL: Self.plainText(bytes: Limits.urlBytes),
        categoryList: [.min, .min, .min], activityStatus: .min, maxMemberCount: 100_000_000)
    static let metadata = Dictionary(
        uniqueKeysWithValues: (0..<Limits.metadataKeys).map { index in
            (
                Self.quotationMarks(bytes: Limits.metadataKeyBytes - 1) + "\(index)",
                Self.quotationMarks(bytes: Limits.metadataTotalBytes / 10)
            )
        })
    static var info: LiveInfo {
        var info = LiveInfo(liveID: Self.live, liveOwner: Self.person(0), createTime: Self.now)
        info.liveName = Self.plainText(bytes: Limits.liveNameBytes)
        info.notice = Self.quotationMarks(bytes: Limits.noticeBytes)
        // A voice live has at most 50 seats.
        (info.maxSeatCount, info.seatTemplate) = (50, 70)
        info.coverURL = Self.plainText(bytes: Limits.urlBytes)
        info.backgroundURL = Self.plainText(bytes: Limits.urlBytes)
        (info.categoryList, info.activityStatus) = ([.min, .min, .min], .min)
        info.metaData = Self.metadata
        info.admins = (1...100).map { Self.user($0) }
        return info
    }
    /// A revocation fence with the maximum number of users.
    static let fence: RevocationFence = {
        var fence = RevocationFence()
        // One user more than the limit; the fence drops the first one.
        for index in 0...Limits.floorsPerLive {
            fence.raise(
                Self.user(index), to: Ticket(Self.offset + Int64(index)), reason: .byLoggedOnOtherDevice)
        }
        return fence
    }()

    /// A seat that is taken.
    static func seat(_ index: Int, of live: LiveID) -> Seat {
        Seat(
            index: index,
            occupant: SeatUser(
                user: Self.person(index), role: .generalUser, live: live, allowOpenMicrophone: false,
                allowOpenCamera: false, suspendStatus: .inBackground))
    }
    /// The taken seats of another live in a connection: as many as the largest video template has.
    static func seats(of live: LiveID) -> [Seat] {
        let maxSeats = SeatTemplate.all.filter { $0.kind == .video }.map(\.seats.upperBound).max() ?? 0
        return (0..<maxSeats).map { Self.seat($0, of: live) }
    }

    /// An app's settings with the largest word list, and without gifts.
    static let settings: AppSettings = {
        let words = (0..<AppLimits.words).map { index in
            // The words are distinct, and together have as many bytes as an app may have.
            Self.word(index, bytes: AppLimits.wordsTotalBytes / AppLimits.words)
        }
        return AppSettings(words: words, gifts: [])
    }()
}
