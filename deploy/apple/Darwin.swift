// SPDX-License-Identifier: Apache-2.0
// `canImport(Darwin)` says that a system is one of Apple's; nothing of the module itself is used.
