// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

extension CallTable {
    /// The parsed call with which an app's server changes the app's settings.
    private static func settingsCall(_ change: AppSettingsChange) -> ParsedCall {
        let command = DirectoryCommand.appSettings(change: change, caller: Samples.server)
        return .forward(.directory(DirectoryInput(app: Samples.app, command)), inLive: nil)
    }

    /// The calls about an app's gift catalogue and settings.
    static let apps: [CallSpec] = [
        CallSpec("gift.list", [.text("language", "en", isRequired: false)], .gifts(language: "en")),
        CallSpec("app.get", [], .app, role: .server),
        CallSpec(
            "app.setWords", [.list("words", "[\"bad\"]", isRequired: true)],
            Self.settingsCall(.setWords(words: ["bad"])),
            role: .server),
        CallSpec(
            "app.addWords", [.list("words", "[\"bad\"]", isRequired: true)],
            Self.settingsCall(.addWords(words: ["bad"])),
            role: .server),
        CallSpec(
            "app.removeWords", [.list("words", "[\"bad\"]", isRequired: true)],
            Self.settingsCall(.removeWords(words: ["bad"])),
            role: .server),
        CallSpec(
            "app.setGifts",
            [
                .list(
                    "categories",
                    #"[{"categoryID":"new","name":"New","gifts":[{"giftID":"rose","name":"Rose","coins":1}]}]"#,
                    isRequired: true)
            ],
            Self.settingsCall(
                .setGifts(categories: [
                    GiftCategory(
                        categoryID: "new", name: "New", gifts: [Gift(giftID: "rose", name: "Rose", coins: 1)])
                ])), role: .server),
        CallSpec(
            "app.putCategory", [.list("category", #"{"categoryID":"new","name":"New"}"#, isRequired: true)],
            Self.settingsCall(.putCategory(category: GiftCategory(categoryID: "new", name: "New"))), role: .server),
        CallSpec(
            "app.removeCategory", [.text("category", "new")], Self.settingsCall(.removeCategory(category: "new")),
            role: .server),
        CallSpec(
            "app.putGift",
            [.list("gift", #"{"giftID":"rose","name":"Rose"}"#, isRequired: true), .text("category", "new")],
            Self.settingsCall(.putGift(gift: Gift(giftID: "rose", name: "Rose"), category: "new")), role: .server),
        CallSpec(
            "app.removeGift", [.text("gift", "rose")], Self.settingsCall(.removeGift(gift: "rose")), role: .server),
    ]
}
