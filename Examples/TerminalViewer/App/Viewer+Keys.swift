// SPDX-License-Identifier: Apache-2.0
import ViewerScreens

/// Handles keys.
extension Viewer {
    /// Handles a key, depending on the page that is shown.
    func press(_ key: Key) {
        switch key {
        case .control("c"), .control("d"): return self.quit()
        case .control("z"): return self.pause()
        default: break
        }
        if self.state.isHelpShown {
            self.state.isHelpShown = false
        } else if self.state.live != nil {
            self.pressInLive(key)
        } else if self.state.question != nil {
            self.pressInQuestion(key)
        } else {
            self.pressInList(key)
        }
        self.draw()
    }

    private func pressInList(_ key: Key) {
        switch key {
        case .up, .character("k"): self.state.list.move(by: -1)
        case .down, .character("j"): self.state.list.move(by: 1)
        case .pageUp: self.state.list.move(by: -10)
        case .pageDown: self.state.list.move(by: 10)
        case .enter:
            guard let live = self.state.list.selectedLive else { return }
            self.perform { try await $0.enter(live.id) }
        case .character("g"): self.state.question = "The name of your live:"
        case .character("n"): if self.state.list.hasMore { self.perform { try await $0.readList(more: true) } }
        case .character("r"): self.perform { try await $0.readList() }
        case .character("?"): self.state.isHelpShown = true
        case .character("q"): self.quit()
        default: break
        }
    }

    private func pressInQuestion(_ key: Key) {
        switch key {
        case .enter:
            let name = self.state.input.takeLine()
            self.state.question = nil
            if !name.isEmpty { self.perform { try await $0.goLive(name: name) } }
        case .escape:
            self.state.question = nil
            self.state.input.replace("")
        default: self.state.input.press(key)
        }
    }

    private func pressInLive(_ key: Key) {
        switch key {
        case .enter: self.runLine(self.state.input.takeLine())
        case .escape: self.state.input.replace("")
        case .tab: self.complete()
        case .pageUp: self.scroll(by: 5)
        case .pageDown: self.scroll(by: -5)
        default: self.state.input.press(key)
        }
    }

    private func scroll(by lines: Int) {
        guard let live = self.state.live else { return }
        self.state.live?.scrolledLines = min(max(live.scrolledLines + lines, 0), max(live.chat.count - 1, 0))
    }

    /// Completes the name of a command; if several names fit, shows them.
    private func complete() {
        let completions = Command.completions(of: self.state.input.text)
        if completions.count == 1 { return self.state.input.replace(completions[0] + " ") }
        if !completions.isEmpty { self.showMessage(completions.joined(separator: "  ")) }
    }

    /// Carries out a line that was entered.
    private func runLine(_ line: String) {
        if line.isEmpty { return }
        do throws(CommandError) {
            let command = try Command(line)
            switch command {
            case .quit: self.quit()
            case .help: self.state.isHelpShown = true
            default: self.perform { try await $0.run(command) }
            }
        } catch {
            // The line is put back into the input, so that the user can correct it.
            self.state.input.replace(line)
            self.showMessage(error.text, isError: true)
        }
    }
}
