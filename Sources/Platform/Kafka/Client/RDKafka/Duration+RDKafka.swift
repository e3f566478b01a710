// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

extension Duration {
    /// The duration in whole milliseconds, the form of librdkafka's timeouts.
    var rdkafkaMilliseconds: Int32 { Int32(clamping: Milliseconds(self).count) }
}
