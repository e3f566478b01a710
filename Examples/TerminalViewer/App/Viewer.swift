// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTransport
import ViewerScreens

/// The app: subscribes to the stores, keeps what is seen in a `ViewerState`, and draws it.
@MainActor
final class Viewer {
    let plaza: LivePlaza
    let account: Account
    var state = ViewerState()
    /// The stores of the live that is shown, with what is subscribed to.
    var live: LiveBinding?
    var subscriptions: Set<AnyCancellable> = []

    private let terminal: Terminal
    private var painter: Painter
    private var keys = KeyParser()
    private var sources: [any DispatchSourceProtocol] = []
    private var animation: (any DispatchSourceTimer)?
    private var isDrawingPlanned = false

    /// The pause between two pictures while something moves.
    private static let frame = DispatchTimeInterval.milliseconds(50)
    /// How long after an escape a key that begins with it must follow.
    private static let escapePause = DispatchTimeInterval.milliseconds(40)
    /// How old the list of lives becomes before it is read again.
    private static let listAge = DispatchTimeInterval.seconds(5)

    /// - Throws: if there is no terminal, or no thread for the connection.
    init(_ account: Account, _ options: Options) throws {
        self.account = account
        self.painter = Painter(hasColour: options.hasColour)
        self.plaza = LivePlaza(
            options: PlazaOptions(
                gateways: account.gateways, tokenProvider: account.tokenProvider, transport: try LoopTransport()))
        self.state.userName = account.userID
        self.terminal = try Terminal()
    }

    /// Logs in, and shows the list of lives.
    func start(entering liveID: String?) {
        self.listen()
        self.bindLogin()
        self.bindList()
        self.draw()
        self.perform { viewer in
            let account = viewer.account
            try await viewer.plaza.loginStore.login(sdkAppID: 0, userID: account.userID, userSig: account.token)
            if let liveID { try await viewer.enter(liveID) } else { try await viewer.readList() }
        }
    }

    /// Runs a task whose error is shown.
    func perform(_ body: @escaping @MainActor (Viewer) async throws -> Void) {
        Task {
            do {
                try await body(self)
            } catch let error as ErrorInfo {
                self.say("\(error.message) (\(error.name.rawValue))", isError: true)
            } catch {
                self.say("\(error)", isError: true)
            }
        }
    }

    /// Shows a message for a few seconds.
    func say(_ text: String, isError: Bool = false) {
        self.state.say(text, isError: isError, at: Self.now)
        self.draw()
    }

    /// Logs out and ends the program.
    func quit() {
        self.state.message = nil
        Task {
            // The server learns at once that the user has gone; it need not wait for the lease's end.
            try? await self.plaza.loginStore.logout()
            exit(0)
        }
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(3)) { exit(0) }
    }

    /// Draws soon, once for all changes until then.
    func draw() {
        if self.isDrawingPlanned { return }
        self.isDrawingPlanned = true
        DispatchQueue.main.async { MainActor.assumeIsolated { self.drawNow() } }
    }

    private func drawNow() {
        self.isDrawingPlanned = false
        let (size, now) = (self.terminal.size, Self.now)
        self.state.live?.advance(to: now, size)
        let (canvas, cursor) = Screen.draw(
            self.state, size, now: now, wall: Date().timeIntervalSince1970 * 1000)
        self.terminal.write(self.painter.paint(canvas, cursor: cursor))
        self.setAnimation(self.state.live?.lanes.isMoving == true)
    }

    /// Starts or stops the timer that draws while messages fly.
    private func setAnimation(_ isMoving: Bool) {
        if !isMoving {
            self.animation?.cancel()
            self.animation = nil
        } else if self.animation == nil {
            self.animation = self.timer(every: Self.frame) { $0.draw() }
        }
    }

    /// Milliseconds of a clock that never goes back.
    static var now: Double { ProcessInfo.processInfo.systemUptime * 1000 }
}

extension Viewer {
    /// Begins to receive keys, signals, and the seconds of clocks.
    private func listen() {
        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
        self.handle(input) { $0.readKeys() }
        for number in [SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGPIPE] {
            // The default action must not come before the source.
            signal(number, number == SIGWINCH || number == SIGCONT ? SIG_DFL : SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            self.handle(source) { $0.receive(signal: number) }
        }
        self.sources.append(self.timer(every: .seconds(1)) { $0.draw() })
        self.sources.append(self.timer(every: Self.listAge) { $0.refreshList() })
    }

    private func receive(signal number: Int32) {
        switch number {
        case SIGWINCH: self.draw()
        case SIGCONT:
            self.terminal.begin()
            self.painter.forget()
            self.plaza.probe()
            self.draw()
        case SIGPIPE: break
        default: self.quit()
        }
    }

    private func readKeys() {
        guard let bytes = self.terminal.read() else { return self.quit() }
        for key in self.keys.read(bytes) { self.press(key) }
        if self.keys.isUndecided {
            DispatchQueue.main.asyncAfter(deadline: .now() + Self.escapePause) {
                MainActor.assumeIsolated { for key in self.keys.flush() { self.press(key) } }
            }
        }
        self.draw()
    }

    /// Stops the process until the shell continues it.
    func pause() { self.terminal.pause() }

    private func handle(_ source: some DispatchSourceProtocol, _ body: @escaping @MainActor (Viewer) -> Void) {
        source.setEventHandler { [weak self] in
            MainActor.assumeIsolated { if let self { body(self) } }
        }
        source.resume()
        self.sources.append(source)
    }

    private func timer(
        every interval: DispatchTimeInterval, _ body: @escaping @MainActor (Viewer) -> Void
    ) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in
            MainActor.assumeIsolated { if let self { body(self) } }
        }
        timer.resume()
        return timer
    }
}
