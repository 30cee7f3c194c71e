/** Names of the compared groups. */
import { expect, test } from 'vitest';
import { createGroupNamer, type Group, isSameGroup } from './group-labels.ts';

const buildGroup = (fields: Partial<Group>): Group => ({ instance_id: '', version_id: '', ...fields });

function nameAll(...groups: Group[]): string[] {
  return groups.map(createGroupNamer(groups));
}

test('instances are named by their id, without the version that each has', () => {
  const groups = [
    buildGroup({ instance_id: 'old', version_id: 'v1' }),
    buildGroup({ instance_id: 'new', version_id: 'v2' }),
  ];
  expect(nameAll(...groups)).toEqual(['old', 'new']);
});

test('groups of one instance are named by what differs', () => {
  const one = { instance_id: 'app', version_id: 'v1' };
  expect(
    nameAll(buildGroup({ ...one, option_set: 'fast' }), buildGroup({ ...one, option_set: 'slow' })),
  ).toEqual(['fast', 'slow']);
  expect(nameAll(buildGroup(one), buildGroup({ ...one, version_id: 'v2' }))).toEqual(['v1', 'v2']);
});

test('a group without the differing part has the name of its instance, version or ensemble', () => {
  expect(nameAll(buildGroup({ instance_id: 'app' }), buildGroup({ ensemble_id: 'best-three' }))).toEqual([
    'app',
    'best-three',
  ]);
  const bare = buildGroup({ instance_id: 'app' });
  expect(nameAll(bare, buildGroup({ instance_id: 'app', option_set: 'fast' }))).toEqual(['app', 'fast']);
});

test('an absent part is the same as an empty one', () => {
  expect(isSameGroup(buildGroup({ option_set: '' }), buildGroup({}))).toBe(true);
  expect(isSameGroup(buildGroup({ option_set: 'a' }), buildGroup({}))).toBe(false);
});
