// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// What became of one topic of a request.
struct TopicResult {
    var name: String
    var error: KafkaError?
}

extension ClientHandle {
    func createTopics(_ topics: [TopicSpec], timeoutMilliseconds: Int) throws(KafkaError) -> [TopicResult] {
        var requests: [OpaquePointer?] = unsafe []
        defer { unsafe rd_kafka_NewTopic_destroy_array(&requests, requests.count) }
        var text = [CChar](repeating: 0, count: 256)
        for topic in topics {
            let request = unsafe rd_kafka_NewTopic_new(
                topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replication), &text, text.count)
            guard unsafe request != nil else { throw KafkaError(.other, "\(topic.name): \(Self.string(text))") }
            unsafe requests.append(request)
            for (name, value) in topic.config {
                try unsafe self.check(rd_kafka_NewTopic_set_config(request, name, value))
            }
        }
        let event = try unsafe self.request(
            RD_KAFKA_ADMIN_OP_CREATETOPICS, timeoutMilliseconds: timeoutMilliseconds, waitsForCompletion: true
        ) { options, queue in
            unsafe rd_kafka_CreateTopics(self.pointer, &requests, requests.count, options, queue)
        }
        var count = 0
        let results = unsafe rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(event.pointer), &count)
        return unsafe Self.topicResults(results, count)
    }

    func deleteTopics(_ names: [String], timeoutMilliseconds: Int) throws(KafkaError) -> [TopicResult] {
        var requests = unsafe names.map { unsafe rd_kafka_DeleteTopic_new($0) }
        defer { unsafe rd_kafka_DeleteTopic_destroy_array(&requests, requests.count) }
        let event = try unsafe self.request(
            RD_KAFKA_ADMIN_OP_DELETETOPICS, timeoutMilliseconds: timeoutMilliseconds, waitsForCompletion: true
        ) { options, queue in
            unsafe rd_kafka_DeleteTopics(self.pointer, &requests, requests.count, options, queue)
        }
        var count = 0
        let results = unsafe rd_kafka_DeleteTopics_result_topics(
            rd_kafka_event_DeleteTopics_result(event.pointer), &count)
        return unsafe Self.topicResults(results, count)
    }

    func describeConfigs(_ names: [String], timeoutMilliseconds: Int) throws(KafkaError) -> [String: [String: String]] {
        var requests = unsafe names.map { unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
        defer { unsafe rd_kafka_ConfigResource_destroy_array(&requests, requests.count) }
        let event = try unsafe self.request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeoutMilliseconds: timeoutMilliseconds, waitsForCompletion: false
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

    func deleteRecords(_ list: borrowing PartitionList, timeoutMilliseconds: Int) throws(KafkaError)
        -> [TopicPartition: Int64]
    {
        var requests = unsafe [rd_kafka_DeleteRecords_new(list.pointer)]
        defer { unsafe rd_kafka_DeleteRecords_destroy_array(&requests, requests.count) }
        let event = try unsafe self.request(
            RD_KAFKA_ADMIN_OP_DELETERECORDS, timeoutMilliseconds: timeoutMilliseconds, waitsForCompletion: true
        ) { options, queue in
            unsafe rd_kafka_DeleteRecords(self.pointer, &requests, requests.count, options, queue)
        }
        guard
            let offsets = unsafe rd_kafka_DeleteRecords_result_offsets(
                rd_kafka_event_DeleteRecords_result(event.pointer))
        else { return [:] }
        var oldest: [TopicPartition: Int64] = [:]
        for entry in unsafe PartitionList.entries(of: offsets) {
            if let error = entry.error { throw error }
            oldest[entry.partition] = entry.offset
        }
        return oldest
    }

    /// Sends a request with a queue of its own and waits for its answer.
    private func request(
        _ operation: rd_kafka_admin_op_t, timeoutMilliseconds: Int, waitsForCompletion: Bool,
        _ send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    ) throws(KafkaError) -> AdminAnswer {
        let options = unsafe rd_kafka_AdminOptions_new(self.pointer, operation)
        defer { unsafe rd_kafka_AdminOptions_destroy(options) }
        var text = [CChar](repeating: 0, count: 256)
        let timeout = Int32(clamping: timeoutMilliseconds)
        try unsafe self.check(rd_kafka_AdminOptions_set_request_timeout(options, timeout, &text, text.count))
        if waitsForCompletion {
            try unsafe self.check(rd_kafka_AdminOptions_set_operation_timeout(options, timeout, &text, text.count))
        }
        let queue = EventQueue(temporaryOf: self)
        unsafe send(options, queue.pointer)
        // The request's own time-out ends it; the second more only keeps this from waiting for ever.
        guard let event = unsafe rd_kafka_queue_poll(queue.pointer, timeout &+ 1000) else {
            throw KafkaError(.timedOut, "No answer in \(timeoutMilliseconds) ms.", isRetriable: true)
        }
        let answer = unsafe AdminAnswer(event)
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw unsafe KafkaError(code: code, text: String(cString: rd_kafka_event_error_string(event)))
        }
        return answer
    }

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

/// Owns the answer to an admin request; what is read from it belongs to it.
@safe private struct AdminAnswer: ~Copyable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe rd_kafka_event_destroy(self.pointer) }
}
