// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct GiftListParams: Decodable {
    var language: String?
}

private struct WordsParams: Decodable {
    var words: [String]
}

private struct CatalogueParams: Decodable {
    var categories: [GiftCategory]
}

private struct CategoryParams: Decodable {
    var category: GiftCategory
}

private struct CategoryNameParams: Decodable {
    var category: GiftCategoryID
}

private struct GiftParams: Decodable {
    var gift: Gift
    var category: GiftCategoryID
}

private struct GiftNameParams: Decodable {
    var gift: GiftID
}

/// `gift.*` and `app.*`: the catalogue, and what an app's server sets.
extension CallParser {
    /// The methods that are read here.
    static let appMethods: Set<String> = [
        "gift.list", "app.get", "app.setWords", "app.addWords", "app.removeWords", "app.setGifts", "app.putCategory",
        "app.removeCategory", "app.putGift", "app.removeGift",
    ]

    func gift(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "list": return .gifts(language: try frame.params(GiftListParams.self).language)
        default: throw Self.unknown(frame.method)
        }
    }

    func settings(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        // Answered from memory, so nobody behind this checks it; changes are checked by the directory as well.
        guard self.caller.role == .server else {
            throw ReplyError(.noPermission, "only an app's server sees and changes its settings")
        }
        let change: AppSettingsChange
        switch name {
        case "get": return .app
        case "setWords": change = .setWords(words: try frame.params(WordsParams.self).words)
        case "addWords": change = .addWords(words: try frame.params(WordsParams.self).words)
        case "removeWords": change = .removeWords(words: try frame.params(WordsParams.self).words)
        case "setGifts": change = .setGifts(categories: try frame.params(CatalogueParams.self).categories)
        case "putCategory": change = .putCategory(category: try frame.params(CategoryParams.self).category)
        case "removeCategory": change = .removeCategory(category: try frame.params(CategoryNameParams.self).category)
        case "putGift":
            let params = try frame.params(GiftParams.self)
            change = .putGift(gift: params.gift, category: params.category)
        case "removeGift": change = .removeGift(gift: try frame.params(GiftNameParams.self).gift)
        default: throw Self.unknown(frame.method)
        }
        let command = DirectoryCommand.appSettings(change: change, caller: self.caller)
        return .forward(.directory(DirectoryInput(app: self.app, command)), inRoom: nil)
    }
}
