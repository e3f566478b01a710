// SPDX-License-Identifier: Apache-2.0

/**
 * Loads a part of the pages when it is first needed.
 *
 * @template T
 * @param {() => Promise<T>} load imports the part
 * @returns {() => Promise<T>} gives the part; after a failure, such as a gateway that is away, it is tried again
 */
export function lazily(load) {
  let part;
  return () => {
    part ??= load().catch((error) => {
      part = undefined;
      throw error;
    });
    return part;
  };
}
