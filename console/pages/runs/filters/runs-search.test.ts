import type { RunViewTable } from '@switchyard/contract/runs/views/run-views.ts';
import { expect, test } from 'vitest';
import {
  formatCondition,
  formatQuery,
  formatView,
  isSameTable,
  parseCondition,
  parseRunsSearch,
  readFilters,
  readView,
  splitConditions,
} from './runs-search.ts';

test.each([
  [{}, {}],
  [{ within: '24h' }, { within: '24h' }],
  [{ from: '2026-11-28T08:00:00+01:00', to: 'noon' }, { from: '2026-11-28T07:00:00.000Z' }],
  [{ within: 'today', from: '2026-11-28' }, { within: 'today' }],
  [{ experiments: true }, { experiments: true }],
  [{ experiments: 'yes' }, {}],
  [
    { status: 'failed', text: 47, user: '', indicator: 'cost:..5', sort: '-created_at', option: ['a'] },
    { status: 'failed', text: '47', indicator: 'cost:..5', sort: '-created_at' },
  ],
  [{ status: 'done' }, {}],
  [
    { status: 'failed,done,queued', view: 'view-1' },
    { status: 'queued,failed', view: 'view-1' },
  ],
  [{ within: 'ever', columns: 'user', selected: 7, other: 1 }, {}],
  [
    { columns: ['user', 3], selected: ['run-1', null] },
    { columns: ['user'], selected: ['run-1'] },
  ],
])('the search %j is read as %j', (search, read) => {
  expect(parseRunsSearch(search)).toEqual(read);
});

test('columns and selection are no filters', () => {
  expect(readFilters({ within: '7d', columns: ['user'], selected: ['run-1'] })).toEqual({ within: '7d' });
});

test('filters are the parameters of the server', () => {
  const filters = { within: '7d', status: 'failed', user: 'a@b', instance: 'i1', sort: 'name' } as const;
  expect(formatQuery(filters)).toEqual({
    status: 'failed',
    user_email: 'a@b',
    instance_id: 'i1',
    sort: 'name',
    production: true,
  });
});

test('a view has filters, order, time window and columns of the address', () => {
  const search = {
    status: 'failed',
    type: 'external',
    within: '7d',
    sort: '-name',
    columns: ['user'],
  } as const;
  const table = {
    filters: { status: 'failed', run_type: 'external' },
    created_within: '7d',
    sort: '-name',
    columns: ['user'],
  } as const;
  expect(
    formatView({ ...search, columns: [...search.columns], view: 'view-1', selected: ['run-1'] }),
  ).toEqual(table);
  expect(readView({ ...table, columns: [...table.columns] })).toEqual(search);
});

test.each<[RunViewTable, RunViewTable, boolean]>([
  [{ filters: { status: 'failed,queued' } }, { filters: { status: 'queued,failed' } }, true],
  [{}, { filters: {} }, true],
  [{}, { columns: [] }, false],
  [{ sort: 'name' }, { sort: '-name' }, false],
])('the tables %j and %j are the same: %j', (one, other, isSame) => {
  expect(isSameTable(one, other)).toBe(isSame);
});

test('two instants and the runs of experiments are parameters of the server', () => {
  const filters = {
    from: '2026-11-28T07:00:00.000Z',
    to: '2026-11-29T07:00:00.000Z',
    experiments: true,
  } as const;
  expect(formatQuery(filters)).toEqual({
    created_after: filters.from,
    created_before: filters.to,
    production: false,
  });
});

test.each([
  ['cost:..1000', ['cost:..1000'], 'cost', '..1000'],
  ['a\\,b\\:c:1,late:0', ['a\\,b\\:c:1', 'late:0'], 'a,b:c', '1'],
])('the conditions %s are %j, and the first one names %s', (text, conditions, name, value) => {
  expect(splitConditions(text)).toEqual(conditions);
  expect(parseCondition(conditions[0] ?? '')).toEqual({ name, value });
  expect(formatCondition(name, value)).toBe(conditions[0]);
});
