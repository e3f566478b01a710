// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of how events and questions reach the app's backend (WEBHOOKS.md, section 2).
extension HistoryChecker {
    /// Checks that each request was one that a backend can believe and read (R14.1).
    static func checkRequestForms(_ history: RoundHistory) -> [Finding] {
        (history.backend?.requests ?? []).compactMap { request in
            guard case .malformed(let reason) = request.content else { return nil }
            return Finding(promise: "R14.1", text: "the backend got a request that it must reject: \(reason)")
        }
    }

    /// Checks that the events of each live came one after the other, in order, each only after the one before it was
    /// taken (R14.3, R14.5).
    static func checkDeliveryOrder(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        // For each live the events that came, each with whether it was taken so far.
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

    /// Checks that each event is at the backend: each that Kafka has was taken, each that came again had the same
    /// content, and nothing else came (R14.5).
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
        // Without a log, Kafka was not read.
        guard !logged.isEmpty else { return findings }
        for entry in backend.log where received[entry.place] == nil {
            findings.append(
                Finding(promise: "R14.5", text: "\(Self.name(entry.event, entry.place)) never came to the backend"))
        }
        // Events of after the log was read are not in it.
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

    /// Checks that each gift in a feed was asked about and allowed, with what it cost, and that a call has one id for
    /// all its questions, which no other call has (R14.7, R14.11, R14.12).
    static func checkQuestions(_ history: RoundHistory) -> [Finding] {
        guard let backend = history.backend else { return [] }
        var findings: [Finding] = []
        // The workload sends a gift in each count once, so live, sender, gift and count tell its calls apart.
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
        for feed in Self.bestFeeds(history) {
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

    /// For each live the feed to compare with: what Kafka has; without logs, that of a client that missed nothing.
    static func bestFeeds(_ history: RoundHistory) -> [FeedHistory] {
        guard history.logs.isEmpty else { return history.logs }
        var lives: Set<LiveID> = []
        return history.feeds.filter { $0.isComplete && lives.insert($0.live).inserted }
    }
}
