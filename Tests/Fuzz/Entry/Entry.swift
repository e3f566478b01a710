// SPDX-License-Identifier: Apache-2.0
import FuzzTargets

/// The function that libFuzzer calls with each input.
///
/// `deploy/fuzz.sh` adds a line that names the target, such as `typealias Target = FramesFuzz`, and compiles this file.
@_cdecl("LLVMFuzzerTestOneInput") public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe Target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
