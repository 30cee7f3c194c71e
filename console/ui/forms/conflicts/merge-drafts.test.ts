/** Merging a form with a newer state. */
import { expect, test } from 'vitest';
import { mergeDrafts } from './merge-drafts.ts';

const began = {
  ...{ name: 'Plan', description: '', options: { duration: '30' }, hidden: 1, network: false },
  inputs: ['monday', 'tuesday'],
};
const labels = {
  name: 'Name',
  description: 'Description',
  options: 'Options',
  network: 'Network',
  inputs: 'Inputs',
};

const CASES = {
  'nobody changed anything': { mine: {}, theirs: {}, expected: {}, changes: [] },
  'only the person changed a field': {
    ...{ mine: { name: 'Mine' }, theirs: {}, expected: { name: 'Mine' } },
    changes: [],
  },
  'only somebody else changed fields': {
    mine: {},
    theirs: { description: 'Theirs', hidden: 2, network: true },
    expected: { description: 'Theirs', hidden: 2, network: true },
    changes: ['Description: empty → Theirs', 'Network: off → on'],
  },
  'both changed different fields': {
    mine: { name: 'Mine' },
    theirs: { options: { duration: '60', mode: 'good' } },
    expected: { name: 'Mine', options: { duration: '60', mode: 'good' } },
    changes: ['Options: duration = 30 → duration = 60, mode = good'],
  },
  'both changed one field': {
    ...{ mine: { name: 'Mine' }, theirs: { name: 'Theirs' }, expected: { name: 'Mine' } },
    changes: ['Name: Plan → Theirs, retained'],
  },
  'both gave a field the same value': {
    ...{ mine: { name: 'Same' }, theirs: { name: 'Same' }, expected: { name: 'Same' } },
    changes: ['Name: Plan → Same'],
  },
  'both changed a list': {
    mine: { inputs: ['tuesday', 'friday'] },
    theirs: { inputs: ['monday', 'tuesday', 'sunday'] },
    expected: { inputs: ['tuesday', 'sunday', 'friday'] },
    changes: ['Inputs: monday, tuesday → monday, tuesday, sunday'],
  },
};

test.each(Object.entries(CASES))('W14: the fields of a form when %s', (_, { mine, theirs, ...result }) => {
  const merged = mergeDrafts(
    { began, draft: { ...began, ...mine }, present: { ...began, ...theirs } },
    labels,
  );
  expect(merged.draft).toEqual({ ...began, ...result.expected });
  const texts = merged.changes.map(
    ({ label, before, after, isRetained }) =>
      `${label}: ${before} → ${after}${isRetained ? ', retained' : ''}`,
  );
  expect(texts).toEqual(result.changes);
});
