// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct MetadataParams: Decodable {
    var live: String
    var metadata: [String: String]
}

/// Parses `metadata.*`.
extension CallParser {
    func parseMetadataCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "get":
            let params = try frame.params(LiveParams.self)
            // A call that names no keys reads all of them.
            return .metadata(try self.liveKey(params.live).live, keys: params.keys ?? [])
        case "set":
            let params = try frame.params(MetadataParams.self)
            let live = try self.liveKey(params.live).live
            try MetadataValidation.check(params.metadata)
            return self.forwardToDirectory(
                .setMetadata(live: live, values: params.metadata, caller: self.caller(withTicketFor: live)))
        case "delete":
            let params = try frame.params(LiveParams.self)
            let live = try self.liveKey(params.live).live
            guard let keys = params.keys else { throw ReplyError(.badParameter, "params.keys is missing") }
            guard !keys.isEmpty else { throw ReplyError(.badParameter, "keys names none; name at least one") }
            return self.forwardToDirectory(
                .deleteMetadata(live: live, keys: keys, caller: self.caller(withTicketFor: live)))
        default: throw Self.unknownMethodError(frame.method)
        }
    }
}
