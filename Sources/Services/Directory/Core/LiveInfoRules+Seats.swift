// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The valid values of a live's seat fields, which depend on the seat template (R3.10, R3.17, R3.40, R3.41).
extension LiveInfoRules {
    /// Sets the seat fields from the request and the seat template.
    ///
    /// A video template fixes the number of seats and keeps the owner on a seat. In a voice live the request chooses
    /// the number of seats, and whether the owner keeps a seat.
    static func applySeats(_ changes: LiveChanges, to info: inout LiveInfo) throws(ReplyError) {
        let requestedTemplate = changes.seatTemplate ?? info.seatTemplate
        guard Limits.templates.contains(requestedTemplate) else {
            throw ReplyError(
                .badParameter, "seatTemplate is \(requestedTemplate); 1 to 199 are for voice, 200 to 999 for video")
        }
        let wasVoice = info.isVoice
        // Template 600 replaces an unknown template (R3.41).
        let template = SeatTemplate.resolved(requestedTemplate)
        info.seatTemplate = template.id
        guard info.isVoice == wasVoice else {
            throw ReplyError(
                .wrongRoomKind,
                "seatTemplate \(requestedTemplate) means template \(template.id), which is for "
                    + "\(wasVoice ? "video" : "voice") lives; a live cannot change between voice and video")
        }
        // A template with a fixed number of seats ignores the requested number, because older clients always send one.
        let validCounts = template.fixesSeatCount ? 0...Limits.seatCount : template.seats
        if let count = changes.maxSeatCount, !validCounts.contains(count) {
            throw ReplyError(
                .badParameter,
                "maxSeatCount is \(count); \(validCounts.lowerBound) to \(validCounts.upperBound) are possible in "
                    + "template \(template.id)")
        }
        info.maxSeatCount = template.seatCount(requested: changes.maxSeatCount ?? info.maxSeatCount)
        info.keepOwnerOnSeat = info.isVoice ? (changes.keepOwnerOnSeat ?? info.keepOwnerOnSeat) : true
    }
}
