// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <spawn.h>
// glibc has these two functions since version 2.34. Its header declares them only if _GNU_SOURCE is defined, which is
// not the case when Swift imports the header.
/// Makes the child close all descriptors from the number `from` upwards.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
/// Makes the child change its working directory to `path`.
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
