// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

/// Swift cannot call the variadic `rd_kafka_producev`, and the array form would build a union per field.
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
