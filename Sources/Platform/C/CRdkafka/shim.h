// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

/// Puts a record into the producer's queue. Swift cannot call the variadic `rd_kafka_producev`, and its array form
/// would need a union for each field.
/// On success `headers` belongs to librdkafka; on failure it still belongs to the caller.
static inline rd_kafka_resp_err_t plaza_rd_kafka_produce(
    rd_kafka_t *client, const char *topic, int32_t partition,
    const void *key, size_t key_length, const void *value, size_t value_length,
    rd_kafka_headers_t *headers, void *opaque) {
    return rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, key_length), RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

/// Makes the mock broker answer its next `count` requests of the kind `api_key` with `error`, each `milliseconds` later
/// than usual. Swift cannot call the variadic function itself.
static inline rd_kafka_resp_err_t plaza_rd_kafka_mock_answer(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api_key, int count, rd_kafka_resp_err_t error,
    int milliseconds) {
    rd_kafka_resp_err_t result = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < count && result == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        result = rd_kafka_mock_broker_push_request_error_rtts(cluster, broker, api_key, 1, error, milliseconds);
    return result;
}
