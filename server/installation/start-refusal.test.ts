/** R1: each trace of an installation alone refuses a start on an empty database. */
import { describe, expect, test } from 'vitest';
import type { InstallationState } from './installation-state.ts';
import { findStartRefusal } from './start-refusal.ts';

const EMPTY: InstallationState = {
  database: {
    ...{
      name: 'the database',
      state: 'empty',
      detail: '',
      identity: null,
      hasAccounts: false,
      keyCheck: null,
    },
    ...{ sampledBlobKeys: [], lastSeenAt: null, droppedCommits: 0 },
  },
  folder: { path: '/data', installation: null, leftoverNames: [], foreignFolder: null, masterKey: null },
  blobs: { name: 'the bucket', marker: null, isEmpty: true, sampledCount: 0, foundCount: 0 },
};
const MARKER = { installation: 'inst-1', generation: 1, mayBeEmpty: false };

describe('R1: an empty database', () => {
  test('without other data starts a new installation', () => expect(findStartRefusal(EMPTY)).toBeNull());

  test.each<[string, Partial<InstallationState['folder']>, Partial<InstallationState['blobs']>, string]>([
    ['a marked data folder', { installation: 'inst-1' }, {}, 'the data folder /data belongs to inst-1'],
    // From a release without ids.
    ['a token', { leftoverNames: ['root-token'] }, {}, 'the data folder /data holds root-token'],
    ['a marked bucket', {}, { marker: MARKER }, 'the bucket belongs to inst-1'],
    ['blobs', {}, { isEmpty: false }, 'the bucket holds blobs'],
  ])('with %s is refused', (_, folder, blobs, words) => {
    const sides = {
      ...EMPTY,
      folder: { ...EMPTY.folder, ...folder },
      blobs: { ...EMPTY.blobs, ...blobs },
    };
    expect(findStartRefusal(sides)).toContain(`The database is missing or empty, but ${words}.`);
  });
});
