// SPDX-License-Identifier: Apache-2.0
import { kinded, array, object, whole } from '../read.js';

/**
 * @typedef {{ revision: number, record: import('../read.js').JSONObject | undefined, events: ReadonlyArray<{ kind: string, body: import('../read.js').JSONObject }> }} State The last stage as the server sent it, which other slices show in parts, and what led to it.
 */

/** @returns {State} */
export const initial = () => ({ revision: 0, record: undefined, events: [] });

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @returns {State}
 */
export function reduce(state, { type, body }) {
  switch (type) {
    case 'item.stage': {
      const events = array(body.events ?? [], 'events').map((event) => kinded(event, 'event'));
      return { ...newer(state, object(body.record, 'record')), events };
    }
    case 'snapshot.details':
      return { ...(body.stage === undefined ? state : newer(state, object(body.stage, 'stage'))), events: [] };
    default:
      return state.events.length === 0 ? state : { ...state, events: [] };
  }
}

/**
 * A stage is shown whole; one whose revision is not higher is ignored.
 *
 * @param {State} state
 * @param {import('../read.js').JSONObject} record
 * @returns {State}
 */
function newer(state, record) {
  const revision = whole(record.revision, 'revision');
  return revision > state.revision ? { ...state, revision, record } : state;
}
