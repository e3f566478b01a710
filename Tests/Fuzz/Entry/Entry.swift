// SPDX-License-Identifier: Apache-2.0
import FuzzTargets

/// The entry of libFuzzer, which calls it with each input; `deploy/fuzz.sh` compiles it with a line that names the target,
/// such as `typealias Target = FramesFuzz`.
@_cdecl("LLVMFuzzerTestOneInput") public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe Target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
