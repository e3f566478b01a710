// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// Owns one client of librdkafka, the Kafka library; destroys the client when the last reference is released.
///
/// It is `@unchecked Sendable` because librdkafka's functions may be called from any thread, and the pointer never
/// changes.
@safe final class ClientHandle: @unchecked Sendable {
    /// The kinds of client.
    enum Role {
        case producer, consumer, admin
    }

    let pointer: OpaquePointer
    private let logSink: LogSink

    /// Creates the client; it connects in the background.
    ///
    /// - Throws: `invalidConfiguration` when librdkafka rejects a setting, which the message names.
    init(
        _ role: Role, _ settings: [(String, String)], log: @escaping KafkaSettings.LogWriter
    ) throws(KafkaError) {
        let logSink = LogSink(log)
        guard let configuration = unsafe rd_kafka_conf_new() else {
            throw KafkaError(.other, "No memory for the settings.")
        }
        // The log callback finds the sink in the client's opaque pointer; `self.logSink` keeps the sink alive.
        unsafe rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(logSink).toOpaque())
        unsafe rd_kafka_conf_set_log_cb(configuration, clientLogged)
        unsafe rd_kafka_conf_set_events(configuration, role.events)

        var errorText = [CChar](repeating: 0, count: 512)
        for (name, value) in settings {
            guard unsafe rd_kafka_conf_set(configuration, name, value, &errorText, errorText.count) == RD_KAFKA_CONF_OK
            else {
                unsafe rd_kafka_conf_destroy(configuration)
                // librdkafka's own message may contain the value. The error must not contain a secret.
                if KafkaSecurity.isSecret(name) {
                    throw KafkaError(.invalidConfiguration, "\(name) has a value that cannot be used.")
                }
                throw KafkaError(.invalidConfiguration, "\(name) = \(value): \(Self.string(errorText))")
            }
        }
        // librdkafka has only two types of client. An admin client may have either.
        let type = role == .consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER
        guard let pointer = unsafe rd_kafka_new(type, configuration, &errorText, errorText.count) else {
            unsafe rd_kafka_conf_destroy(configuration)
            throw KafkaError(.invalidConfiguration, Self.string(errorText))
        }
        unsafe self.pointer = pointer
        self.logSink = logSink
        if role == .consumer {
            // Delivers all events of the consumer to its own queue, in order.
            unsafe rd_kafka_poll_set_consumer(pointer)
        }
    }

    // The owner of a consumer has already closed the consumer. Without the flag librdkafka would close it again and
    // block.
    deinit { unsafe rd_kafka_destroy_flags(self.pointer, Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)) }

    /// The error that made the client unusable; nil while the client is usable.
    var fatalError: KafkaError? {
        // Most calls find no error and need no buffer for its text.
        guard unsafe rd_kafka_fatal_error(self.pointer, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        var errorText = [CChar](repeating: 0, count: 512)
        let code = unsafe rd_kafka_fatal_error(self.pointer, &errorText, errorText.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        var error = KafkaError(code: code, text: Self.string(errorText))
        // The kind tells callers why the client is unusable: another owner has taken over (`fenced`), or anything else
        // (`fatal`). `isFatal` is true in both cases.
        if error.kind != .fenced { error.kind = .fatal }
        error.isFatal = true
        error.isRetriable = false
        return error
    }

    /// Throws the error for a code, unless the code means success.
    ///
    /// One code of librdkafka means only that the client has had a fatal error. For this code, `fatalError` is thrown,
    /// which says what the error was.
    func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        if code == RD_KAFKA_RESP_ERR__FATAL, let cause = self.fatalError { throw cause }
        throw KafkaError(code: code)
    }

    /// The text in a C buffer, up to its terminating zero.
    static func string(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension ClientHandle.Role {
    /// The kinds of events that the role receives.
    ///
    /// Log lines arrive through a callback and not as events, because they must be written even while no thread polls.
    fileprivate var events: Int32 {
        switch self {
        case .producer: RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS
        case .consumer: RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_STATS
        // An admin call that waits for the brokers reads these events with `takeSecurityError`.
        case .admin: RD_KAFKA_EVENT_ERROR
        }
    }
}
