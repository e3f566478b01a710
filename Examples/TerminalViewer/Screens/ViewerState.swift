// SPDX-License-Identifier: Apache-2.0

/// Everything that the viewer shows.
///
/// `Screen.draw` makes a canvas from it; nothing else decides what is on the screen.
package struct ViewerState: Hashable, Sendable {
    /// The user's name, as other users see it.
    package var userName = ""
    package var connection = Connection.offline
    package var list = LiveListPage()
    /// The live that the user is in; nil while the list is shown.
    package var live: LivePage?
    package var input = InputLine()
    /// The question that the user answers in the input line while the list is shown; nil while keys are commands.
    package var question: String?
    package var message: StatusMessage?
    package var isHelpShown = false

    package init() {}

    /// Shows a message: an error for eight seconds, any other text for five.
    package mutating func showMessage(_ text: String, isError: Bool = false, at now: Double) {
        self.message = StatusMessage(text: text, isError: isError, shownUntil: now + (isError ? 8000 : 5000))
    }
}

/// Whether the client is connected.
package enum Connection: String, Sendable {
    case offline, connecting, online, reconnecting
}

/// A message in the line above the input.
package struct StatusMessage: Hashable, Sendable {
    package var text: String
    package var isError: Bool
    /// When the message disappears, in milliseconds of the animation's clock.
    package var shownUntil: Double
}

/// The list of lives.
package struct LiveListPage: Hashable, Sendable {
    package var lives: [LiveRow] = []
    /// The index of the live under the cursor.
    package var selected = 0
    /// Whether the server has more lives than were read.
    package var hasMore = false
    package var isLoading = false

    package init() {}

    /// The live under the cursor.
    package var selectedLive: LiveRow? { self.lives.indices.contains(self.selected) ? self.lives[self.selected] : nil }

    /// Moves the cursor.
    package mutating func move(by count: Int) {
        self.selected = min(max(self.selected + count, 0), max(self.lives.count - 1, 0))
    }

    /// Shows a list; the cursor stays on its live.
    package mutating func show(_ lives: [LiveRow], hasMore: Bool) {
        let id = self.selectedLive?.id
        (self.lives, self.hasMore) = (lives, hasMore)
        if let index = lives.firstIndex(where: { $0.id == id }) { self.selected = index }
        // If the list has become shorter, this moves the cursor into it.
        self.move(by: 0)
    }
}

/// A live in the list.
package struct LiveRow: Hashable, Sendable {
    package var id: String
    package var name: String
    package var owner: String
    package var viewerCount: Int

    package init(id: String, name: String, owner: String, viewerCount: Int) {
        self.id = id
        self.name = name
        self.owner = owner
        self.viewerCount = viewerCount
    }
}

/// The live that the user is in.
package struct LivePage: Hashable, Sendable {
    package var id: String
    package var name = ""
    package var owner = ""
    /// Whether the user is the owner or an admin.
    package var isHost = false
    package var viewerCount = 0
    /// Whether `viewerCount` is not certain at present.
    package var isCountStale = false
    package var likeCount = 0
    /// How long the live has lasted.
    package var durationSeconds = 0
    package var chat: [ChatLine] = []
    /// How many entries of `chat` the chat is scrolled back.
    package var scrolledLines = 0
    /// The list of viewers, which may have fewer entries than `viewerCount`.
    package var audience: [ViewerRow] = []
    package var seats: [SeatBox] = []
    package var battle: BattleBar?
    package var requests: [OpenRequest] = []
    package var lanes = BarrageLanes()

    /// The maximum number of lines of the chat that are kept.
    private static let maxLines = 500

    package init(id: String) { self.id = id }

    /// Adds a line to the chat; a chat that is scrolled back still shows the same lines.
    package mutating func add(_ line: ChatLine) {
        self.chat.append(line)
        if self.chat.count > Self.maxLines { self.chat.removeFirst(self.chat.count - Self.maxLines) }
        if self.scrolledLines > 0 { self.scrolledLines = min(self.scrolledLines + 1, self.chat.count) }
    }
}

/// A line of the chat: a message of a user, or a report of an event.
package struct ChatLine: Hashable, Sendable {
    /// The author's name; empty for an event.
    package var author: String
    package var text: String

    package init(author: String = "", text: String) {
        self.author = author
        self.text = text
    }
}

/// A viewer in the list of viewers.
package struct ViewerRow: Hashable, Sendable {
    package var id: String
    package var name: String
    package var isHost: Bool

    package init(id: String, name: String, isHost: Bool) {
        self.id = id
        self.name = name
        self.isHost = isHost
    }
}

/// A seat of the stage.
package struct SeatBox: Hashable, Sendable {
    package var index: Int
    /// The user's name; empty for a free seat.
    package var name: String
    package var isOwner = false
    package var isLocked = false
    package var isMicrophoneOn = false
    package var isCameraOn = false
    package var isSpeaking = false
    /// The part of the stage that the seat covers, as fractions of the stage; nil for a seat without a picture.
    package var region: Region?

    package init(index: Int, name: String) {
        self.index = index
        self.name = name
    }

    /// A part of the stage: 0 is its left or top edge, 1 its whole width or height.
    package struct Region: Hashable, Sendable {
        package var x: Double
        package var y: Double
        package var width: Double
        package var height: Double

        package init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }
}

/// A running battle.
package struct BattleBar: Hashable, Sendable {
    /// One of the hosts who battle.
    package struct Side: Hashable, Sendable {
        package var name: String
        package var score: Int

        package init(name: String, score: Int) {
            self.name = name
            self.score = score
        }
    }

    package var sides: [Side]
    /// When the battle ends, in milliseconds since 1970.
    package var endTime: Double

    package init(sides: [Side], endTime: Double) {
        self.sides = sides
        self.endTime = endTime
    }
}

/// A request that waits for the user's answer.
package struct OpenRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A viewer applies for a seat.
        case application
        /// A host offers a seat.
        case invitation
        /// The host of another live wants to be connected.
        case connection
        /// A connected host wants a battle.
        case battle
    }

    package var kind: Kind
    /// The id with which the request is answered: of the user, of the live, or of the battle.
    package var key: String
    /// The name of the user who asks.
    package var name: String

    package init(_ kind: Kind, key: String, name: String) {
        self.kind = kind
        self.key = key
        self.name = name
    }

    /// The request as a sentence.
    package var sentence: String {
        switch self.kind {
        case .application: "\(self.name) would like a seat"
        case .invitation: "\(self.name) offers you a seat"
        case .connection: "\(self.name) would like to connect the lives"
        case .battle: "\(self.name) challenges you to a battle"
        }
    }
}
