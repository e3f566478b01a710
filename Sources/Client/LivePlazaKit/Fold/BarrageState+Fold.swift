// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

extension BarrageState {
    /// The maximum number of messages in the list; when there are more, the oldest messages are dropped.
    static let maxMessages = 1000

    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        self.allowSendMessage = Self.maySend(context)
        if let message = Self.message(input, in: context.liveID) { self.insert(message) }
    }

    /// Inserts a message at its place in the list, and drops the oldest message beyond the maximum.
    mutating func insert(_ message: Barrage) {
        var index = self.messageList.count
        // A message of the history is inserted before the later messages. A local tip (a message that the app has added
        // for this client only) has no number and keeps its place.
        if !message.isLocal {
            while index > 0, !self.messageList[index - 1].isLocal,
                self.messageList[index - 1].sequence > message.sequence
            { index -= 1 }
        }
        self.messageList.insert(message, at: index)
        if self.messageList.count > Self.maxMessages { self.messageList.removeFirst() }
    }

    /// The message in an input; nil if the input is no message.
    private static func message(_ input: FoldInput, in live: LiveID) -> Barrage? {
        switch input {
        case .item(let entry):
            var message = Barrage()
            message.liveID = live.text
            message.sequence = Int(clamping: entry.n)
            message.timestampInSecond = Double(entry.at.milliseconds) / 1000
            switch entry.content {
            case .text(let sender, let text, let extensionInfo):
                message.sender = LiveUserInfo(sender)
                (message.textContent, message.extensionInfo) = (text, extensionInfo)
            case .custom(let sender, let businessID, let data):
                message.sender = LiveUserInfo(sender)
                (message.messageType, message.businessID, message.data) = (.custom, businessID, data)
            default: return nil
            }
            return message
        case .local(.tip(let message)): return message.localTip(in: live.text)
        default: return nil
        }
    }

    /// Whether the server would accept a message of this user.
    ///
    /// A host may always send. Other users may send if neither the whole live nor the user is muted.
    private static func maySend(_ context: FoldContext) -> Bool {
        let info = context.states.live.info
        let user = context.selfID.text
        if user == info.liveOwner.userID || info.admins.contains(user) { return true }
        return !info.isMessageDisable
            && !context.states.audience.messageBannedUserList.contains { $0.userID == user }
    }
}

extension Barrage {
    /// This message as a local tip of a live, which only this client shows.
    func localTip(in liveID: String) -> Barrage {
        var tip = self
        tip.liveID = liveID
        tip.isLocal = true
        return tip
    }
}
