// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import MachineKit
internal import PlazaModel

/// The demo app's backend in a chaos run: it receives the events of all lives, decides whether a gift may be sent, and
/// fails now and then.
package final class AppBackend: Sendable {
    private struct State {
        var requests: [BackendRequest] = []
        /// How often each event or question was received, by its id.
        var attempts: [String: Int] = [:]
        /// Whether no failed or late answer is given.
        var isReliable = false
    }

    /// The secret that signs the requests.
    private static let secret = "the secret of a chaos run"
    /// How late a late answer is; the sender waits for 5 s.
    private static let lateness = Duration.seconds(6)
    /// How often one event or question may fail or get a late answer; the sender tries 8 times.
    private static let maxFailures = 2
    /// The code with which the backend rejects a gift.
    static let rejectionCode = ReplyCode(102_150)

    private let state: Locked<State>
    private let receiver: WebhookReceiver

    /// Starts listening, and sets the app's webhooks in the options.
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
            // The request is recorded before it is answered, so that the sender's next request comes later in the
            // history.
            let answer = state.withLock { state in
                let answer = Self.chooseAnswer(to: content, &state)
                state.requests.append(BackendRequest(content, answer, at: now))
                return answer
            }
            return Self.behaviour(answer)
        }
        options.hooks = AppHooks(
            url: self.receiver.url, secret: Self.secret, before: AppHooks.BeforeHooks(gift: .refuse))
    }

    /// Stops listening.
    package func stop() { self.receiver.stop() }

    /// Sets whether the backend answers every request without failures and delays, or fails now and then.
    func setReliable(_ isReliable: Bool) { self.state.withLock { $0.isReliable = isReliable } }

    /// The requests so far about lives whose ids begin with `prefix`, and the malformed requests that arrived since
    /// `start`.
    func requests(aboutLivesNamed prefix: String, since start: Timestamp) -> [BackendRequest] {
        self.state.withLock { $0.requests }.filter { request in
            request.live.map { $0.text.hasPrefix(prefix) } ?? (request.at >= start)
        }
    }

    /// Forgets the requests of a round that is over: those about its lives, and all that arrived before `start`.
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

    /// Chooses the answer to a request, and counts the attempt; equal ids and attempts get equal answers.
    private static func chooseAnswer(
        to content: BackendRequest.Content, _ state: inout State
    ) -> BackendRequest.Answer {
        let id: String
        let isGiftRejected: Bool
        switch content {
        case .malformed: return .failed
        case .event(let place, _): (id, isGiftRejected) = (place.id, false)
        // A call whose number of gifts is a multiple of 7 is rejected, in every attempt.
        case .question(let question): (id, isGiftRejected) = (question.id, question.count.isMultiple(of: 7))
        }
        let attempt = state.attempts[id, default: 0]
        state.attempts[id] = attempt + 1
        if !state.isReliable, attempt < Self.maxFailures {
            switch StableHash.of("\(id) \(attempt)") % 100 {
            case 0..<6: return .failed
            // Only events get late answers. The gateway waits 2 s for the answer to a question, so a late one would be
            // just another failure.
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
