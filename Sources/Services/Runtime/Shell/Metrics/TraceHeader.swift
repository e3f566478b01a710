// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The Kafka header that carries the trace context.
package enum TraceHeader {
    /// The header's name, from the W3C Trace Context standard.
    package static let name = TraceContext.headerName
}
