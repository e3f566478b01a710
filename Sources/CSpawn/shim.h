// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <spawn.h>
// glibc 2.34 and later have these two; its header shows them to GNU sources alone, which Swift's import is not.
/// Closes all descriptors from `from` on.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
/// Goes to a directory.
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
