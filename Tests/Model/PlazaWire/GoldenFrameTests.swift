// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The frames between clients and gateways (`docs/PROTOCOL.md`, section 2) have the JSON of the golden files.
@Suite struct GoldenFrameTests {
    @Test func `server frames match the golden file`() throws {
        // A frame to a client does not name the app.
        let recipient = UserKey(AppID(""), "alice")
        var cases: [(String, ServerFrame)] = GoldenRecordTests.callResults.map { name, result in
            ("reply-\(name)", .reply(id: 7, .success(result: result)))
        }
        cases.append(("error", .reply(id: 7, .failure(error: ReplyError(.noSuchRoom, "there is no live x")))))
        cases.append(("error-retry", .reply(id: -1, .failure(error: Samples.error))))
        cases.append(("error-reason", .reply(id: 7, .failure(error: Samples.staleTicket))))
        let entries = GoldenRecordTests.feedContents.map { _, content in content }.enumerated().map { index, content in
            FeedEntry(n: Int64(index) + 12, at: Samples.at, content: content)
        }
        // A token is an epoch and a number, and an offset if the offset is known. Encoding and decoding do not compare
        // the number of the token with that of the last item; here they differ.
        cases.append(("feed", .feed(live: Samples.live, epoch: 77, items: entries, token: "77.22")))
        cases.append(("feed-empty", .feed(live: Samples.live, epoch: 77, items: [], token: "77.11")))
        let historyEntries = [
            FeedEntry(n: 5, at: Samples.at, content: .text(sender: Samples.alice, text: "hi", extensionInfo: nil)),
            FeedEntry(n: 9, at: Samples.at, content: .custom(sender: Samples.alice, businessID: "b", data: "{}")),
        ]
        cases.append(
            ("feed-history", .history(live: Samples.live, epoch: 77, items: historyEntries, token: "77.11.4711")))
        cases.append(("counts", .counts(LiveCount(Samples.count))))
        for (name, content) in GoldenRecordTests.noticeContents where content.isForClients {
            // Only the notice of a kick has a floor, the lowest ticket that the kicked user may still use.
            let floor: Ticket? = name.hasPrefix("kickedOut") ? Ticket(500) : nil
            let notice = Notice(to: recipient, live: Samples.live, at: Samples.at, floor: floor, content: content)
            cases.append(("notice-\(name)", .notice(id: "3-17", notice)))
        }
        cases.append(("drain", .drain(reconnectWithin: 750)))
        for (_, frame) in cases {
            switch frame {
            case .reply, .feed, .history, .counts, .notice, .drain:
                break  // A new frame does not compile until it is listed here; add a case with it to `cases`, too.
            }
        }
        try GoldenFile(name: "server-frames").expectWireFormat(
            of: cases, mapFields: ["metaData", "extensionInfo", "set", "values", "translations"])
    }

    @Test func `logins with the fewest and the most parameters match the golden file`() throws {
        let resume = ResumePoint(
            live: Samples.live, ticket: Samples.ticket, position: Samples.position, token: "77.12.4711")
        try GoldenFile(name: "login-params").expectWireFormat(of: [
            ("least", LoginParams(token: "t.o.ken")),
            (
                "most",
                LoginParams(
                    token: "t.o.ken", session: "phone", name: "Alice", avatarURL: "https://example.org/a.png",
                    resume: resume, notices: "3-17")
            ),
        ])
    }

    @Test func `the JSON of an outcome outside a frame does not change`() {
        let done = Outcome.success(result: .seat(index: 3))
        #expect(String(decoding: done.json, as: UTF8.self) == #"{"result":{"seat":{"index":3}}}"#)
        let failure = Outcome.failure(error: Samples.error)
        #expect(
            String(decoding: failure.json, as: UTF8.self)
                == #"{"error":{"code":60100,"message":"16 calls are open already","name":"overloaded","retryAfter":200}}"#
        )
    }

    @Test func `a reply without a result decodes as done, and a frame of an unknown kind is rejected`() throws {
        let done = try Wire.decode(ServerFrame.self, from: Array(#"{"reply":{"id":3}}"#.utf8))
        #expect(done == .reply(id: 3, .success(result: .done)))
        let error = #expect(throws: WireError.self) {
            _ = try Wire.decode(ServerFrame.self, from: Array(#"{"later":{}}"#.utf8))
        }
        #expect(error == .notJSON)
    }
}
