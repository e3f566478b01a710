// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Observability
import Testing

/// Tests of `TraceContext`: the header `traceparent` of W3C Trace Context (version, trace id, span id, flags).
@Suite struct TraceContextTests {
    static let example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `the example of the standard is parsed, and printed as it was`() throws {
        let context = try #require(TraceContext(Self.example))
        #expect(context.description == Self.example)
        #expect(context.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(context.isSampled)
        #expect(TraceContext(parsing: context.bytes) == context)
    }

    @Test func `a child context has its parent's trace and its own span, and a new context is parsed back`() throws {
        var random = SeededRandom(seed: 1)
        let parent = try #require(TraceContext(Self.example))
        let child = parent.child(using: &random)
        #expect(child.traceID == parent.traceID && child.spanID != parent.spanID && child.isSampled)

        let newContext = TraceContext(isSampled: false, using: &random)
        #expect(TraceContext(newContext.description) == newContext)
        #expect(newContext.description.hasSuffix("-00"), "the flags 00 say that the trace is not sampled")
    }

    @Test func `the known fields of a header of a later version are read`() {
        // The version cc replaces 00, the version of the example. A further field must begin with a hyphen.
        #expect(TraceContext("cc" + Self.example.dropFirst(2) + "-what-comes")?.isSampled == true)
        #expect(TraceContext("cc" + Self.example.dropFirst(2))?.isSampled == true)
        #expect(TraceContext("cc" + Self.example.dropFirst(2) + "x") == nil)
    }

    // The errors are, in this order: two incomplete headers, the version ff, a trace id of zeros, a span id of zeros,
    // uppercase letters, a further field, a wrong separator, fields of wrong lengths, and a wrong digit.
    @Test(arguments: [
        "", "00", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-001",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
    ])
    func `a header that the standard forbids is rejected`(text: String) {
        #expect(TraceContext(text) == nil)
    }

    @Test func `a truncated header is rejected, and a header with a changed byte never traps`() {
        var random = SeededRandom(seed: 2)
        for count in 0..<Self.example.utf8.count { #expect(TraceContext(String(Self.example.prefix(count))) == nil) }
        for _ in 0..<10_000 {
            var bytes = Array(Self.example.utf8)
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if let context = TraceContext(parsing: bytes) { #expect(TraceContext(context.description) == context) }
        }
    }
}
