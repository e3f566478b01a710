// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

/// The table of a gateway that counts connections, logins and calls, and admits them up to their limits.
///
/// Times are in milliseconds. A method `admit…OrReturnWait` returns nil if it admits the call, and otherwise how long
/// to wait until it would. `admitLoginOrReturnReason` returns nil if it admits the login, and otherwise the limit that
/// the login exceeds. `RateLimit(5)` is five calls a second: its bucket admits five calls at once, and then one call
/// every 200 ms.
@Suite struct AdmissionTableTests {
    private let bob = UserKey(AppID("demo"), UserID("bob"))

    /// A table with the default limits, which `change` may change; addresses are strings.
    private func table(
        connectionsPerApp: Int = 1000, _ change: (inout AdmissionLimits) -> Void = { _ in }
    ) -> AdmissionTable<String> {
        var limits = AdmissionLimits()
        change(&limits)
        return AdmissionTable(limits, connectionsPerApp: connectionsPerApp)
    }

    @Test func `I16 an address gets at most its limit of connections, and each ended connection frees a place`() {
        var table = self.table { $0.connectionsPerAddress = 2 }
        let admitted = ["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"].map { table.admitConnection(from: $0) }
        #expect(admitted == [true, true, false, true])
        table.removeConnection(from: "10.0.0.1")
        let admittedAfterEnd = ["10.0.0.1", "10.0.0.1"].map { table.admitConnection(from: $0) }
        #expect(admittedAfterEnd == [true, false])
    }

