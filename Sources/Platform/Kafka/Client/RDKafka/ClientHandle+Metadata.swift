// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

extension ClientHandle {
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
