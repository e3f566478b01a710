// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The largest records that gateways write for calls.
@Suite struct CallSizeTests {
    /// The maximum size of an HTTP body in bytes; that of a WebSocket frame is smaller.
    private static let bodyBytes = 256 * 1024

    /// The bytes of a call's record; nil for a call without one.
    private func size(_ method: String, _ params: String) throws -> Int? {
        let caller = Largest.server(counter: 1)
        let bytes = Array(params.utf8)
        #expect(bytes.count <= Self.bodyBytes)
        let frame = try CallFrame(id: 1, method: method, params: bytes)
        guard case .forward(let effect, _) = try CallParser(app: Largest.app, caller: caller).parse(frame) else {
            return nil
        }
        let record = TopicRecord(effect)
        return record.key.utf8.count + (record.value?.count ?? 0)
    }

    /// Rules: R17.7.
    @Test func `I16 the record of a call is smaller than half of the broker's largest record, whatever its body is`()
        throws
    {
        /// A body of `head`, `tail`, and as many elements between them as fit into the largest body.
        func fill(
            _ head: String, _ makeElement: (Int) -> String, _ tail: String, maxElements: Int = .max
        ) -> String {
            var body = head
            var index = 0
            while index < maxElements {
                let next = (index == 0 ? "" : ",") + makeElement(index)
                if body.utf8.count + next.utf8.count + tail.utf8.count > Self.bodyBytes { break }
                body += next
                index += 1
            }
            return body + tail
        }
        // 1000 bytes are left for the rest of the body.
        let textBytes = Self.bodyBytes - 1000
        // Texts of about `textBytes` in the body. The record needs more, fewer or as many bytes for their characters.
        let texts = [
            String(repeating: "x", count: textBytes), String(repeating: #"\""#, count: textBytes / 2),
            String(repeating: #"\u0001"#, count: textBytes / 6), String(repeating: "\u{7F}", count: textBytes),
            String(repeating: "/", count: textBytes), String(repeating: "\u{2028}", count: textBytes / 3),
        ]
        var largest = 0
        for text in texts {
            for (method, params) in [
                ("barrage.sendText", "{\"live\":\"a\",\"text\":\"\(text)\"}"),
                ("barrage.sendCustom", "{\"live\":\"a\",\"businessID\":\"b\",\"data\":\"\(text)\"}"),
                ("live.update", "{\"live\":\"a\",\"notice\":\"\(text)\"}"),
                ("audience.list", "{\"live\":\"a\",\"cursor\":\"\(text)\"}"),
                ("app.setWords", "{\"words\":[\"\(text)\"]}"),
                ("app.putGift", "{\"category\":\"c\",\"gift\":{\"giftID\":\"g\",\"name\":\"\(text)\"}}"),
            ] { largest = max(largest, try #require(try self.size(method, params))) }
        }
        let bodies: [(String, String)] = [
            ("metadata.delete", fill("{\"live\":\"a\",\"keys\":[", { _ in "\"\"" }, "]}")),
            ("gift.send", fill("{\"live\":\"a\",\"gift\":\"g\",\"receivers\":[", { _ in "\"u\"" }, "]}")),
            ("app.setWords", fill("{\"words\":[", { _ in "\"\"" }, "]}", maxElements: AppLimits.words)),
            (
                "app.setGifts",
                fill(
                    "{\"categories\":[{\"categoryID\":\"c\",\"name\":\"\",\"gifts\":[",
                    { _ in
                        let languages = (0..<AppLimits.languages).map { "\"\($0)\":{\"name\":\"\"}" }
                        let translations = languages.joined(separator: ",")
                        let name = Largest.plainText(bytes: 300)
                        return "{\"giftID\":\"g\",\"name\":\"\(name)\",\"translations\":{\(translations)}}"
                    }, "]}]}", maxElements: AppLimits.gifts)
            ),
        ]
        for (method, params) in bodies { largest = max(largest, try #require(try self.size(method, params))) }
        #expect(largest < SizeLedger.limit, "\(largest)")
        #expect(largest > Self.bodyBytes, "some record is larger than its call: \(largest)")
        // The parser rejects these calls, so they cause no record.
        for text in texts {
            let metadata = "{\"live\":\"a\",\"metadata\":{\"k\":\"\(text)\"}}"
            #expect(throws: ReplyError.self) { try self.size("metadata.set", metadata) }
            let ban = "{\"live\":\"a\",\"users\":[\"u\"],\"duration\":1,\"reason\":\"\(text)\"}"
            #expect(throws: ReplyError.self) { try self.size("live.ban", ban) }
        }
        // Without the limit on the number of gifts, this body would become a record that is larger than the broker
        // accepts.
        let gifts = fill(
            "{\"categories\":[{\"categoryID\":\"c\",\"name\":\"\",\"gifts\":[", { _ in #"{"giftID":"g","name":""}"# },
            "]}]}")
        #expect(throws: ReplyError.self) { try self.size("app.setGifts", gifts) }
    }
}
