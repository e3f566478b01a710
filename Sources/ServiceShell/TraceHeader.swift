// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The Kafka header that carries the trace context.
package enum TraceHeader {
    /// The W3C name.
    package static let name = TraceContext.headerName
}
