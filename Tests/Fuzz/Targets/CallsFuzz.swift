// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// A call's frame with its method and parameters, sent by a user and by an app's server.
public enum CallsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        guard let frame = try? CallFrame(input) else { return }
        for role in [CallerRole.user, .server] {
            let caller = Caller(
                user: UserInfo(userID: "alice", userName: "Alice"), role: role,
                request: RequestID(session: "s", counter: frame.id), replyTo: "gateway-1", ticket: Ticket(5))
            let parser = CallParser(app: "demo", caller: caller, in: "concert")
            do throws(ReplyError) {
                switch try parser.parse(frame) {
                case .join(_, let effect), .leave(_, let effect), .createAndJoin(_, let effect),
                    .forward(let effect, _):
                    let record = TopicRecord(effect)
                    _ = record.topic.partition(of: record.key)
                default: break
                }
            } catch {
                // The name of a code without a constant is `error` and its number.
                precondition(!error.code.name.hasPrefix("error"), "an error must have a code with a constant")
            }
        }
    }
}

extension PlazaTopic {
    /// The partition of a key among twelve.
    fileprivate func partition(of key: String) -> Int { Self.partition(of: key, among: 12) }
}