    @Test func `I16 a user gets at most its limit of connections, and a replaced connection does not count`() {
        var table = self.table { $0.connectionsPerUser = 2 }
        #expect(table.admitLoginOrReturnReason(self.bob, role: .user, isReplacing: false) == nil)
        #expect(table.admitLoginOrReturnReason(self.bob, role: .user, isReplacing: false) == nil)
        #expect(table.admitLoginOrReturnReason(self.bob, role: .user, isReplacing: false) == .connectionsPerUser)
        #expect(table.admitLoginOrReturnReason(self.bob, role: .user, isReplacing: true) == nil)
        // The replaced connection ends: bob has two connections, as before.
        table.removeLogin(self.bob, role: .user)
        #expect(table.admitLoginOrReturnReason(self.bob, role: .user, isReplacing: false) == .connectionsPerUser)
        #expect(
            table.admitLoginOrReturnReason(self.bob, role: .server, isReplacing: false) == nil,
            "servers have a limit of their own")
        let bobOfOtherApp = UserKey(AppID("other"), UserID("bob"))
        #expect(
            table.admitLoginOrReturnReason(bobOfOtherApp, role: .user, isReplacing: false) == nil,
            "a user of that name of another app is another user")
    }

    @Test func `I16 an app gets at most its share of the connections`() {
        var table = self.table(connectionsPerApp: 3)
        func key(_ app: String, _ user: Int) -> UserKey { UserKey(AppID(app), UserID("u\(user)")) }
        for user in 0..<3 {
            #expect(table.admitLoginOrReturnReason(key("demo", user), role: .user, isReplacing: false) == nil)
        }
        let newcomer = key("demo", 3)
        #expect(table.admitLoginOrReturnReason(newcomer, role: .user, isReplacing: false) == .connectionsPerApp)
        #expect(
            table.admitLoginOrReturnReason(newcomer, role: .server, isReplacing: false) == .connectionsPerApp,
            "the connections of servers count, too")
        #expect(table.admitLoginOrReturnReason(key("other", 0), role: .user, isReplacing: false) == nil)
        table.removeLogin(key("demo", 0), role: .user)
        #expect(table.admitLoginOrReturnReason(newcomer, role: .user, isReplacing: false) == nil)
    }

    /// Rules: R12.14.
    @Test func `I16 the servers of an app share one limit of connections, whatever names their tokens have`() {
        var table = self.table { $0.serverConnections = 2 }
        func key(_ app: String, _ name: String) -> UserKey { UserKey(AppID(app), UserID(name)) }
        func admitServer(_ key: UserKey, isReplacing: Bool = false) -> RefusalReason? {
            table.admitLoginOrReturnReason(key, role: .server, isReplacing: isReplacing)
        }
        #expect(admitServer(key("demo", "shop")) == nil)
        #expect(admitServer(key("demo", "jobs")) == nil)
        #expect(admitServer(key("demo", "third")) == .serverConnections)
        #expect(admitServer(key("demo", "shop"), isReplacing: true) == nil)
        // The replaced connection ends: the app has two connections, as before.
        table.removeLogin(key("demo", "shop"), role: .server)
        #expect(admitServer(key("other", "shop")) == nil, "another app's servers have a limit of their own")
        #expect(
            table.admitLoginOrReturnReason(key("demo", "shop"), role: .user, isReplacing: false) == nil,
            "a user with a server's name is no server")
        table.removeLogin(key("demo", "shop"), role: .user)
        #expect(admitServer(key("demo", "third")) == .serverConnections, "a user's connection frees no server's place")
        table.removeLogin(key("demo", "shop"), role: .server)
        #expect(admitServer(key("demo", "third")) == nil)
    }

    /// Rules: R12.14.
    @Test func `the servers of an app share their rates, and those of another app have their own`() {
        var table = self.table { limits in
            limits.serverLogins = RateLimit(2, per: .seconds(60))
            limits.serverCalls = RateLimit(5)
            limits.serverReads = RateLimit(40)
        }
        let (demo, other) = (AppID("demo"), AppID("other"))
        #expect(table.admitServerCallOrReturnWait(.login, of: demo, at: 0) == nil)
        #expect(table.admitServerCallOrReturnWait(.login, of: demo, at: 0) == nil)
        #expect(
            table.admitServerCallOrReturnWait(.login, of: demo, at: 0) == .seconds(30),
            "two logins a minute: one each 30 s")

        #expect(table.admitServerCallOrReturnWait(.call, of: demo, at: 0) == nil)
        #expect(table.admitServerCallOrReturnWait(.call, of: demo, counting: 4, at: 0) == nil)
        #expect(table.admitServerCallOrReturnWait(.call, of: demo, at: 0) == Milliseconds(200))
        #expect(table.admitServerCallOrReturnWait(.call, of: other, at: 0) == nil)

        for _ in 0..<2 { #expect(table.admitServerCallOrReturnWait(.read, of: demo, counting: 20, at: 0) == nil) }
        #expect(
            table.admitServerCallOrReturnWait(.read, of: demo, at: 0) == Milliseconds(25),
            "40 reads a second: one each 25 ms")
        #expect(
            table.admitCallOrReturnWait(.login, of: UserKey(demo, UserID("shop")), at: 0) == nil,
            "users have their own rates")
    }

    /// Rules: R12.8.
    @Test func `a page of the list costs a user one read for each 20 entries, and a rejected page its first read`() {
        let counts = [-1, 0, 1, 20, 21, 40, 41, 50, .max].map { MeteredCall.readCount(ofPageWith: $0) }
        #expect(counts == [1, 1, 1, 1, 2, 2, 3, 3, 3])
        // Four reads at once, and then one each second.
        var table = self.table { $0.reads = RateLimit(4, per: .seconds(4)) }
        let bob = self.bob
        /// Counts a page as the gateway does: first as a read, then by its size.
        func admitOrReturnWait(_ entries: Int, at now: MonotonicTime) -> Milliseconds? {
            table.admitCallOrReturnWait(.read, of: bob, at: now)
                ?? table.admitPageOrReturnWait(with: entries, of: bob, at: now)
        }
        #expect(admitOrReturnWait(20, at: 0) == nil && admitOrReturnWait(50, at: 0) == nil, "one read and three reads")
        #expect(admitOrReturnWait(1, at: 0) == .seconds(1), "the four reads are used up")
        // Two seconds later two reads are available. The rejected page takes one of them as its first read, so one is
        // left. The repeated call needs three reads, so it must wait two seconds for two more.
        #expect(admitOrReturnWait(50, at: 2000) == .seconds(2))
        #expect(admitOrReturnWait(50, at: 4000) == nil)
    }

    /// Rules: R12.8.
    @Test func `a page that costs more reads than the bucket holds is admitted if the bucket was full`() {
        var table = self.table { $0.reads = RateLimit(1) }
        #expect(table.admitCallOrReturnWait(.read, of: self.bob, at: 0) == nil)
        #expect(table.admitPageOrReturnWait(with: 50, of: self.bob, at: 0) == nil)
    }

    /// Rules: R12.14.
    @Test(arguments: [("live.list", 20), ("live.get", 1), ("audience.list", 1), ("live.end", nil), ("ping", nil)])
    func `a server's page of the list of lives counts as twenty reads, any other read as one`(
        method: String, count: Int?
    ) {
        #expect(ServerCall.readCount(method: method) == count)
    }

    /// Rules: R12.14.
    @Test func `a server's rejected call that names many users is admitted after the wait that its rejection names`() {
        var table = self.table { $0.serverCalls = RateLimit(5) }
        let demo = AppID("demo")
        /// Counts a call as the gateway does: once, and then for its further users; returns how long a rejected call
        /// must wait.
        func ban(_ userCount: Int, at now: MonotonicTime) -> Milliseconds? {
            table.admitServerCallOrReturnWait(.call, of: demo, at: now)
                ?? table.admitServerCallOrReturnWait(naming: userCount, of: demo, at: now)
        }
        #expect(ban(3, at: 0) == nil)
        // Two of the five calls are left. The rejected ban takes one of them. Its repetition needs three calls, so it
        // waits for two more: 2 * 200 ms = 400 ms.
        #expect(ban(3, at: 0) == Milliseconds(400))
        #expect(ban(3, at: 400) == nil)
        // No call is left, so the ban is rejected before its users are counted.
        #expect(ban(20, at: 400) == Milliseconds(200))
        // 200 ms later one call is available, and the rejected ban takes it. Twenty users count as the whole bucket of
        // five calls, which is full after 5 * 200 ms = 1000 ms.
        #expect(ban(20, at: 600) == Milliseconds(1000))
        #expect(ban(20, at: 1_600) == nil)
    }

    @Test func `I16 the users of one app cannot fill the table of rates of another app`() {
        var table = self.table()
        var rejectedCount = 0
        // One user more than the app's table has room for.
        for number in 0...AdmissionTable<String>.maxBuckets {
            let user = UserKey(AppID("demo"), UserID("u\(number)"))
            if table.admitCallOrReturnWait(.login, of: user, at: 0) != nil { rejectedCount += 1 }
        }
        #expect(rejectedCount == 1, "the app's table has no room for the last user")
        #expect(
            table.admitCallOrReturnWait(.login, of: UserKey(AppID("other"), UserID("bob")), at: 0) == nil,
            "another app's table has room")
        #expect(table.admitHandshakeOrReturnWait(from: "10.0.0.1", at: 0) == nil, "the table of addresses has room")
    }

    /// Rules: R12.8.
    @Test func `one user's joins of one live are limited, so that a user cannot inflate the live's total of viewers`() {
        var table = self.table()
        var joinCount = 0
        // Bob tries to join once a second, for an hour.
        for second in 0..<3600 {
            let now = MonotonicTime(milliseconds: Int64(second) * 1_000)
            if table.admitCallOrReturnWait(.membership, of: self.bob, at: now) == nil,
                table.admitCallOrReturnWait(.join(LiveID("arena")), of: self.bob, at: now) == nil
            {
                joinCount += 1
            }
        }
        #expect(joinCount <= 30 * 61, "30 joins in each of 60 minutes, and a full bucket of 30 at the beginning")

        let now: MonotonicTime = 3_600_000
        #expect(
            table.admitCallOrReturnWait(.join(LiveID("bistro")), of: self.bob, at: now) == nil,
            "another live has its own rate")
        #expect(
            table.admitCallOrReturnWait(.join(LiveID("arena")), of: UserKey(AppID("demo"), UserID("eve")), at: now)
                == nil,
            "another user has its own rate")
    }

    @Test func `each kind of call has its own rate`() {
        var table = self.table { limits in
            limits.gifts = RateLimit(2)
            limits.reads = RateLimit(3)
        }
        for _ in 0..<2 { #expect(table.admitCallOrReturnWait(.gift, of: self.bob, at: 0) == nil) }
        #expect(
            table.admitCallOrReturnWait(.gift, of: self.bob, at: 0) == Milliseconds(500),
            "two a second: one each 500 ms")
        for _ in 0..<3 { #expect(table.admitCallOrReturnWait(.read, of: self.bob, at: 0) == nil) }
        #expect(table.admitCallOrReturnWait(.read, of: self.bob, at: 0) != nil)
        #expect(table.admitCallOrReturnWait(.deviceChange, of: self.bob, at: 0) == nil)
        #expect(table.admitCallOrReturnWait(.gift, of: self.bob, at: 500) == nil)
        #expect(table.admitHandshakeOrReturnWait(from: "10.0.0.1", at: 0) == nil)
    }

    /// Rules: R12.8.
    @Test func `a sanction of many users counts once for each user, but never more than the whole bucket`() {
        var table = self.table { $0.sanctions = RateLimit(10) }
        #expect(table.admitCallOrReturnWait(.sanction, of: self.bob, counting: 4, at: 0) == nil)
        #expect(table.admitCallOrReturnWait(.sanction, of: self.bob, counting: 6, at: 0) == nil)
        // The bucket is empty now, and full again after a second. 20 users count as the whole bucket of 10.
        #expect(table.admitCallOrReturnWait(.sanction, of: self.bob, counting: 20, at: 0) == Milliseconds(1000))
        #expect(table.admitCallOrReturnWait(.sanction, of: self.bob, counting: 20, at: 999) == Milliseconds(1))
        #expect(table.admitCallOrReturnWait(.sanction, of: self.bob, counting: 20, at: 1_000) == nil)
        #expect(table.admitCallOrReturnWait(.sanction, of: self.bob, at: 1_000) == Milliseconds(100))
    }

    @Test(
        arguments: [
            ("live.join", .membership), ("live.leave", .membership), ("live.create", .creation), ("live.end", nil),
            ("gift.send", .gift),
            ("seat.device", .deviceChange),
            ("gift.list", .read), ("live.bans", .read), ("live.mutes", .read), ("audience.kick", .sanction),
            ("live.list", .read), ("barrage.sendText", nil), ("ping", nil), ("nothing", nil),
        ] as [(String, MeteredCall?)])
    func `a method is metered as its kind of call, or not at all`(method: String, kind: MeteredCall?) {
        #expect(MeteredCall(method: method) == kind)
    }
}
