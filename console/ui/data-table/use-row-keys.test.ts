/** The keys of a list with a selection. */
import { expect, test } from 'vitest';
import { readRowKey } from './use-row-keys.ts';

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
