// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel
import PlazaWire
import Testing

/// The largest records that gateways write for calls.
@Suite struct CallSizeTests {
    /// The gateway's maximum size of an HTTP body in bytes; the maximum of a WebSocket frame is lower.
    private static let maxBodyBytes = 256 * 1024

    /// The bytes of the record that a gateway writes for a call with this body; nil for a call without a record.
    ///
    /// - Throws: `ReplyError` when the parser rejects the call.
    private func recordBytes(_ method: String, body: String) throws -> Int? {
        let caller = Largest.server(counter: 1)
        #expect(body.utf8.count <= Self.maxBodyBytes)
        let frame = try CallFrame(id: 1, method: method, params: Array(body.utf8))
        guard case .forward(let effect, _) = try CallParser(app: Largest.app, caller: caller).parse(frame) else {
            return nil
        }
        let record = TopicRecord(effect)
        return record.key.utf8.count + (record.value?.count ?? 0)
    }

    /// A body of `head`, `tail`, and between them as many copies of `element` as fit into the largest body, but at most
    /// `maxElements`.
    private func filledBody(
        _ head: String, element: String, _ tail: String, maxElements: Int = .max
    ) -> String {
        var body = head + element
        var count = 1
        while count < maxElements, body.utf8.count + 1 + element.utf8.count + tail.utf8.count <= Self.maxBodyBytes {
            body += "," + element
            count += 1
        }
        return body + tail
    }

    /// Texts as the JSON of a body has them, each about 1000 bytes smaller than the largest body.
    ///
    /// The record of a call is encoded again, and may escape other characters than the body does. So the texts have
    /// characters without an escape, with escapes of two and of six bytes, and some that only some encoders escape.
    private static let textsInJSON: [String] = {
        let bytes = Self.maxBodyBytes - 1000
        return [
            String(repeating: "x", count: bytes), String(repeating: #"\""#, count: bytes / 2),
            String(repeating: #"\u0001"#, count: bytes / 6), String(repeating: "\u{7F}", count: bytes),
            String(repeating: "/", count: bytes), String(repeating: "\u{2028}", count: bytes / 3),
        ]
    }()

    /// Rules: R17.7.
    @Test func `I16 the record of a call is smaller than half of the broker's largest record, whatever its body is`()
        throws
    {
        // The method and the body of each call.
        var calls: [(String, String)] = []
        for text in Self.textsInJSON {
            let callsWithText: [(String, String)] = [
                ("barrage.sendText", "{\"live\":\"a\",\"text\":\"\(text)\"}"),
                ("barrage.sendCustom", "{\"live\":\"a\",\"businessID\":\"b\",\"data\":\"\(text)\"}"),
                ("live.update", "{\"live\":\"a\",\"notice\":\"\(text)\"}"),
                ("audience.list", "{\"live\":\"a\",\"cursor\":\"\(text)\"}"),
                ("app.setWords", "{\"words\":[\"\(text)\"]}"),
                ("app.putGift", "{\"category\":\"c\",\"gift\":{\"giftID\":\"g\",\"name\":\"\(text)\"}}"),
            ]
            calls += callsWithText
        }
        let languages = (0..<AppLimits.languages).map { "\"\($0)\":{\"name\":\"\"}" }
        let translations = languages.joined(separator: ",")
        let giftName = Largest.unescapedText(bytes: 300)
        let gift = "{\"giftID\":\"g\",\"name\":\"\(giftName)\",\"translations\":{\(translations)}}"
        let callsWithLists: [(String, String)] = [
            ("metadata.delete", self.filledBody("{\"live\":\"a\",\"keys\":[", element: "\"\"", "]}")),
            (
                "gift.send",
                self.filledBody("{\"live\":\"a\",\"gift\":\"g\",\"receivers\":[", element: "\"u\"", "]}")
            ),
            (
                "app.setWords",
                self.filledBody("{\"words\":[", element: "\"\"", "]}", maxElements: AppLimits.words)
            ),
            (
                "app.setGifts",
                self.filledBody(
                    "{\"categories\":[{\"categoryID\":\"c\",\"name\":\"\",\"gifts\":[", element: gift, "]}]}",
                    maxElements: AppLimits.gifts)
            ),
        ]
        var largestBytes = 0
        for (method, body) in calls + callsWithLists {
            largestBytes = max(largestBytes, try #require(try self.recordBytes(method, body: body)))
        }
        #expect(largestBytes < LargestSizes.maxRecordBytes)
        #expect(
            largestBytes > Self.maxBodyBytes,
            "expected a record that is larger than any body, because a record has fields that its call does not name")
    }

    /// Rules: R17.7.
    @Test func `I16 a call with a text or a list beyond its limit is rejected, so that no record is written`() {
        for text in Self.textsInJSON {
            let metadata = "{\"live\":\"a\",\"metadata\":{\"k\":\"\(text)\"}}"
            #expect(throws: ReplyError.self) { try self.recordBytes("metadata.set", body: metadata) }
            let ban = "{\"live\":\"a\",\"users\":[\"u\"],\"duration\":1,\"reason\":\"\(text)\"}"
            #expect(throws: ReplyError.self) { try self.recordBytes("live.ban", body: ban) }
        }
        // More gifts than an app may have. In the record, each of them would also have the fields that this body omits.
        let gifts = self.filledBody(
            "{\"categories\":[{\"categoryID\":\"c\",\"name\":\"\",\"gifts\":[",
            element: #"{"giftID":"g","name":""}"#, "]}]}")
        #expect(throws: ReplyError.self) { try self.recordBytes("app.setGifts", body: gifts) }
    }
}
