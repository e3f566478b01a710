// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The table of seat templates: how many seats a live has, and how they are laid out (R3.18, R9.1 to R9.7).
struct SeatTemplateTests {
    /// Rules: R3.18.
    @Test(
        arguments: [
            (2, "hostVoiceConnection", 12), (200, "videoLandscape4Seats", 4), (201, "videoLandscape10Seats", 10),
            (400, "hostVideoLandscapeFixed2Seats", 2), (600, "videoDynamicGrid9Seats", 9),
            (601, "videoDynamicFloat7Seats", 7), (602, "videoLeftFocus9Seats", 9), (603, "videoUniformGrid9Seats", 9),
            (604, "videoPortrait10Seats", 10), (800, "videoFixedGrid9Seats", 9), (801, "videoFixedFloat7Seats", 7),
            (802, "portraitFixed6v6", 12),
        ] as [(Int, String, Int)])
    func `a fixed template has its number of seats, whatever is requested`(id: Int, name: String, seats: Int) throws {
        let template = try #require(SeatTemplate(id))
        #expect(template.name == name && template.fixesSeatCount)
        #expect([0, 1, seats, 50].allSatisfy { template.seatCount(requested: $0) == seats })
    }

    /// Rules: R3.18.
    @Test(arguments: [50, 70])
    func `the templates 50 (karaoke) and 70 (salon) have as many seats as requested, up to 50`(id: Int) throws {
        let template = try #require(SeatTemplate(id))
        #expect(!template.fixesSeatCount && template.kind == .voice)
        #expect([-1, 0, 6, 50, 51].map { template.seatCount(requested: $0) } == [0, 0, 6, 50, 50])
    }

    /// Rules: R3.16.
    @Test func `voice templates are numbered 1 to 199, video templates 200 to 999`() {
        for template in SeatTemplate.all {
            #expect((1...199).contains(template.id) == (template.kind == .voice), "\(template.id)")
            #expect((1...999).contains(template.id))
        }
        #expect(SeatTemplate.all.map(\.id) == SeatTemplate.all.map(\.id).sorted())
        #expect(SeatTemplate.all.filter(\.isLandscape).map(\.id) == [200, 201, 400])
    }

    /// Rules: R3.41.
    @Test(arguments: [0, 1, 51, 199, 605, 999, 1000, -1])
    func `an unknown template number stands for 600, the dynamic grid`(id: Int) {
        #expect(SeatTemplate(id) == nil)
        #expect(SeatTemplate.resolved(id) == .dynamicGrid)
        #expect(SeatTemplate.resolved(id).id == 600)
    }

    /// Rules: R9.8.
    @Test func `a connection is laid out only by the co-host templates of its kind`() {
        let video = SeatTemplate.all.map(\.id).filter { SeatTemplate.forConnection($0, of: .video) != nil }
        #expect(video == [400, 600, 601])
        #expect(SeatTemplate.all.map(\.id).filter { SeatTemplate.forConnection($0, of: .voice) != nil } == [2])
        // 0 means the default template.
        #expect(SeatTemplate.forConnection(0, of: .video)?.id == 600)
        #expect(SeatTemplate.forConnection(0, of: .voice)?.id == 2)
    }
}
