// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import Glibc

/// Holds the log closure for as long as librdkafka's threads may call it.
final class LogSink: Sendable {
    let write: @Sendable (KafkaLogLevel, String, String) -> Void

    init(_ write: @escaping @Sendable (KafkaLogLevel, String, String) -> Void) { self.write = write }
}

/// Runs on any of librdkafka's threads, also while the client is being made and destroyed.
///
/// The client's opaque is its `LogSink`, unretained: the `ClientHandle` that owns it destroys the client first.
func clientLogged(
    _ client: OpaquePointer?, _ level: Int32, _ facility: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?
) {
    guard let client = unsafe client, let opaque = unsafe rd_kafka_opaque(client), let text = unsafe text else {
        return
    }
    let sink = unsafe Unmanaged<LogSink>.fromOpaque(opaque).takeUnretainedValue()
    let name = if let facility = unsafe facility { unsafe String(cString: facility) } else { "" }
    let severity: KafkaLogLevel =
        switch level {
        case ...2: .critical
        case 3: .error
        case 4: .warning
        case 5, 6: .info
        default: .debug
        }
    unsafe sink.write(severity, name, String(cString: text))
}

extension KafkaSettings {
    /// Prints warnings and errors to standard error, and drops the rest.
    package static let logToStandardError: @Sendable (KafkaLogLevel, String, String) -> Void = {
        level, facility, text in
        guard level <= .warning else { return }
        let line = Array("kafka \(level) \(facility): \(text)\n".utf8)
        // One call, so that lines of several threads do not mix. A log that cannot be written has nowhere to be told.
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
