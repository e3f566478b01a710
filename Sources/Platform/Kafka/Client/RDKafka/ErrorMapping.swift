// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

extension KafkaError {
    /// Creates an error from an error code; `text` replaces the code's own description.
    init(code: rd_kafka_resp_err_t, text: String? = nil) {
        let kind = Kind(code)
        self.init(
            kind, text ?? Self.text(of: code), codeName: Self.name(of: code),
            isFatal: kind == .fenced || kind == .fatal,
            isRetriable: kind == .queueFull || kind == .timedOut || kind == .brokerDown || kind == .retriable)
    }

    /// Creates an error from a librdkafka error object and frees that object.
    ///
    /// The result is nil if the pointer is nil, which means success.
    ///
    /// The object's flags override the meaning of its code, because librdkafka's transaction state machine sets the
    /// flags.
    init?(consuming error: OpaquePointer?) {
        guard let error = unsafe error else { return nil }
        defer { unsafe rd_kafka_error_destroy(error) }
        let code = unsafe rd_kafka_error_code(error)
        let isFatal = unsafe rd_kafka_error_is_fatal(error) != 0
        let requiresAbort = unsafe rd_kafka_error_txn_requires_abort(error) != 0
        let isRetriable = unsafe rd_kafka_error_is_retriable(error) != 0
        let text = unsafe String(cString: rd_kafka_error_string(error))
        var kind = Kind(code)
        if kind != .fenced {
            if isFatal {
                kind = .fatal
            } else if requiresAbort {
                // A rejection keeps its kind, so that after the abort the caller knows that a record was rejected.
                if !kind.isRejection { kind = .abortRequired }
            } else if isRetriable, kind != .timedOut, kind != .brokerDown {
                kind = .retriable
            }
        }
        self.init(
            kind, text, codeName: Self.name(of: code), isFatal: isFatal || kind == .fenced, isRetriable: isRetriable,
            requiresAbort: requiresAbort)
    }

    private static func name(of code: rd_kafka_resp_err_t) -> String {
        unsafe String(cString: rd_kafka_err2name(code))
    }

    private static func text(of code: rd_kafka_resp_err_t) -> String {
        unsafe String(cString: rd_kafka_err2str(code))
    }
}

extension KafkaError.Kind {
    /// Classifies an error code.
    init(_ code: rd_kafka_resp_err_t) {
        switch code {
        case RD_KAFKA_RESP_ERR__QUEUE_FULL:
            self = .queueFull
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
            self = .timedOut
        case RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
            RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED:
            self = .fenced
        case RD_KAFKA_RESP_ERR__FATAL:
            self = .fatal
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__RESOLVE,
            RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
            self = .brokerDown
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
            self = .unknownTopic
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
            RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
            self = .messageTooLarge
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
            self = .invalidRecord
        case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,
            RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
            self = .unsupported
        case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
            self = .sessionTimeoutRejected
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
            self = .authenticationFailed
        case RD_KAFKA_RESP_ERR__SSL:
            self = .tlsFailed
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
            self = .accessDenied
        case RD_KAFKA_RESP_ERR__DESTROY:
            self = .closed
        case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS,
            RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
            RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__RETRY, RD_KAFKA_RESP_ERR__IN_PROGRESS:
            self = .retriable
        default:
            self = .other
        }
    }
}
