// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// The exact frames of each template (R9.1 to R9.7), alone and in connections.
///
/// A template is named by its number. The canvas has 1080x1920 pixels, and in landscape templates (200, 201, 400)
/// 1920x1080. In voice templates the canvas is 1080 pixels wide, and its height depends on the number of rows of
/// squares.
struct StageLayoutTests {
    /// The frame of a region as `x,y widthxheight`, with a leading `^` when its z-order is above 0.
    private static func frameText(_ region: StageLayout.Region) -> String {
        (region.zorder > 0 ? "^" : "") + "\(region.x),\(region.y) \(region.width)x\(region.height)"
    }

    /// The layout of the live `room` when the seats with the indices `occupied` are taken.
    ///
    /// The user on seat 3, for example, is `u3`.
    /// Only a voice template has as many seats as `requestedSeats`; other templates have a fixed number.
    static func layout(
        template templateID: Int, occupied: [Int], requestedSeats: Int = 9, connection: ConnectionView? = nil
    ) -> StageLayout {
        let template = SeatTemplate.resolved(templateID)
        let seats = (0..<template.seatCount(requested: requestedSeats)).map { index in
            let user = userInfo(UserID("u\(index)"))
            let occupant = SeatUser(user: user, role: index == 0 ? .owner : .generalUser, live: "room")
            return Seat(index: index, occupant: occupied.contains(index) ? occupant : nil)
        }
        return .computed(live: "room", seats: seats, template: template, connection: connection)
    }

    /// The frames of all regions when the first `users` seats are taken, as `frameText` writes them.
    private static func frames(template: Int, users: Int, requestedSeats: Int = 9) -> [String] {
        self.layout(template: template, occupied: Array(0..<users), requestedSeats: requestedSeats)
            .regions.map(self.frameText)
    }

    // MARK: - Exact frames

    /// Rules: R1.10, R9.1.
    @Test(
        arguments: [
            (0, []), (1, ["0,0 1080x1920"]), (2, ["0,0 540x1920", "540,0 540x1920"]),
            (3, ["0,0 540x1920", "540,0 540x960", "540,960 540x960"]),
            (4, ["0,0 540x960", "540,0 540x960", "0,960 540x960", "540,960 540x960"]),
            (
                5,
                ["0,0 360x960", "360,0 360x960", "720,0 360x960", "180,960 360x960", "540,960 360x960"]
            ),
            (
                6,
                [
                    "0,0 360x960", "360,0 360x960", "720,0 360x960", "0,960 360x960", "360,960 360x960",
                    "720,960 360x960",
                ]
            ),
            (
                7,
                [
                    "0,0 360x640", "360,0 360x640", "720,0 360x640", "0,640 360x640", "360,640 360x640",
                    "720,640 360x640",
                    "360,1280 360x640",
                ]
            ),
            (
                8,
                [
                    "0,0 360x640", "360,0 360x640", "720,0 360x640", "0,640 360x640", "360,640 360x640",
                    "720,640 360x640",
                    "180,1280 360x640", "540,1280 360x640",
                ]
            ),
            (
                9,
                [
                    "0,0 360x640", "360,0 360x640", "720,0 360x640", "0,640 360x640", "360,640 360x640",
                    "720,640 360x640",
                    "0,1280 360x640", "360,1280 360x640", "720,1280 360x640",
                ]
            ),
        ] as [(Int, [String])])
    func `template 600 divides the canvas into equal cells for the number of users`(users: Int, expected: [String]) {
        #expect(Self.frames(template: 600, users: users) == expected)
    }

