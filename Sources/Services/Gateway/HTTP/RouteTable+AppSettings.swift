// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for an app's word filter and gift catalogue.
extension RouteTable {
    /// A word of the filter.
    private static let word = Schema.plainText(1...AppLimits.wordBytes)
    /// The body of the requests that set or add words.
    private static let wordsBody = Schema.object([
        .required(
            "words", .list(of: Self.word, 0...AppLimits.words),
            "Each of 1 to 100 bytes; the whole filter has at most 64 KB.")
    ])
    private static let translations = Schema.Field.optional(
        "translations",
        .map(
            of: .object([
                .required("name", .plainText(0...AppLimits.nameBytes)),
                .optional("desc", .plainText(0...AppLimits.descBytes)),
            ]), 0...AppLimits.languages, names: Route.identifier(AppLimits.languageBytes)),
        "Name and description by language.")
    /// The fields that gifts and categories of gifts have in common.
    private static let commonFields: [Schema.Field] = [
        .required("name", .plainText(1...AppLimits.nameBytes)), .optional("desc", .plainText(0...AppLimits.descBytes)),
        .optional("extensionInfo", .plainText(0...AppLimits.extensionInfoBytes)), Self.translations,
    ]
    private static let giftFields: [Schema.Field] =
        Self.commonFields + [
            .optional("iconURL", .plainText(0...AppLimits.urlBytes)),
            .optional("resourceURL", .plainText(0...AppLimits.urlBytes)),
            .optional("level", .integer(0...Int64(AppLimits.level.upperBound))),
            .optional("coins", .integer(AppLimits.coins), "The price of one gift."),
        ]
    /// The id of a gift or of a category of gifts.
    private static let itemID = Route.identifier(32)
    private static let categories = Schema.list(
        of: .object(
            Self.commonFields + [
                .required("categoryID", Self.itemID),
                .optional(
                    "gifts",
                    .list(of: .object(Self.giftFields + [.required("giftID", Self.itemID)]), 0...AppLimits.gifts)),
            ]), 0...AppLimits.categories)

    static let appSettings: [Route] = [
        Route(
            method: .get, path: "/v1/app", id: "getApp", tag: "app", summary: "Gives the app's words and gifts.",
            call: "app.get",
            success: .result(
                "app", [.required("settings", .named("AppSettings")), .required("revision", .count)])),
        Route(
            method: .put, path: "/v1/app/words", id: "setWords", tag: "app",
            summary: "Replaces the words of the filter.", call: "app.setWords", body: Self.wordsBody,
            success: .done),
        Route(
            method: .post, path: "/v1/app/words", id: "addWords", tag: "app", summary: "Adds words to the filter.",
            call: "app.addWords", body: Self.wordsBody, success: .done),
        Route(
            method: .delete, path: "/v1/app/words", id: "removeWords", tag: "app",
            summary: "Removes words from the filter; words that are not in it are ignored.", call: "app.removeWords",
            query: [
                .init(
                    name: "word", field: "words", schema: .list(of: Self.word, 1...50), isRequired: true,
                    summary: "A word to remove; repeat the parameter for each further word, up to 50 words.")
            ], success: .done),
        Route(
            method: .get, path: "/v1/app/gifts", id: "listGifts", tag: "app", summary: "Gives the gift catalogue.",
            call: "gift.list", access: .anyone,
            query: [
                .init(
                    name: "language", field: "language", schema: .string,
                    summary:
                        "The language of names and descriptions; if there is no translation, the untranslated text.")
            ],
            success: .result(
                "gifts", [.required("categories", .list(of: .named("GiftCategory"), 0...AppLimits.categories))])),
        Route(
            method: .put, path: "/v1/app/gifts", id: "setGifts", tag: "app",
            summary: "Replaces the whole gift catalogue.", call: "app.setGifts",
            body: .object([.required("categories", Self.categories)]), success: .done),
        Route(
            method: .put, path: "/v1/app/gifts/{gift}", id: "putGift", tag: "app",
            summary: "Adds or changes a gift, or moves it to another category.", call: "app.putGift",
            parts: [.init(name: "gift", field: "giftID", schema: Self.itemID, summary: "The gift's id.")],
            body: .object([.required("category", Self.itemID, "The id of the gift's category.")] + Self.giftFields),
            success: .done,
            // The call has an object `gift` with the id and the fields, and next to it the category's id.
            convertParameters: { Self.nested($0, as: "gift", keeping: "category") }),
        Route(
            method: .delete, path: "/v1/app/gifts/{gift}", id: "removeGift", tag: "app",
            summary: "Removes a gift.", call: "app.removeGift",
            parts: [.init(name: "gift", field: "gift", schema: Self.itemID, summary: "The gift's id.")],
            success: .done),
        Route(
            method: .put, path: "/v1/app/gift-categories/{category}", id: "putGiftCategory", tag: "app",
            summary: "Adds or changes a category, without changing its gifts.", call: "app.putCategory",
            parts: [.init(name: "category", field: "categoryID", schema: Self.itemID, summary: "The category's id.")],
            body: .object(Self.commonFields), success: .done,
            // The call has only an object `category` with the id and the fields.
            convertParameters: { Self.nested($0, as: "category", keeping: nil) }),
        Route(
            method: .delete, path: "/v1/app/gift-categories/{category}", id: "removeGiftCategory", tag: "app",
            summary: "Removes a category and all its gifts.", call: "app.removeCategory",
            parts: [.init(name: "category", field: "category", schema: Self.itemID, summary: "The category's id.")],
            success: .done),
    ]

    /// Moves all parameters except `kept` into an object named `name`, and leaves `kept` beside it.
    private static func nested(
        _ parameters: [String: JSONValue], as name: String, keeping kept: String?
    ) -> [String: JSONValue] {
        var inner = parameters
        var outer: [String: JSONValue] = [:]
        if let kept, let value = inner.removeValue(forKey: kept) { outer[kept] = value }
        outer[name] = .object(inner)
        return outer
    }
}
