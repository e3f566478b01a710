// SPDX-License-Identifier: Apache-2.0

/// Encodes spans as an OTLP export request in JSON (opentelemetry-proto, `ExportTraceServiceRequest`).
///
/// Ids are written in hexadecimal, and 64-bit numbers as JSON strings, as OTLP's JSON requires.
package enum OTLPSpans {
    /// The path of the request on a collector.
    package static let path = "/v1/traces"

    /// The body of a request.
    ///
    /// - Parameters:
    ///   - spans: spans of this process.
    ///   - service: the name of the program, such as `gateway`.
    ///   - instance: the name of the process in the cluster.
    /// - Returns: JSON.
    package static func body(_ spans: [TraceSpan], service: String, instance: String) -> [UInt8] {
        var json = "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
        Self.append(TraceSpan.Attribute("service.name", .text(service)), to: &json)
        json += ","
        Self.append(TraceSpan.Attribute("service.instance.id", .text(instance)), to: &json)
        json += "]},\"scopeSpans\":[{\"scope\":{\"name\":\"liveplaza\"},\"spans\":["
        for (index, span) in spans.enumerated() {
            if index > 0 { json += "," }
            Self.append(span, to: &json)
        }
        json += "]}]}]}"
        return Array(json.utf8)
    }

    private static func append(_ span: TraceSpan, to json: inout String) {
        json += "{\"traceId\":\"\(span.context.traceID)\""
        json += ",\"spanId\":\"\(TraceContext.hexadecimal(span.context.spanID))\""
        if let parent = span.parentID { json += ",\"parentSpanId\":\"\(TraceContext.hexadecimal(parent))\"" }
        json += ",\"name\":"
        JSONText.append(span.name, to: &json)
        json += ",\"kind\":\(span.kind.rawValue),\"startTimeUnixNano\":\"\(span.start)\""
        json += ",\"endTimeUnixNano\":\"\(span.end)\",\"attributes\":["
        for (index, attribute) in span.attributes.enumerated() {
            if index > 0 { json += "," }
            Self.append(attribute, to: &json)
        }
        json += "],\"status\":{"
        if let failure = span.failure {
            // 2 is OTLP's STATUS_CODE_ERROR. A span without a failure has an empty status.
            json += "\"code\":2,\"message\":"
            JSONText.append(failure, to: &json)
        }
        json += "}}"
    }

    private static func append(_ attribute: TraceSpan.Attribute, to json: inout String) {
        json += "{\"key\":"
        JSONText.append(attribute.name, to: &json)
        switch attribute.value {
        case .text(let text):
            json += ",\"value\":{\"stringValue\":"
            JSONText.append(text, to: &json)
            json += "}}"
        case .integer(let number): json += ",\"value\":{\"intValue\":\"\(number)\"}}"
        }
    }
}
