// SPDX-License-Identifier: Apache-2.0
package import RedisClient

/// A connection to the Redis server that holds the leases, for use on one thread.
package protocol LeaseConnection: AnyObject {
    /// Connects, unless already connected; returns the number of the connection and the run id of the server.
    ///
    /// Throws after a short time-out if the server cannot be reached.
    func connect() throws(RedisError) -> RedisClient.Identity

    /// Runs scripts in one pipeline.
    ///
    /// Throws if the connection was lost since the last `connect`.
    ///
    /// - Returns: one reply for each call; a script that fails replies with `.error`.
    func run(_ calls: [RedisScriptCall]) throws(RedisError) -> [RedisReply]
}
