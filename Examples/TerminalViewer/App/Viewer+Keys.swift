// SPDX-License-Identifier: Apache-2.0
import ViewerScreens

/// What keys and commands do.
extension Viewer {
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
            let name = self.state.input.take()
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
        case .enter: self.run(self.state.input.take())
        case .escape: self.state.input.replace("")
        case .tab: self.complete()
        case .pageUp: self.scroll(by: 5)
        case .pageDown: self.scroll(by: -5)
        default: self.state.input.press(key)
        }
    }

    private func scroll(by lines: Int) {
        guard let live = self.state.live else { return }
        self.state.live?.scroll = min(max(live.scroll + lines, 0), max(live.chat.count - 1, 0))
    }

    private func complete() {
        let found = Command.completions(of: self.state.input.text)
        if found.count == 1 { return self.state.input.replace(found[0] + " ") }
        if !found.isEmpty { self.say(found.joined(separator: "  ")) }
    }

    private func run(_ line: String) {
        if line.isEmpty { return }
        do throws(CommandError) {
            let command = try Command(line)
            switch command {
            case .quit: self.quit()
            case .help: self.state.isHelpShown = true
            default: self.perform { try await $0.run(command) }
            }
        } catch {
            // The line comes back, so that it can be mended.
            self.state.input.replace(line)
            self.say(error.text, isError: true)
        }
    }
}
