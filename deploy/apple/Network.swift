// SPDX-License-Identifier: Apache-2.0
// The part of Network that LivePlazaKit uses, to type-check its code for Apple systems on Linux.
public import Dispatch

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }

    public let status: Status
}

public final class NWPathMonitor: @unchecked Sendable {
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

    public init() {}

    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
