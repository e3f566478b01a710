// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of how webhooks reach the app's backend.
///
/// After something has happened, the backend gets an event (WEBHOOKS.md, section 2). Before a gift is sent, it gets a
/// question (WEBHOOKS.md, section 4). An event is taken when the backend has accepted it, even late. The place of an
/// event is its partition and offset in the topic `webhooks`, from which its id is formed.
extension HistoryChecker {
    /// Checks that each request to the backend had a valid signature, time and form (R14.1).
    static func checkRequestForms(_ history: RoundHistory) -> [Finding] {
        (history.backend?.requests ?? []).compactMap { request in
            guard case .malformed(let reason) = request.content else { return nil }
            return Finding(promise: "R14.1", text: "the backend got a request that it must reject: \(reason)")
        }
    }

    /// Checks that each live's events came in the order of their places, each only after the earlier ones were taken
    /// (R14.3, R14.5).
    static func checkDeliveryOrder(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        // The events of each live so far, each with whether it was taken.
        var deliveries: [LiveID: [EventPlace: Bool]] = [:]
        for request in history.backend?.requests ?? [] {
            guard case .event(let place, let event) = request.content else { continue }
            let earlier = deliveries[event.live, default: [:]]
            if earlier[place] == nil {
                if let highest = earlier.keys.max(), highest > place {
                    findings.append(
                        Finding(
                            promise: "R14.3",
                            text: "event \(place.id) of \(event.live) came to the backend after \(highest.id)"))
                }
                if let open = earlier.filter({ !$0.value && $0.key < place }).keys.min() {
                    findings.append(
                        Finding(
                            promise: "R14.5",
                            text: "event \(place.id) of \(event.live) came before \(open.id) was taken"))
                }
            }
            let isTaken = request.answer == .accepted || request.answer == .late
            deliveries[event.live, default: [:]][place] = earlier[place] == true || isTaken
        }
        return findings
    }

    /// Checks that the backend took each event that Kafka has, that each repetition of an event had the same content,
    /// and that no other event came (R14.5).
    static func checkDeliveries(_ history: RoundHistory) -> [Finding] {
        guard let backend = history.backend else { return [] }
        var findings: [Finding] = []
        var received: [EventPlace: (event: WebhookEvent, isTaken: Bool)] = [:]
        for request in backend.requests {
            guard case .event(let place, let event) = request.content else { continue }
            if let first = received[place]?.event, first != event {
                let text = "event \(place.id) of \(first.live) came again with another content"
                findings.append(Finding(promise: "R14.5", text: text))
            }
            let isTaken = request.answer == .accepted || request.answer == .late
            received[place] = (received[place]?.event ?? event, received[place]?.isTaken == true || isTaken)
        }
        for (place, delivery) in received.sorted(by: { $0.key < $1.key }) where !delivery.isTaken {
            findings.append(
                Finding(promise: "R14.5", text: "\(Self.name(delivery.event, place)) failed, and did not come again"))
        }
        let logged = Dictionary(backend.log.map { ($0.place, $0.event) }) { first, _ in first }
        // An empty log means that Kafka was not read.
        guard !logged.isEmpty else { return findings }
        for entry in backend.log where received[entry.place] == nil {
            findings.append(
                Finding(promise: "R14.5", text: "\(Self.name(entry.event, entry.place)) never came to the backend"))
        }
        // An event that is newer than the log's end in its partition was written after the log was read.
        let ends = Dictionary(logged.keys.map { ($0.partition, $0.offset) }, uniquingKeysWith: max)
        for (place, delivery) in received.sorted(by: { $0.key < $1.key })
        where logged[place] != delivery.event && place.offset <= ends[place.partition, default: -1] {
            let difference = logged[place] == nil ? "no such event" : "another one with its id"
            let name = Self.name(delivery.event, place)
            findings.append(
                Finding(promise: "R14.5", text: "\(name) came to the backend, and Kafka has \(difference)"))
        }
        return findings
    }

    private static func name(_ event: WebhookEvent, _ place: EventPlace) -> String {
        "event \(place.id) of \(event.live) (\(event.content.name.rawValue))"
    }

    /// Checks the questions about gifts (R14.7, R14.11, R14.12).
    ///
    /// - The backend was asked about each gift in a feed, with the right price, and allowed it.
    /// - All questions about one call have the same id.
    /// - Questions about different calls have different ids.
    static func checkQuestions(_ history: RoundHistory) -> [Finding] {
        guard let backend = history.backend else { return [] }
        var findings: [Finding] = []
        // A sender sends each number of gifts only once, so live, sender, gift and count identify a call.
        var idsByCall: [String: String] = [:]
        var callsByID: [String: String] = [:]
        var allowed: Set<String> = []
        for request in backend.requests {
            guard case .question(let question) = request.content else { continue }
            let message = FeedContent.giftMessageID(
                sender: question.sender, gift: question.gift, count: question.count)
            let call = Self.callName(message, question.live)
            if request.answer == .accepted { allowed.insert(call) }
            if let id = idsByCall[call], id != question.id {
                findings.append(Finding(promise: "R14.12", text: "the backend was asked about \(call) under two ids"))
            }
            if let other = callsByID[question.id], other != call {
                findings.append(
                    Finding(promise: "R14.12", text: "the backend was asked about \(call) and \(other) under one id"))
            }
            (idsByCall[call], callsByID[question.id]) = (question.id, call)
            let price = StageWorkload.gift.coins * Int64(question.count)
            if question.coins != price {
                findings.append(
                    Finding(
                        promise: "R14.7",
                        text: "the backend was asked about \(call) for \(question.coins) coins instead of \(price)"))
            }
        }
        for feed in Self.completeFeeds(history) {
            for case .gift(let sender, let gift, let count, _) in feed.contents {
                let message = FeedContent.giftMessageID(sender: sender.userID, gift: gift.giftID, count: count)
                let call = Self.callName(message, feed.live)
                guard !allowed.contains(call) else { continue }
                findings.append(
                    Finding(promise: "R14.7", text: "\(call) is in the feed, and the backend did not allow it"))
            }
        }
        return findings
    }

    private static func callName(_ message: String, _ live: LiveID) -> String { "\"\(message)\" in \(live)" }

    /// The complete feed of each live, with which the backend's events are compared.
    ///
    /// It is Kafka's log. If Kafka was not read, it is the feed of one client that missed nothing. A live without such
    /// a client has none.
    static func completeFeeds(_ history: RoundHistory) -> [FeedHistory] {
        guard history.logs.isEmpty else { return history.logs }
        var lives: Set<LiveID> = []
        return history.feeds.filter { $0.isComplete && lives.insert($0.live).inserted }
    }
}
