// SPDX-License-Identifier: Apache-2.0
public import LivePlazaKit
internal import PlazaModel
internal import PlazaWire

/// A user of a simulated cluster; the test makes the user's calls, and the user does nothing by itself.
///
/// The user is connected as long as the cluster exists, and does not retain the cluster. Simulated delays and faults do
/// not apply to the user. Each method returns when the server has answered the call.
public final class ScriptedUser: Sendable {
    /// The user's id.
    public let userID: String
    private weak let cluster: SimulatedCluster?
    /// The number of the user's connection in the cluster.
    private let connection: Int
    /// The replies that the user has received, until `call` takes them.
    private let inbox: ScriptedInbox
    private let lastCallID = Locked<Int64>(0)

    init(_ userID: String, token: String, on cluster: SimulatedCluster) throws(ErrorInfo) {
        self.userID = userID
        self.cluster = cluster
        let inbox = ScriptedInbox()
        self.inbox = inbox
        self.connection = cluster.connectScripted { inbox.frameReceived($0) }
        try self.call("login", ["token": .text(token)])
    }

    // MARK: Lives

    /// Creates a live that this user owns, and enters it.
    public func createLive(_ liveID: String, name: String = "", categories: [Int] = []) throws(ErrorInfo) {
        let params: [String: JSONValue] = [
            "live": .text(liveID), "liveName": .text(name), "join": true,
            "categoryList": .array(categories.map { .integer(Int64($0)) }),
        ]
        try self.call("live.create", params)
    }

    /// Enters a live.
    public func joinLive(_ liveID: String) throws(ErrorInfo) { try self.call("live.join", ["live": .text(liveID)]) }

    /// Leaves a live.
    public func leaveLive(_ liveID: String) throws(ErrorInfo) { try self.call("live.leave", ["live": .text(liveID)]) }

    /// Ends a live that this user owns.
    public func endLive(_ liveID: String) throws(ErrorInfo) { try self.call("live.end", ["live": .text(liveID)]) }

    /// Removes a user from a live of which this user is the owner or an admin.
    public func kick(_ userID: String, from liveID: String) throws(ErrorInfo) {
        try self.call("audience.kick", ["live": .text(liveID), "user": .text(userID)])
    }

    /// Makes a user an admin of a live that this user owns.
    public func setAdmin(_ userID: String, in liveID: String) throws(ErrorInfo) {
        try self.call("admin.set", ["live": .text(liveID), "user": .text(userID)])
    }

    // MARK: Messages

    /// Sends a text to a live.
    public func say(_ text: String, in liveID: String) throws(ErrorInfo) {
        try self.call("barrage.sendText", ["live": .text(liveID), "text": .text(text)])
    }

    /// Sends `count` gifts of one kind to a live.
    public func sendGift(_ giftID: String, count: Int = 1, in liveID: String) throws(ErrorInfo) {
        let params: [String: JSONValue] = [
            "live": .text(liveID), "gift": .text(giftID), "count": .integer(Int64(count)),
        ]
        try self.call("gift.send", params)
    }

    /// Sends likes to a live.
    public func like(_ count: Int = 1, in liveID: String) throws(ErrorInfo) {
        try self.call("like.send", ["live": .text(liveID), "count": .integer(Int64(count))])
    }

    // MARK: Seats

    /// Applies for a seat.
    ///
    /// - Parameters:
    ///   - seatIndex: The seat; −1 for any.
    ///   - timeout: How many seconds the application stays open.
    ///   - liveID: The live.
    /// - Throws: The server's error.
    public func applyForSeat(_ seatIndex: Int = -1, timeout: Int = 30, in liveID: String) throws(ErrorInfo) {
        let params: [String: JSONValue] = [
            "seatIndex": .integer(Int64(seatIndex)), "timeout": .integer(Int64(timeout)),
        ]
        try self.callSeat("apply", liveID, params)
    }

    /// Accepts or rejects the application of a user.
    public func answerApplication(of userID: String, accept: Bool, in liveID: String) throws(ErrorInfo) {
        try self.callSeat(accept ? "acceptApplication" : "rejectApplication", liveID, ["user": .text(userID)])
    }

    /// Invites a user to the seat `seatIndex` (−1: to any); the invitation stays open for `timeout` seconds.
    public func invite(_ userID: String, seatIndex: Int = -1, timeout: Int = 30, in liveID: String) throws(ErrorInfo) {
        let params: [String: JSONValue] = [
            "user": .text(userID), "seatIndex": .integer(Int64(seatIndex)), "timeout": .integer(Int64(timeout)),
        ]
        try self.callSeat("invite", liveID, params)
    }

    /// Accepts or rejects the invitation by a user.
    public func answerInvitation(of inviterID: String, accept: Bool, in liveID: String) throws(ErrorInfo) {
        try self.callSeat(accept ? "acceptInvitation" : "rejectInvitation", liveID, ["user": .text(inviterID)])
    }

    /// Takes a free seat of a live whose seats need no application.
    public func takeSeat(_ seatIndex: Int, in liveID: String) throws(ErrorInfo) {
        try self.callSeat("take", liveID, ["seatIndex": .integer(Int64(seatIndex))])
    }

