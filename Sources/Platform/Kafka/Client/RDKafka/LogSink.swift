// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import Glibc

/// Retains the log closure as long as librdkafka's threads may call it.
final class LogSink: Sendable {
    let write: KafkaSettings.LogWriter

    init(_ write: @escaping KafkaSettings.LogWriter) { self.write = write }
}

/// Passes a log line of librdkafka to the client's `LogSink`.
///
/// It runs on any of librdkafka's threads, even while the client is being created or destroyed.
///
/// The client's opaque pointer is its `LogSink`, without a reference count. This is safe because the `ClientHandle`
/// owns the `LogSink` and destroys the client first.
func clientLogged(
    _ client: OpaquePointer?, _ level: Int32, _ facility: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?
) {
    guard let client = unsafe client, let opaque = unsafe rd_kafka_opaque(client), let text = unsafe text else {
        return
    }
    let sink = unsafe Unmanaged<LogSink>.fromOpaque(opaque).takeUnretainedValue()
    let facilityName = if let facility = unsafe facility { unsafe String(cString: facility) } else { "" }
    // `level` is a syslog level, from 0 (most severe) to 7.
    let severity: KafkaLogLevel =
        switch level {
        case ...2: .critical
        case 3: .error
        case 4: .warning
        case 5, 6: .info
        default: .debug
        }
    unsafe sink.write(severity, facilityName, String(cString: text))
}

extension KafkaSettings {
    /// Prints warnings and errors to standard error, and drops the rest.
    package static let logToStandardError: LogWriter = { level, facility, text in
        guard level <= .warning else { return }
        let line = Array("kafka \(level) \(facility): \(text)\n".utf8)
        // The line is written by a single call, so that lines of several threads do not mix. If the call fails, there
        // is nowhere to report the failure.
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
