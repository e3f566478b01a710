// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct ProfileParams: Decodable {
    var name: String?
    var avatarURL: String?
}

/// Parses `self.*`: the caller's own profile.
extension CallParser {
    func parseProfileCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        guard name == "update" else { throw Self.unknownMethodError(frame.method) }
        let params = try frame.params(ProfileParams.self)
        guard params.name != nil || params.avatarURL != nil else {
            throw ReplyError(.badParameter, "give a name or an avatarURL")
        }
        if let validationError = UserInfo.validationError(name: params.name, avatarURL: params.avatarURL) {
            throw validationError
        }
        return .updateProfile(name: params.name, avatarURL: params.avatarURL)
    }
}