    /// Leaves the user's seat.
    public func leaveSeat(in liveID: String) throws(ErrorInfo) { try self.callSeat("leave", liveID, [:]) }

    // MARK: Co-hosts and battles

    /// Invites other lives to a co-host connection with the user's live `liveID`; the request stays open for `timeout`
    /// seconds.
    public func requestCoHost(_ liveIDs: [String], timeout: Int = 30, from liveID: String) throws(ErrorInfo) {
        let params: [String: JSONValue] = [
            "live": .text(liveID), "to": .array(liveIDs.map { .text($0) }), "timeout": .integer(Int64(timeout)),
        ]
        try self.call("cohost.request", params)
    }

    /// Accepts or rejects the co-host request of another live.
    public func answerCoHost(of inviterLiveID: String, accept: Bool, in liveID: String) throws(ErrorInfo) {
        let method = accept ? "cohost.accept" : "cohost.reject"
        try self.call(method, ["live": .text(liveID), "inviter": .text(inviterLiveID)])
    }

    /// Begins a battle with connected lives, whose owners need not accept.
    ///
    /// - Returns: The battle's id.
    @discardableResult
    public func startBattle(with liveIDs: [String], seconds: Int = 60, in liveID: String) throws(ErrorInfo) -> String {
        let params: [String: JSONValue] = [
            "live": .text(liveID), "to": .array(liveIDs.map { .text($0) }), "duration": .integer(Int64(seconds)),
            "needResponse": false,
        ]
        // The result is `{"battle":{"battle":id,…}}`: the kind of the result, then the field with the id.
        guard case .text(let battle)? = try self.call("battle.request", params).members["battle"]?.members["battle"]
        else { throw ErrorInfo(code: ReplyCode.internalError.code, message: "the answer names no battle") }
        return battle
    }

    // MARK: Any call

    /// Makes any call of the protocol, with parameters in JSON.
    ///
    /// - Parameters:
    ///   - method: A method of PROTOCOL.md, section 5.
    ///   - json: An object with its parameters.
    /// - Returns: The JSON of the result.
    /// - Throws: The server's error; `timedOut` if the server did not answer, because a service is stopped.
    @discardableResult
    public func call(_ method: String, json: String) throws(ErrorInfo) -> String {
        guard let value = try? Wire.decode(JSONValue.self, from: Array(json.utf8)), case .object(let params) = value
        else { throw ErrorInfo(code: ReplyCode.badParameter.code, message: "the parameters are no JSON object") }
        return String(decoding: Wire.encode(try self.call(method, params)), as: UTF8.self)
    }

    @discardableResult
    func call(_ method: String, _ params: [String: JSONValue]) throws(ErrorInfo) -> JSONValue {
        guard let cluster else {
            throw ErrorInfo(code: ReplyCode.unavailable.code, message: "the cluster does not exist any more")
        }
        let id = self.lastCallID.withLock { id in
            id += 1
            return id
        }
        let frame: JSONValue = ["id": .integer(id), "method": .text(method), "params": .object(params)]
        cluster.perform { $0.textReceived(Wire.encode(frame), from: self.connection) }
        // `perform` has handled everything that follows the call, so a running service has already answered.
        guard let reply = self.inbox.takeReply(id) else {
            let message = "\(method) was not answered; a service is stopped"
            throw ErrorInfo(code: ReplyCode.timedOut.code, message: message)
        }
        if let error = reply["error"]?.members {
            guard case .integer(let code)? = error["code"], case .text(let message)? = error["message"] else {
                throw ErrorInfo(code: ReplyCode.internalError.code, message: "\(method) failed without a code")
            }
            throw ErrorInfo(code: Int(code), message: message)
        }
        return reply["result"] ?? .null
    }

    /// Whether the user is in a live; nil while a call of the user waits for a stopped service, or without a cluster.
    func isInLive(_ liveID: String) -> Bool? {
        var answer: Bool?
        self.cluster?.perform { answer = $0.isInLive(self.connection, LiveID(liveID)) }
        return answer
    }

    private func callSeat(_ method: String, _ liveID: String, _ params: [String: JSONValue]) throws(ErrorInfo) {
        var params = params
        params["live"] = .text(liveID)
        try self.call("seat.\(method)", params)
    }
}

extension SimulatedCluster {
    /// Creates and logs in a user whose calls are made by the test.
    ///
    /// - Throws: `tokenInvalid` if `userID` is not a valid id.
    public func user(_ userID: String, userName: String? = nil) throws(ErrorInfo) -> ScriptedUser {
        let token = self.token(userID, userName: userName, validFor: Self.scriptedTokenLifetime)
        return try ScriptedUser(userID, token: token, on: self)
    }

    /// Creates a user that acts as the app's backend: it can set gifts, filtered words and scores of battles, and need
    /// not join a live.
    public func backend() throws(ErrorInfo) -> ScriptedUser {
        try ScriptedUser("backend", token: self.serverToken(), on: self)
    }

    /// About 115 days, so that no test outlasts the login of a scripted user.
    private static var scriptedTokenLifetime: Duration { .seconds(10_000_000) }
}
