// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

extension ClientHandle {
    /// Removes the error events of an admin client, and returns the last error that only an operator can fix.
    ///
    /// Such an error is, for example, a rejected password. The result is nil if there is no such error.
    ///
    /// After such an error librdkafka keeps trying to connect, and a call that waits for a broker only times out.
    /// Therefore the cause is taken from the client's error events.
    func takeSecurityError() -> KafkaError? {
        guard let queue = unsafe rd_kafka_queue_get_main(self.pointer) else { return nil }
        defer { unsafe rd_kafka_queue_destroy(queue) }
        var lastError: KafkaError?
        while let event = unsafe rd_kafka_queue_poll(queue, 0) {
            defer { unsafe rd_kafka_event_destroy(event) }
            guard unsafe rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR else { continue }
            let text = unsafe rd_kafka_event_error_string(event).map { unsafe String(cString: $0) }
            let error = KafkaError(code: unsafe rd_kafka_event_error(event), text: text)
            if error.needsOperator { lastError = error }
        }
        return lastError
    }

    /// Queries the brokers, and all topics or only `topic`; waits while no broker is reachable.
    func clusterInfo(topic: String? = nil, timeout: Duration) throws(KafkaError) -> ClusterInfo {
        var topicHandle: OpaquePointer?
        if let topic {
            unsafe topicHandle = rd_kafka_topic_new(self.pointer, topic, nil)
            guard unsafe topicHandle != nil else { throw KafkaError(.unknownTopic, "Not a valid topic name: \(topic)") }
        }
        defer {
            if let topicHandle = unsafe topicHandle { unsafe rd_kafka_topic_destroy(topicHandle) }
        }
        var response: UnsafePointer<rd_kafka_metadata>?
        // 1 queries all topics, 0 only `topicHandle`.
        try unsafe self.check(
            rd_kafka_metadata(
                self.pointer, topic == nil ? 1 : 0, topicHandle, &response, timeout.rdkafkaMilliseconds))
        guard let response = unsafe response else { throw KafkaError(.other, "The broker returned no metadata.") }
        defer { unsafe rd_kafka_metadata_destroy(response) }
        let metadata = unsafe response.pointee
        // The response above contained the controller, so this call does not block.
        let controllerID = unsafe rd_kafka_controllerid(self.pointer, 0)
        var info = ClusterInfo(controllerID: controllerID, brokers: [], topics: [:])
        for index in 0..<Int(unsafe metadata.broker_cnt) {
            let broker = unsafe metadata.brokers[index]
            unsafe info.brokers.append(
                ClusterInfo.Broker(id: broker.id, host: String(cString: broker.host), port: Int(broker.port)))
        }
        for index in 0..<Int(unsafe metadata.topic_cnt) {
            let entry = unsafe metadata.topics[index]
            let name = unsafe String(cString: entry.topic)
            guard unsafe entry.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                if topic != nil { throw unsafe KafkaError(code: entry.err) }
                continue
            }
            info.topics[name] = Int(unsafe entry.partition_cnt)
        }
        return info
    }
}
