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

private struct CategoryIDParams: Decodable {
    var category: GiftCategoryID
}

private struct GiftParams: Decodable {
    var gift: Gift
    var category: GiftCategoryID
}

private struct GiftIDParams: Decodable {
    var gift: GiftID
}

/// Parses `gift.list` and `app.*`: the gift catalogue and the app's settings.
extension CallParser {
    /// The methods that this extension parses.
    static let appMethods: Set<String> = [
        "gift.list", "app.get", "app.setWords", "app.addWords", "app.removeWords", "app.setGifts", "app.putCategory",
        "app.removeCategory", "app.putGift", "app.removeGift",
    ]

    func parseCatalogueCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "list": return .gifts(language: try frame.params(GiftListParams.self).language)
        default: throw Self.unknownMethodError(frame.method)
        }
    }

    func parseAppCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        // For `app.get` this is the only check of the caller, because the gateway answers the call from memory.
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
        case "removeCategory": change = .removeCategory(category: try frame.params(CategoryIDParams.self).category)
        case "putGift":
            let params = try frame.params(GiftParams.self)
            change = .putGift(gift: params.gift, category: params.category)
        case "removeGift": change = .removeGift(gift: try frame.params(GiftIDParams.self).gift)
        default: throw Self.unknownMethodError(frame.method)
        }
        try Self.checkCounts(of: change)
        let command = DirectoryCommand.appSettings(change: change, caller: self.caller)
        return .forward(.directory(DirectoryInput(app: self.app, command)), inLive: nil)
    }

    /// Rejects a change with more words, gifts, categories or languages than an app may have (R17.7).
    ///
    /// A request may omit fields of a gift that the record contains. Therefore a small request could become a large
    /// record.
    private static func checkCounts(of change: AppSettingsChange) throws(ReplyError) {
        let categories: [GiftCategory]
        switch change {
        case .setWords(let words), .addWords(let words), .removeWords(let words):
            if words.count > AppLimits.words {
                throw ReplyError(.overLimit, "an app has at most \(AppLimits.words) words")
            }
            return
        case .setGifts(let newCategories): categories = newCategories
        case .putCategory(let category): categories = [category]
        case .putGift(let gift, let category):
            categories = [GiftCategory(categoryID: category, name: "", gifts: [gift])]
        case .removeCategory, .removeGift: return
        }
        let gifts = categories.flatMap(\.gifts)
        guard categories.count <= AppLimits.categories, gifts.count <= AppLimits.gifts else {
            throw ReplyError(
                .overLimit, "an app has at most \(AppLimits.gifts) gifts in \(AppLimits.categories) categories")
        }
        let languageCounts = categories.map(\.translations.count) + gifts.map(\.translations.count)
        guard languageCounts.allSatisfy({ $0 <= AppLimits.languages }) else {
            throw ReplyError(.overLimit, "translations are of at most \(AppLimits.languages) languages")
        }
    }
}
