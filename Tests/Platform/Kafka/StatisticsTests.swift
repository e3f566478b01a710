// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import Testing

/// Tests of `KafkaStatistics`: what librdkafka, the library of the Kafka clients, reports about a client.
@Suite(.timeLimit(.minutes(1)))
struct StatisticsTests {
    @Test func `statistics are parsed from librdkafka's JSON, and other JSON throws an error`() throws {
        let json = #"""
            {"name":"a#consumer-1","client_id":"a","type":"consumer","ts":5,"time":1,"age":2,"replyq":3,"msg_cnt":1,
             "msg_size":20,"msg_max":100,"msg_size_max":9,"txmsgs":4,"txmsg_bytes":40,"rxmsgs":5,"rxmsg_bytes":50,
             "brokers":{"h:1/1":{"name":"h:1/1","nodeid":1,"state":"UP","outbuf_cnt":1,"waitresp_cnt":2,"txerrs":3,
             "rxerrs":4,"req_timeouts":5,"rtt":{"min":1,"max":9,"avg":700,"p99":8}},
             "h:2/b":{"name":"h:2/b","state":"INIT"}},
             "topics":{"t":{"topic":"t","partitions":{
             "0":{"partition":0,"fetchq_cnt":2,"next_offset":95,"app_offset":93,"hi_offset":100,"consumer_lag":50},
             "1":{"partition":1,"fetchq_cnt":0,"next_offset":100,"app_offset":99,"hi_offset":100,"consumer_lag":50},
             "2":{"partition":2,"fetchq_cnt":5,"next_offset":95,"app_offset":-1001,"hi_offset":100,"consumer_lag":-1},
             "3":{"partition":3,"fetchq_cnt":0,"next_offset":0,"app_offset":-1001,"hi_offset":-1001,"consumer_lag":-1},
             "-1":{"partition":-1,"next_offset":0,"hi_offset":-1001,"consumer_lag":-1}}}},
             "cgrp":{"state":"up","rebalance_cnt":2},"eos":{"txn_state":"Ready"}}
            """#
        let statistics = try KafkaStatistics(json: Data(json.utf8))
        #expect(statistics.type == "consumer")
        #expect(statistics.queuedRecords == 1 && statistics.queueLimit == 100 && statistics.waitingEvents == 3)
        #expect(statistics.sentRecords == 4 && statistics.receivedRecords == 5)
        #expect(statistics.brokers.map(\.name) == ["h:1/1", "h:2/b"])
        #expect(statistics.brokers[0].roundTripMicroseconds == 700 && statistics.brokers[0].timeouts == 5)
        // The lag is the number of records that the application has not read. It has read partition 0 up to 93 of 100,
        // so the lag is 7. In partition 1 only a transaction marker follows (99 to 100), so the lag is 0. The
        // application has not read partition 2, but 5 fetched records wait before the offset 95. So it will read from
        // 90 on, and the lag is 10. The end of partition 3 is not known, and partition -1 is internal to librdkafka.
        let lag: [TopicPartition: Int64] = [
            TopicPartition("t", 0): 7, TopicPartition("t", 1): 0, TopicPartition("t", 2): 10,
        ]
        #expect(statistics.lag == lag)
        #expect(statistics.rebalances == 2 && statistics.transactionState == "Ready")

        #expect(throws: (any Error).self) { _ = try KafkaStatistics(json: Data("[]".utf8)) }
    }

    @Test func `a producer and a consumer report their statistics`() async throws {
        try await runOnDedicatedThread {
            let topic = try TestBroker.embedded.makeTopic("statistics")
            let reported = Collected<KafkaStatistics>()
            var settings = try TestBroker.embedded.settings()
            settings.statisticsInterval = .milliseconds(50)
            settings.onStatistics = { reported.append($0) }
            let producer = try KafkaProducer(settings)
            _ = try producer.sendAndWait(OutgoingRecord(topic: topic, text: "x"), timeout: .seconds(10))
            let consumer = try KafkaConsumer(settings, fetchWait: .milliseconds(5))
            try consumer.assign([TopicPartition(topic, 0): 0])
            // Nil if one of the two has not reported in time.
            let reportsOfBoth = try consumer.poll { _, _ in
                reported.all.contains { $0.type == "producer" && $0.sentRecords == 1 }
                    && reported.all.contains { $0.type == "consumer" && $0.receivedRecords == 1 }
            }
            #expect(reportsOfBoth != nil)
            producer.close(timeout: .seconds(1))
        }
    }
}
