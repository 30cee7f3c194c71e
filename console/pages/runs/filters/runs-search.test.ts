import type { RunViewTable } from '@switchyard/contract/runs/views/run-views.ts';
import { expect, test } from 'vitest';
import { readRowKey } from '../row-keys.ts';
import {
  formatQuery,
  formatView,
  isSameTable,
  parseRunsSearch,
  readFilters,
  readView,
} from './runs-search.ts';

test.each([
  [{}, {}],
  [{ within: '24h' }, { within: '24h' }],
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

const NO_MODIFIERS = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

test.each([
  ['ArrowDown', {}, { action: 'move', index: 2, isExtending: false }],
  ['ArrowUp', { shiftKey: true }, { action: 'move', index: 0, isExtending: true }],
  ['End', {}, { action: 'move', index: 2, isExtending: false }],
  ['Enter', {}, { action: 'open' }],
  ['x', {}, { action: 'toggle' }],
  ['a', { metaKey: true }, { action: 'select all' }],
  ['Escape', {}, { action: 'clear' }],
  ['a', {}, undefined],
  ['ArrowDown', { altKey: true }, undefined],
  ['x', { ctrlKey: true }, undefined],
])('in the second of three rows, %s with %j means %j', (key, modifiers, meaning) => {
  expect(readRowKey({ key, ...NO_MODIFIERS, ...modifiers }, 1, 3)).toEqual(meaning);
});
