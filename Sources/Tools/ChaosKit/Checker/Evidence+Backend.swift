// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The events of an excerpt that show what the app's backend received, and what it should have received.
extension Evidence.Event {
    /// A request, and how the backend answered it.
    init(_ request: BackendRequest) {
        let answer =
            switch request.answer {
            case .accepted: "accepts it"
            case .rejected: "rejects it"
            case .failed: "answers 500"
            case .late: "accepts it late"
            }
        let subject =
            switch request.content {
            case .event(let place, let event): "event \(place.id), \(event.content.evidenceText)"
            case .question(let question):
                "question \(question.id) about \(question.count) × \(question.gift.text) of \(question.sender)"
            case .malformed(let reason): "a request: \(reason)"
            }
        self.init(client: "the backend", live: request.live, message: "gets \(subject), and \(answer)", at: request.at)
    }

    /// An event that Kafka has.
    init(_ logged: BackendHistory.LoggedEvent) {
        self.init(
            client: FeedLogReader.client, live: logged.event.live,
            message: "has event \(logged.place.id), \(logged.event.content.evidenceText)", at: logged.event.at)
    }
}

extension WebhookContent {
    /// The event's name, and the fields in which events of this kind differ.
    fileprivate var evidenceText: String {
        let name = self.name.rawValue
        switch self {
        case .memberState(_, let cause, let users):
            return "\(name) \(cause.rawValue) of \(users.map(\.userID.text).joined(separator: ", "))"
        case .metadataSet(let values, _):
            let pairs = values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
            return "\(name) \(pairs.joined(separator: ", "))"
        case .seatsChanged(let seats):
            let users = seats.compactMap { $0.occupant?.user.userID.text }
            return "\(name): \(users.isEmpty ? "nobody" : users.joined(separator: ", "))"
        case .battleCreated(let battle, _, _, _, _, _, _), .battleStarted(let battle, _, _, _, _, _):
            return "\(name) \(battle.text)"
        case .battleEnded(let battle, let from, let to, _, _, _, _):
            let scores = ([from] + to).map { "\($0.live) \($0.score)" }.joined(separator: ", ")
            return "\(name) \(battle.text): \(scores)"
        default: return name
        }
    }
}
