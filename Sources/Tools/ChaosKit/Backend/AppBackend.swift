// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import MachineKit
internal import PlazaModel

/// The demo app's backend in a chaos run: gets all events, decides about gifts, and now and then fails.
package final class AppBackend: Sendable {
    private struct State {
        var requests: [BackendRequest] = []
        /// How often each event or question was received, by its id.
        var attempts: [String: Int] = [:]
        /// Whether each request is answered well and at once.
        var isReliable = false
    }

    /// The secret that signs the requests.
    private static let secret = "the secret of a chaos run"
    /// How late a late answer is; the sender waits for 5 s.
    private static let lateness = Duration.seconds(6)
    /// How often one event or question may fail: far less often than the sender tries (8 times).
    private static let maxFailures = 2
    /// The code with which the backend rejects a gift.
    static let rejectionCode = ReplyCode(102_150)

    private let state: Locked<State>
    private let receiver: WebhookReceiver

    /// Starts to listen, and sets the app's webhooks in the options.
    ///
    /// - Parameter options: the options of a cluster that does not run yet.
    /// - Throws: an error if the backend cannot listen on a port.
    package init(for options: inout ClusterOptions) throws {
        let state = Locked(State())
        self.state = state
        self.receiver = try WebhookReceiver { request in
            let now = Timestamp.ofThisMachine
            let content = BackendRequest.read(
                headers: request.headers, body: request.body, secret: Self.secret, app: AppID(AppsFile.demoApp),
                at: now)
            // The answer is recorded before it is sent, so that what follows it comes after it in the history.
            let answer = state.withLock { state in
                let answer = Self.answer(content, &state)
                state.requests.append(BackendRequest(content, answer, at: now))
                return answer
            }
            return Self.behaviour(answer)
        }
        options.hooks = AppHooks(
            url: self.receiver.url, secret: Self.secret, before: AppHooks.BeforeHooks(gift: .refuse))
    }

    /// Stops to listen.
    package func stop() { self.receiver.stop() }

    /// Lets the backend fail now and then, or not.
    func setReliable(_ isReliable: Bool) { self.state.withLock { $0.isReliable = isReliable } }

    /// The requests so far about lives whose ids begin with `prefix`, and those that cannot be read and arrived since
    /// `start`.
    func requests(aboutLivesNamed prefix: String, since start: Timestamp) -> [BackendRequest] {
        self.state.withLock { $0.requests }.filter { request in
            request.live.map { $0.text.hasPrefix(prefix) } ?? (request.at >= start)
        }
    }

    /// Forgets what a round that is over needs no more: the requests about its lives, and those that came before it.
    ///
    /// Without this a long run would keep some hundred thousand requests.
    func forget(livesNamed prefix: String, until start: Timestamp) {
        self.state.withLock { state in
            state.requests.removeAll { request in
                request.at < start || request.live.map { $0.text.hasPrefix(prefix) } ?? false
            }
            state.attempts = [:]
        }
    }

    /// Decides how to answer: always in the same way about one id and attempt.
    private static func answer(_ content: BackendRequest.Content, _ state: inout State) -> BackendRequest.Answer {
        let id: String
        let isGiftRejected: Bool
        switch content {
        case .malformed: return .failed
        case .event(let place, _): (id, isGiftRejected) = (place.id, false)
        // Every seventh gift of a sender is rejected, whatever the attempt.
        case .question(let question): (id, isGiftRejected) = (question.id, question.count.isMultiple(of: 7))
        }
        let attempt = state.attempts[id, default: 0]
        state.attempts[id] = attempt + 1
        if !state.isReliable, attempt < Self.maxFailures {
            switch StableHash.of("\(id) \(attempt)") % 100 {
            case 0..<6: return .failed
            // A gift's answer that comes after the gateway's 2 s would only be another kind of failure.
            case 6 where id == content.eventID: return .late
            default: break
            }
        }
        return isGiftRejected ? .rejected : .accepted
    }

    private static func behaviour(_ answer: BackendRequest.Answer) -> WebhookReceiver.Behaviour {
        let acceptance = #"{"code": 0}"#
        return switch answer {
        case .accepted: .answer(200, acceptance)
        case .rejected: .answer(200, #"{"code": \#(Self.rejectionCode.code), "message": "not this time"}"#)
        case .failed: .answer(500, "")
        case .late: .answerLate(Self.lateness, 200, acceptance)
        }
    }
}

extension BackendRequest.Content {
    /// The id of an event; nil for anything else.
    fileprivate var eventID: String? { if case .event(let place, _) = self { place.id } else { nil } }
}
