/** Plans of resources that this test describes: their order, their id, and a change by somebody else. */
import { expect, test } from 'vitest';
import { hashPlan, makeChanges, planChanges } from './plan-changes.ts';
import type { Fields, Resource } from './resources/resource.ts';

/** A resource whose server is a variable. */
function describeResource(id: string, wanted: Fields | 'removed', onServer: { fields?: Fields }): Resource {
  const write = async (fields: Fields): Promise<void> => {
    onServer.fields = fields;
  };
  return {
    kind: 'instance',
    application: 'routing',
    id,
    isRemoved: wanted === 'removed',
    read: async () => onServer.fields,
    merge: (current) => ({ ...current, ...(wanted === 'removed' ? {} : wanted) }),
    create: write,
    update: write,
    remove: async () => {
      delete onServer.fields;
    },
  };
}

test('deletions come last and backwards; what is like the file is no change', async () => {
  const changes = await planChanges([
    describeResource('first', 'removed', { fields: {} }),
    describeResource('second', 'removed', { fields: {} }),
    describeResource('absent', 'removed', {}),
    describeResource('same', { name: 'S' }, { fields: { name: 'S', other: 1 } }),
    describeResource('new', { name: 'N' }, {}),
  ]);
  expect(changes.map(({ action, resource }) => `${action} ${resource.id}`)).toEqual([
    'create new',
    'delete second',
    'delete first',
  ]);
});

test('a resource that somebody else changed after the plan ends the work, and nothing of it is overwritten', async () => {
  const one: { fields?: Fields } = { fields: { name: 'A' } };
  const other: { fields?: Fields } = { fields: { name: 'B' } };
  const resources = [
    describeResource('one', { name: 'A2' }, one),
    describeResource('other', { name: 'B2' }, other),
  ];
  const changes = await planChanges(resources);
  const id = hashPlan(changes);
  other.fields = { name: 'changed by hand' };
  await expect(makeChanges(changes, () => {})).rejects.toThrow('instance routing/other has changed since');
  expect([one.fields, other.fields]).toEqual([{ name: 'A2' }, { name: 'changed by hand' }]);
  expect(hashPlan(await planChanges(resources))).not.toBe(id);
});
