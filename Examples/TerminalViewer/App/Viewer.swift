// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTransport
import ViewerScreens

/// The app: subscribes to the stores, keeps what is shown in a `ViewerState`, and draws it.
@MainActor
final class Viewer {
    let plaza: LivePlaza
    let account: Account
    var state = ViewerState()
    /// The stores of the live that is shown, with their subscriptions; nil while the list is shown.
    var live: LiveBinding?
    var subscriptions: Set<AnyCancellable> = []

    private let terminal: Terminal
    private var painter: Painter
    private var keys = KeyParser()
    private var eventSources: [any DispatchSourceProtocol] = []
    /// Draws while barrages move across the screen; nil while none moves.
    private var animation: (any DispatchSourceTimer)?
    private var isDrawingScheduled = false

    /// The time between two drawings while barrages move across the screen.
    private static let frameInterval = DispatchTimeInterval.milliseconds(50)
    /// How long to wait after an escape byte for the other bytes of an escape sequence.
    private static let escapeTimeout = DispatchTimeInterval.milliseconds(40)
    /// The time after which the list of lives is read again.
    private static let listRefreshInterval = DispatchTimeInterval.seconds(5)

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

    /// Logs in, and enters `liveID`; nil: shows the list of lives.
    func start(entering liveID: String?) {
        self.startEventSources()
        self.bindLogin()
        self.bindList()
        self.draw()
        self.perform { viewer in
            let account = viewer.account
            try await viewer.plaza.loginStore.login(sdkAppID: 0, userID: account.userID, userSig: account.token)
            if let liveID { try await viewer.enter(liveID) } else { try await viewer.readList() }
        }
    }

    /// Runs `body` in a task, and shows its error.
    func perform(_ body: @escaping @MainActor (Viewer) async throws -> Void) {
        Task {
            do {
                try await body(self)
            } catch let error as ErrorInfo {
                self.showMessage("\(error.message) (\(error.name.rawValue))", isError: true)
            } catch {
                self.showMessage("\(error)", isError: true)
            }
        }
    }

    /// Shows a message for a few seconds.
    func showMessage(_ text: String, isError: Bool = false) {
        self.state.showMessage(text, isError: isError, at: Self.now)
        self.draw()
    }

    /// Logs out and ends the program.
    func quit() {
        self.state.message = nil
        Task {
            // With a logout the server knows at once that the user has gone. Otherwise it would wait for the lease to
            // expire.
            try? await self.plaza.loginStore.logout()
            exit(0)
        }
        // The program ends even if the logout gets no answer.
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(3)) { exit(0) }
    }

    /// Schedules one drawing; it shows every change that was made before it runs.
    func draw() {
        if self.isDrawingScheduled { return }
        self.isDrawingScheduled = true
        DispatchQueue.main.async { MainActor.assumeIsolated { self.drawNow() } }
    }

    private func drawNow() {
        self.isDrawingScheduled = false
        let (size, now) = (self.terminal.size, Self.now)
        self.state.live?.advance(to: now, size)
        let (canvas, cursor) = Screen.draw(
            self.state, size, now: now, wallTime: self.plaza.serverTime.timeIntervalSince1970 * 1000)
        self.terminal.write(self.painter.paint(canvas, cursor: cursor))
        self.setAnimation(self.state.live?.lanes.isMoving == true)
    }

    /// Starts or stops the timer that draws while barrages move across the screen.
    private func setAnimation(_ isMoving: Bool) {
        if !isMoving {
            self.animation?.cancel()
            self.animation = nil
        } else if self.animation == nil {
            self.animation = self.timer(every: Self.frameInterval) { $0.draw() }
        }
    }

    /// Milliseconds of a clock that never goes back.
    static var now: Double { ProcessInfo.processInfo.systemUptime * 1000 }
}

extension Viewer {
    /// Begins to receive keys and signals, and starts the timers that draw each second and read the list again.
    private func startEventSources() {
        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
        self.handle(input) { $0.readKeys() }
        for number in [SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGPIPE] {
            // A signal whose default action ends the process is ignored, so that the source can receive it. SIGWINCH
            // and SIGCONT keep their default action, which does not end the process.
            signal(number, number == SIGWINCH || number == SIGCONT ? SIG_DFL : SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            self.handle(source) { $0.receive(signal: number) }
        }
        self.eventSources.append(self.timer(every: .seconds(1)) { $0.draw() })
        self.eventSources.append(self.timer(every: Self.listRefreshInterval) { $0.refreshList() })
    }

    private func receive(signal number: Int32) {
        switch number {
        case SIGWINCH: self.draw()
        case SIGCONT:
            self.terminal.takeOver()
            self.painter.forget()
            // The connection may have broken during the pause.
            self.plaza.probe()
            self.draw()
        case SIGPIPE: break
        default: self.quit()
        }
    }

    private func readKeys() {
        guard let bytes = self.terminal.read() else { return self.quit() }
        for key in self.keys.read(bytes) { self.press(key) }
        if self.keys.hasPendingEscape {
            DispatchQueue.main.asyncAfter(deadline: .now() + Self.escapeTimeout) {
                MainActor.assumeIsolated { for key in self.keys.flush() { self.press(key) } }
            }
        }
        self.draw()
    }

    /// Stops the process, as Ctrl-Z does, until the user's Unix shell continues it.
    func pause() { self.terminal.pause() }

    /// Calls `body` for each event of a source.
    private func handle(_ source: some DispatchSourceProtocol, _ body: @escaping @MainActor (Viewer) -> Void) {
        source.setEventHandler { [weak self] in
            MainActor.assumeIsolated { if let self { body(self) } }
        }
        source.resume()
        self.eventSources.append(source)
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
