// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import LoadKit
import PlazaModel
import PlazaWire
import ProtocolClient
import TestSupport
import Testing

/// A test that the spans of one message (its steps through real processes) form one trace.
@Suite(.serialized) struct TracingClusterTests {
    /// A span that the collector received, with the service that sent it.
    private struct ReceivedSpan {
        var service: String
        var trace: String
        var id: String
        var parent: String?
        var name: String
    }

    /// The text of a JSON string; nil for any other value.
    private static func text(_ value: JSONValue?) -> String? {
        if case .text(let text)? = value { text } else { nil }
    }

    /// The elements of a JSON array; empty for any other value.
    private static func elements(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    /// The spans in the requests that the collector received; their bodies are OTLP in JSON.
    private static func spans(in requests: [WebhookReceiver.Received]) -> [ReceivedSpan] {
        requests.flatMap { request -> [ReceivedSpan] in
            guard let body = try? Wire.decode(JSONValue.self, from: request.body) else {
                Issue.record("a request that is no JSON: \(request.text)")
                return []
            }
            return Self.elements(body.members["resourceSpans"]).flatMap { Self.spans(ofResource: $0) }
        }
    }

    /// The spans of one element of `resourceSpans`, which holds the spans of one service.
    private static func spans(ofResource resource: JSONValue) -> [ReceivedSpan] {
        let attributes = Self.elements(resource.members["resource"]?.members["attributes"])
        let nameAttribute = attributes.first { $0.members["key"] == "service.name" }
        let service = Self.text(nameAttribute?.members["value"]?.members["stringValue"]) ?? ""
        let spans = Self.elements(resource.members["scopeSpans"]).flatMap { Self.elements($0.members["spans"]) }
        return spans.map { span in
            ReceivedSpan(
                service: service, trace: Self.text(span.members["traceId"]) ?? "",
                id: Self.text(span.members["spanId"]) ?? "", parent: Self.text(span.members["parentSpanId"]),
                name: Self.text(span.members["name"]) ?? "")
        }
    }

    /// The path from the root span of a trace to `span`, each span as `service: name`.
    private static func path(to span: ReceivedSpan, in spans: [ReceivedSpan]) -> [String] {
        var path = ["\(span.service): \(span.name)"]
        var current = span
        while let parentID = current.parent,
            let parent = spans.first(where: { $0.id == parentID && $0.trace == current.trace })
        {
            path.append("\(parent.service): \(parent.name)")
            current = parent
        }
        return path.reversed()
    }

    /// Runs on the embedded broker (nil) and, where Kafka is installed, on a real Kafka with one broker (1).
    @Test(.timeLimit(.minutes(3)), arguments: [nil, 1].filter { $0 == nil || TestCluster.kafkaHome != nil } as [Int?])
    func `a message that is sent yields one trace with a span for each step`(kafkaBrokers: Int?) async throws {
        // The receiver stands in for a trace collector, which gets spans over HTTP (OTLP).
        let collector = try RecordingReceiver { _, _ in .answer(200, "{}") }
        var options = TestCluster.options(kafkaBrokers: kafkaBrokers)
        options.environment["LIVEPLAZA_TRACES"] = collector.url
        // The gateway traces each call.
        options.extraArguments[.gateway] = ["--trace-sample", "1"]
        try await TestCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let alice = DemoUser("alice", harness.client("alice", on: hub))
            try await alice.call("live.create", CallParams(live: "concert"), live: "concert")
            try await alice.call("live.join", CallParams(live: "concert"), live: "concert")
            try await alice.call(
                "barrage.sendText", ["live": "concert", "text": "hello"] as JSONValue, live: "concert")
            let requests = await runOnDedicatedThread {
                collector.wait(timeout: .seconds(30)) { requests in
                    let spans = Self.spans(in: requests)
                    guard let call = spans.first(where: { $0.name == "call barrage.sendText" }) else { return false }
                    let names = Set(spans.filter { $0.trace == call.trace }.map(\.name))
                    return names.isSuperset(of: ["fan-out", "effect room.feed", "effect replies"])
                }
            }
            let spans = Self.spans(in: try #require(requests, "the spans of the message did not come within 30 s"))
            let call = try #require(spans.first { $0.name == "call barrage.sendText" })
            // The span `fan-out` is the gateway's delivery to viewers. No span of barrage-fanout has this name.
            let gatewayFanOut = try #require(spans.first { $0.name == "fan-out" && $0.trace == call.trace })
            #expect(
                Self.path(to: gatewayFanOut, in: spans) == [
                    "gateway: call barrage.sendText", "barrage-fanout: topic barrage.inbox",
                    "barrage-fanout: decide barrage", "barrage-fanout: effect room.feed", "gateway: fan-out",
                ])
            // OTLP writes ids in hexadecimal digits: 16 bytes for a trace, 8 for a span.
            #expect(spans.allSatisfy { $0.trace.utf8.count == 32 && $0.id.utf8.count == 16 })
        }
    }
}
