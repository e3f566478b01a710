// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// One live of the evening; it has the same id on each evening, so that a restarted evening continues the live.
package struct EveningLive: Hashable, Sendable {
    package let id: String
    package let title: String
    package let notice: String
    /// A category that the pages name: 0 chatting, 1 music, 2 games, 3 shopping, 4 outdoors, 5 learning.
    package let category: Int
    /// The number of the layout of seats (R3.16).
    package let seatTemplate: Int
    /// Whether viewers take a seat without an application.
    package let isFreeSeating: Bool
    /// The name of the host.
    package let host: String
    /// The name of the admin, who is viewer number 0.
    package let admin: String
    /// The names of the other viewers, who are numbered from 1.
    package let viewers: [String]
    /// The metadata that describe the product that the host sells; empty if the host sells none.
    package var product: [String: String] = [:]

    /// The path of the live's picture, which the gateway serves with the pages.
    package var coverURL: String { "/pages/covers/\(self.id).svg" }
    /// The id of the host.
    package var hostID: String { "\(self.id)-host" }

    /// The id of a viewer; number 0 is the admin.
    package func viewerID(_ number: Int) -> String { "\(self.id)-\(number)" }

    /// The name of a viewer; number 0 is the admin.
    package func viewerName(_ number: Int) -> String { number == 0 ? self.admin : self.viewers[number - 1] }

    /// The number of viewers, the admin included.
    package var viewerCount: Int { self.viewers.count + 1 }
}

/// The lives of the evening with their users, and the texts and gifts that the viewers send.
package enum EveningCast {
    /// The lives; the first two are connected and battle.
    package static let lives = [
        EveningLive(
            id: "evening-piano", title: "Late night piano, requests open", notice: "Be kind. Requests are welcome.",
            category: 1, seatTemplate: 600, isFreeSeating: false, host: "Mira Solberg", admin: "Noor Haddad",
            viewers: ["Kofi Mensah", "Aoi Tanaka", "Priya Nair", "Tomás Ortega", "小雨", "Elif Yıldız", "Jonas", "陈漫漫"]),
        EveningLive(
            id: "evening-radio", title: "深夜电台：聊聊今天的小事", notice: "欢迎上麦聊天", category: 0, seatTemplate: 600,
            isFreeSeating: true, host: "林小满", admin: "大熊",
            viewers: ["周一", "Leila Karimi", "阿杰", "Zoe Park", "小鹿", "Sam O’Neill", "柚子"]),
        EveningLive(
            id: "evening-market", title: "Handmade ceramics: new glazes", notice: "Ask about sizes and shipping.",
            category: 3, seatTemplate: 800, isFreeSeating: true, host: "Inês Duarte", admin: "Amélie Roux",
            viewers: ["Bruno Reis", "Hana Sato", "Greta Lind", "老王", "Nadia", "Owen Clarke"],
            product: [
                "product-name": "Stoneware cup, ash glaze", "product-price": "€ 24",
                "product-cover": "/pages/covers/evening-cup.svg",
            ]),
        EveningLive(
            id: "evening-games", title: "Rank climb with viewers", notice: "Take a seat and play along.",
            category: 2, seatTemplate: 800, isFreeSeating: true, host: "Ryo", admin: "Daria",
            viewers: ["Fox", "阿飞", "Marco", "Lucía", "Tariq", "夜猫子"]),
    ]

    /// The texts that viewers of all lives send.
    static let sharedTexts = [
        "hello everyone!", "来了来了", "first time here, love it", "哈哈哈哈哈", "greetings from Nairobi", "加油！", "haha true",
        "👏👏👏", "+1", "晚上好", "what did I miss?", "主播好厉害", "so good tonight", "太棒了", "hi from Lisbon 👋", "前排",
        "this made my evening", "笑死我了", "see you tomorrow too", "关注了", "❤️", "who else is on the train home?",
        "第一次来，好温馨", "brb, making tea",
    ]
    /// Further texts for the viewers of each live, by the index of the live.
    static let textsByLive = [
        [
            "what song was that?", "再来一首吧", "can you play the second one again?", "that left hand!", "想听《月光》",
            "some Satie please", "好安静好舒服", "how long have you played?",
        ],
        [
            "我今天也是！", "讲得太真实了", "same here, every Monday", "这首背景音乐叫什么", "抱抱主播", "深夜电台永远的神",
            "love the stories", "想上麦",
        ],
        [
            "is it dishwasher safe?", "这个颜色好看", "how big is the cup?", "包邮吗？", "ordered two!", "show the blue one",
            "那个盘子还有吗", "where is the studio?",
        ],
        [
            "gg!", "这波操作可以", "one more round", "push mid!", "稳住，我们能赢", "clutch!!", "what sensitivity do you use?",
            "带我一个",
        ],
    ]

    /// The category of the evening's gifts, which is added to the app's catalogue; other categories stay.
    static let category = GiftCategory(
        categoryID: GiftCategoryID("evening"), name: "Evening", translations: ["zh": GiftText(name: "今晚")])
    /// The gifts, from the cheapest to the most expensive one; a gift's level is its index.
    static let gifts: [Gift] = Self.giftPrices.enumerated().map { level, gift in
        Gift(
            giftID: GiftID("evening-\(gift.id)"), name: gift.name, level: level, coins: gift.coins,
            translations: ["zh": GiftText(name: gift.chineseName)])
    }
    private static let giftPrices: [(id: String, name: String, chineseName: String, coins: Int64)] = [
        ("rose", "Rose", "玫瑰", 1), ("tea", "Cup of tea", "一杯茶", 5), ("star", "Shooting star", "流星", 52),
        ("boat", "Paper boat", "纸船", 99), ("lantern", "Lantern", "灯笼", 188), ("castle", "Castle", "城堡", 1314),
    ]
}
