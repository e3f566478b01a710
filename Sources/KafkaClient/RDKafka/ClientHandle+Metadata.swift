// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

extension ClientHandle {
    /// Asks for the cluster: brokers and all topics, or one topic.
    ///
    /// Waits for a broker while there is none.
    func clusterInfo(topic: String? = nil, timeoutMilliseconds: Int) throws(KafkaError) -> ClusterInfo {
        var reference: OpaquePointer?
        if let topic {
            unsafe reference = rd_kafka_topic_new(self.pointer, topic, nil)
            guard unsafe reference != nil else { throw KafkaError(.unknownTopic, "No valid topic name: \(topic)") }
        }
        defer {
            if let reference = unsafe reference { unsafe rd_kafka_topic_destroy(reference) }
        }
        var answer: UnsafePointer<rd_kafka_metadata>?
        try unsafe self.check(
            rd_kafka_metadata(
                self.pointer, topic == nil ? 1 : 0, reference, &answer, Int32(clamping: timeoutMilliseconds)))
        guard let answer = unsafe answer else { throw KafkaError(.other, "The broker gave no metadata.") }
        defer { unsafe rd_kafka_metadata_destroy(answer) }
        let metadata = unsafe answer.pointee
        // The answer told the client who it is, so this does not wait.
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
