// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

extension JSONValue {
    /// A text; nil stays nil, so that the parameter is left out.
    static func text(ifPresent value: String?) -> JSONValue? { value.map { .text($0) } }

    /// A whole number; beyond the range of `Int64`, the nearest bound.
    static func whole(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    /// A list of texts.
    static func texts(_ values: [String]) -> JSONValue { .array(values.map { .text($0) }) }

    /// A time span in whole seconds, rounded up.
    ///
    /// A value that no integer can hold, such as infinity, is sent as 0, which the server rejects or replaces by its
    /// default.
    static func seconds(_ interval: Double) -> JSONValue {
        .integer(Int64(exactly: interval.rounded(.up)) ?? 0)
    }
}
