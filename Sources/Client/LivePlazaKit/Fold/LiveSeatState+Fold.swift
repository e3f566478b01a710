// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import PlazaModel

extension LiveSeatState {
    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        // An input with a stage contains nothing else for this state.
        if let record = context.newStage { return self.show(record) }
        switch input {
        case .item(let entry):
            guard case .speaking(let users) = entry.content else { return }
            self.speakingUsers = Dictionary(
                users.map { ($0.user.text, $0.level) }, uniquingKeysWith: { first, _ in first })
        case .notice(.deviceClosedByAdmin(let device, _), _):
            context.events.append(
                .seat(device == .microphone ? .onLocalMicrophoneClosedByAdmin : .onLocalCameraClosedByAdmin))
        case .notice(.deviceOpenedByAdmin(let device, _, _), _):
            context.events.append(
                .seat(
                    device == .microphone
                        ? .onLocalMicrophoneOpenedByAdmin(policy: .unlockOnly)
                        : .onLocalCameraOpenedByAdmin(policy: .unlockOnly)))
        // Only items report who speaks, and only when it changes. After a gap, all users therefore count as silent.
        case .local(.itemsMissed): self.speakingUsers = [:]
        case .local(.mediaMeasured(let statistics)): self.avStatistics = statistics
        default: break
        }
    }

    /// Shows the seats of a stage, their regions and the canvas together, because they belong to one revision.
    private mutating func show(_ record: StageRecord) {
        let regions = Dictionary(
            record.layout.regions.map { (RegionKey(live: $0.live, seat: $0.seatIndex), RegionInfo($0)) },
            uniquingKeysWith: { first, _ in first })
        func seatInfos(_ seats: [Seat], of live: LiveID) -> [SeatInfo] {
            seats.map { seat in
                SeatInfo(
                    seat, live: live, region: regions[RegionKey(live: live, seat: seat.index)] ?? RegionInfo())
            }
        }
        self.seatList = seatInfos(record.seats, of: record.live)
        for member in record.connection?.members ?? [] where member.live != record.live {
            self.seatList += seatInfos(member.seats ?? [], of: member.live)
        }
        let canvas = record.layout.canvas
        self.canvas = LiveCanvas(
            templateID: UInt(clamping: canvas.templateID), w: CGFloat(canvas.width), h: CGFloat(canvas.height))
    }

    private struct RegionKey: Hashable {
        let live: LiveID
        let seat: Int
    }
}
