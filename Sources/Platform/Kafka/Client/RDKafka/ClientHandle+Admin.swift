// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// The result of an admin request for one topic.
struct TopicResult {
    var name: String
    /// Why the request failed for this topic; nil if it succeeded.
    var error: KafkaError?
}

extension ClientHandle {
    /// Requests new topics, and waits until they are created.
    ///
    /// - Returns: the result for each topic.
    func createTopics(_ topics: [TopicSpec], timeout: Duration) throws(KafkaError) -> [TopicResult] {
        var requests: [OpaquePointer?] = unsafe []
        defer { unsafe rd_kafka_NewTopic_destroy_array(&requests, requests.count) }
        var errorText = [CChar](repeating: 0, count: 256)
        for topic in topics {
            let request = unsafe rd_kafka_NewTopic_new(
                topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replication), &errorText,
                errorText.count)
            guard unsafe request != nil else { throw KafkaError(.other, "\(topic.name): \(Self.string(errorText))") }
            unsafe requests.append(request)
            for (name, value) in topic.config {
                try unsafe self.check(rd_kafka_NewTopic_set_config(request, name, value))
            }
        }
        let event = try unsafe self.request(
            RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout: timeout, waitsForCompletion: true
        ) { options, queue in
            unsafe rd_kafka_CreateTopics(self.pointer, &requests, requests.count, options, queue)
        }
        var count = 0
        let results = unsafe rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(event.pointer), &count)
        return unsafe Self.topicResults(results, count)
    }

    /// Queries the settings of topics.
    ///
    /// - Returns: for each topic, the values of its settings by name.
    func describeConfigs(_ names: [String], timeout: Duration) throws(KafkaError) -> [String: [String: String]] {
        var requests = unsafe names.map { unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
        defer { unsafe rd_kafka_ConfigResource_destroy_array(&requests, requests.count) }
        let event = try unsafe self.request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout: timeout, waitsForCompletion: false
        ) { options, queue in
            unsafe rd_kafka_DescribeConfigs(self.pointer, &requests, requests.count, options, queue)
        }
        var count = 0
        let resources = unsafe rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event.pointer), &count)
        var configs: [String: [String: String]] = [:]
        for index in 0..<count {
            guard let resource = unsafe resources?[index] else { continue }
            try unsafe self.check(rd_kafka_ConfigResource_error(resource))
            var entryCount = 0
            let entries = unsafe rd_kafka_ConfigResource_configs(resource, &entryCount)
            var config: [String: String] = [:]
            for entryIndex in 0..<entryCount {
                guard let entry = unsafe entries?[entryIndex], let value = unsafe rd_kafka_ConfigEntry_value(entry)
                else { continue }
                unsafe config[String(cString: rd_kafka_ConfigEntry_name(entry))] = String(cString: value)
            }
            unsafe configs[String(cString: rd_kafka_ConfigResource_name(resource))] = config
        }
        return configs
    }

    /// Sends a request, with its own reply queue, and waits for the response.
    ///
    /// - Parameters:
    ///   - operation: the kind of the request.
    ///   - timeout: how long to wait for the response.
    ///   - waitsForCompletion: whether the broker responds only when the operation is complete.
    ///   - send: calls librdkafka's function for the request.
    /// - Returns: the response.
    /// - Throws: the error of the whole request.
    private func request(
        _ operation: rd_kafka_admin_op_t, timeout: Duration, waitsForCompletion: Bool,
        _ send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    ) throws(KafkaError) -> AdminResponse {
        let options = unsafe rd_kafka_AdminOptions_new(self.pointer, operation)
        defer { unsafe rd_kafka_AdminOptions_destroy(options) }
        var errorText = [CChar](repeating: 0, count: 256)
        let milliseconds = timeout.rdkafkaMilliseconds
        try unsafe self.check(
            rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &errorText, errorText.count))
        if waitsForCompletion {
            try unsafe self.check(
                rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, &errorText, errorText.count))
        }
        let queue = EventQueue(temporaryOf: self)
        unsafe send(options, queue.pointer)
        // The request has its own timeout. The extra second only prevents a lost event from blocking this call forever.
        guard let event = unsafe rd_kafka_queue_poll(queue.pointer, milliseconds &+ 1000) else {
            throw KafkaError(
                .timedOut, "No response to the admin request within \(milliseconds) ms.", isRetriable: true)
        }
        let response = unsafe AdminResponse(event)
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw unsafe KafkaError(code: code, text: String(cString: rd_kafka_event_error_string(event)))
        }
        return response
    }

    /// Copies librdkafka's results of an admin request.
    private static func topicResults(_ results: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int) -> [TopicResult] {
        guard let results = unsafe results else { return [] }
        return (0..<count).map { index in
            let result = unsafe results[index]
            let code = unsafe rd_kafka_topic_result_error(result)
            let text: String? =
                if let text = unsafe rd_kafka_topic_result_error_string(result) {
                    unsafe String(cString: text)
                } else {
                    nil
                }
            return unsafe TopicResult(
                name: String(cString: rd_kafka_topic_result_name(result)),
                error: code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code: code, text: text))
        }
    }
}

/// Owns the response to an admin request, and all memory that it points to.
@safe private struct AdminResponse: ~Copyable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe rd_kafka_event_destroy(self.pointer) }
}