    /// Rules: R9.2.
    @Test func `template 601 stacks small squares along the right edge, from the bottom up, over the first user`() {
        #expect(Self.frames(template: 601, users: 1) == ["0,0 1080x1920"])
        #expect(
            Self.frames(template: 601, users: 7) == [
                "0,0 1080x1920", "^810,1650 270x270", "^810,1380 270x270", "^810,1110 270x270", "^810,840 270x270",
                "^810,570 270x270", "^810,300 270x270",
            ])
    }

    /// Rules: R9.3.
    @Test func `templates 800 and 801 keep their empty cells`() {
        // Template 800 is a grid of three by three cells. Template 801 has a large cell and a column of six small ones.
        let grid = Self.layout(template: 800, occupied: [0, 4])
        #expect(grid.regions.count == 9)
        #expect(grid.regions.map(\.userID.text) == ["u0", "", "", "", "u4", "", "", "", ""])
        #expect(Self.frameText(grid.regions[4]) == "360,640 360x640")
        #expect(
            Self.frames(template: 801, users: 1) == [
                "0,0 832x1920", "832,0 248x320", "832,320 248x320", "832,640 248x320", "832,960 248x320",
                "832,1280 248x320", "832,1600 248x320",
            ])
    }

    /// Rules: R9.4.
    @Test(arguments: [(200, 4, 1920, 1080), (201, 10, 1920, 1080), (604, 10, 1080, 1920)])
    func `templates 200, 201 and 604 show one user, and the others are only heard`(
        template: Int, seats: Int, width: Int, height: Int
    ) {
        let layout = Self.layout(template: template, occupied: [0, 1])
        #expect(layout.canvas == StageLayout.Canvas(width: width, height: height, templateID: template))
        #expect(
            layout.regions.map(Self.frameText) == ["0,0 \(width)x\(height)"]
                + Array(repeating: "0,0 0x0", count: seats - 1))
    }

    /// Rules: R9.5.
    @Test func `templates 400 and 802 split the canvas in two halves`() {
        #expect(Self.frames(template: 400, users: 1) == ["0,0 960x1080", "960,0 960x1080"])
        // In template 802, each half has six cells.
        #expect(
            Self.frames(template: 802, users: 0) == [
                "0,0 270x640", "270,0 270x640", "0,640 270x640", "270,640 270x640", "0,1280 270x640",
                "270,1280 270x640",
                "540,0 270x640", "810,0 270x640", "540,640 270x640", "810,640 270x640", "540,1280 270x640",
                "810,1280 270x640",
            ])
    }

    /// Rules: R9.6.
    @Test func `template 602 gives the first user the largest cell, and template 603 gives all users equal cells`() {
        #expect(Self.frames(template: 602, users: 1) == ["0,0 1080x1920"])
        #expect(Self.frames(template: 602, users: 3) == ["0,0 720x1920", "720,0 360x960", "720,960 360x960"])
        #expect(Self.frames(template: 603, users: 2) == ["0,0 540x960", "540,0 540x960"])
        #expect(Self.frames(template: 603, users: 5).last == "360,640 360x640")
    }

    /// Rules: R9.7.
    @Test func `voice templates lay squares in rows, for as many seats as the live has`() {
        // Template 50 has four squares in a row, each 1080 / 4 = 270 wide. The two squares of the last row are centred.
        #expect(
            Self.frames(template: 50, users: 0, requestedSeats: 6) == [
                "0,0 270x270", "270,0 270x270", "540,0 270x270", "810,0 270x270", "270,270 270x270", "540,270 270x270",
            ])
        // Template 70 has five squares in a row, each 1080 / 5 = 216 wide. Six seats need two rows: 2 * 216 = 432.
        #expect(Self.layout(template: 70, occupied: [], requestedSeats: 6).canvas.height == 432)
        // The one square of the second row is centred: (1080 - 216) / 2 = 432.
        #expect(Self.frames(template: 70, users: 1, requestedSeats: 6).last == "432,216 216x216")
        #expect(Self.layout(template: 70, occupied: [], requestedSeats: 0).regions.isEmpty)
        // Template 2 has groups of six squares of 180, three in a row. The seventh square begins the second group.
        #expect(
            Self.frames(template: 2, users: 0).prefix(7) == [
                "0,0 180x180", "180,0 180x180", "360,0 180x180", "0,180 180x180", "180,180 180x180", "360,180 180x180",
                "540,0 180x180",
            ])
    }

    /// Rules: R3.41.
    @Test func `an unknown template has the layout of template 600`() {
        #expect(Self.layout(template: 999, occupied: [0, 3]) == Self.layout(template: 600, occupied: [0, 3]))
    }

    // MARK: - Co-hosts

    /// A live of a connection, with the seats that it has reported to the live `room` whose layout is computed.
    ///
    /// A video live reports its occupied seats, and none if `occupied` is nil. A voice live reports six seats, occupied
    /// or empty. `room` gets no report of its own seats. The user on seat 2 of `duet` is `duet2`.
    static func member(
        _ live: LiveID, occupied: [Int]? = nil, isVoice: Bool = false
    ) -> ConnectionMember {
        let occupiedSeats = (occupied ?? []).map { index in
            Seat(
                index: index,
                occupant: SeatUser(user: userInfo(UserID("\(live)\(index)")), role: .generalUser, live: live))
        }
        let emptySeats = (0..<6).filter { occupied?.contains($0) != true }.map { Seat(index: $0) }
        let seats = isVoice ? (occupiedSeats + emptySeats).sorted { $0.index < $1.index } : occupiedSeats
        let reportsSeats = live != "room" && (occupied != nil || isVoice)
        return ConnectionMember(
            live: live, host: userInfo(UserID("host-\(live)")), joinedAt: Timestamp(milliseconds: 0),
            seats: reportsSeats ? seats : nil)
    }

    @Test func `a connection's template shows all lives, the own live first, and hosts before guests`() {
        // trio has reported no seats, so its host is shown instead of occupants.
        let view = ConnectionView(
            id: "c-1", members: [Self.member("duet", occupied: [0, 2]), Self.member("room"), Self.member("trio")],
            templateID: 600)
        let layout = Self.layout(template: 800, occupied: [0, 5], connection: view)
        #expect(layout.canvas.templateID == 600)
        #expect(layout.regions.map(\.userID.text) == ["u0", "duet0", "host-trio", "u5", "duet2"])
        #expect(layout.regions.map(\.live.text) == ["room", "duet", "trio", "room", "duet"])
        #expect(layout.regions.map(\.seatIndex) == [0, 0, 0, 5, 2])

        let withEmptySeats = ConnectionView(
            id: "c-1", members: [Self.member("room"), Self.member("duet", occupied: [])], templateID: 600)
        #expect(
            Self.layout(template: 800, occupied: [0], connection: withEmptySeats).regions.map(\.userID.text) == ["u0"],
            "empty seats are not shown")
        #expect(
            Self.layout(template: 800, occupied: [0, 5]).canvas.templateID == 800,
            "without a connection, the live's own template applies")
    }

    /// Rules: R7.13.
    @Test
    func `a template decides whether other lives float over the own live, stand beside it, or get groups of six seats`()
    {
        let members = [Self.member("room"), Self.member("duet", occupied: [0])]
        let floating = Self.layout(
            template: 600, occupied: [0], connection: ConnectionView(id: "c-1", members: members, templateID: 601))
        #expect(floating.regions.map(Self.frameText) == ["0,0 1080x1920", "^810,1650 270x270"])

        let sideBySide = Self.layout(
            template: 600, occupied: [0, 1], connection: ConnectionView(id: "c-1", members: members, templateID: 400))
        // Template 400 has only two cells, so the region of the guest u1 has no area: u1 is only heard.
        #expect(sideBySide.regions.map(Self.frameText) == ["0,0 960x1080", "960,0 960x1080", "0,0 0x0"])
        #expect(sideBySide.regions.map(\.userID.text) == ["u0", "duet0", "u1"])

        let voiceMembers = [
            Self.member("room"), Self.member("duet", occupied: [1], isVoice: true),
            Self.member("trio", occupied: [], isVoice: true),
        ]
        let groups = Self.layout(
            template: 70, occupied: [0, 6], requestedSeats: 8,
            connection: ConnectionView(id: "c-1", members: voiceMembers, templateID: 2))
        // A group is 540 wide and 360 high. Two groups are side by side, so three groups need a height of 2 * 360 =
        // 720.
        #expect(groups.canvas == StageLayout.Canvas(width: 1080, height: 720, templateID: 2))
        #expect(groups.regions.count == 18, "six seats of each live, occupied or not")
        // duet1 has the second square of the second group, which begins at 540,0: 540 + 180 = 720.
        let duetGuest = groups.regions.first { $0.userID == "duet1" }
        #expect(duetGuest.map(Self.frameText) == "720,0 180x180")
        // The last region is the sixth square of the third group, which begins at 0,360.
        #expect(groups.regions.last.map(Self.frameText) == "360,540 180x180")
        #expect(!groups.regions.contains { $0.userID == "u6" }, "the seventh seat of a live is not shown")
    }

    /// Rules: R8.18.
    @Test func `a connection of one live, or with a voice template for a video live, does not change the layout`() {
        let alone = ConnectionView(id: "c-1", members: [Self.member("room")], templateID: 601)
        #expect(
            Self.layout(template: 600, occupied: [0], connection: alone) == Self.layout(template: 600, occupied: [0]))
        let voiceView = ConnectionView(id: "c-1", members: [Self.member("room"), Self.member("duet")], templateID: 2)
        #expect(
            Self.layout(template: 600, occupied: [0], connection: voiceView)
                == Self.layout(template: 600, occupied: [0]))
    }
}
