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
    ...{ sampledBlobKeys: [], walDamage: null },
    ...{ breakingMigration: null, olderServers: [] },
  },
  folder: { path: '/data', installation: null, leftoverNames: [], foreignFolder: null, masterKey: null },
  blobs: { name: 'the bucket', marker: null, isEmpty: true, sampledCount: 0, foundCount: 0 },
};
const MARKER = { installation: 'inst-1', generation: 1, mayBeEmpty: false };

describe('R1: an empty database', () => {
  test('without other data starts a new installation', () => expect(findStartRefusal(EMPTY)).toBeNull());

  test.each<[string, Partial<InstallationState['folder']>, Partial<InstallationState['blobs']>, string]>([
    ['a marked data folder', { installation: 'inst-1' }, {}, 'the data folder /data belongs to inst-1'],
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

describe('a migration that earlier releases do not tolerate', () => {
  const migration = { name: '9000-renamed', breaks: 'It reads runs.status, which is renamed.' };
  const olderServers = [{ address: '10.1.0.3', since: Date.parse('2026-11-26T08:00:00Z') }];
  const refuse = (database: Partial<InstallationState['database']>): string | null =>
    findStartRefusal({ ...EMPTY, database: { ...EMPTY.database, state: 'ours', ...database } });

  test('refuses a start beside a server of an earlier release, and names both', () =>
    expect(refuse({ breakingMigration: migration, olderServers })).toBe(
      'This release applies the migration 9000-renamed, after which an earlier one cannot work: It reads runs.status, which is renamed. Servers or workers of an earlier release are connected to the database: from 10.1.0.3 since 2026-11-26T08:00:00.000Z. Stop them, then start this one. Nothing was changed.',
    ));

  test('does not refuse a start once they are stopped', () =>
    expect(refuse({ breakingMigration: migration })).toBeNull());
});
