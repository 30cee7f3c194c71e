/** Sentences about rules that changed. */

import { listRuleChanges } from '@switchyard/contract/experiments/comparisons/rule-changes.ts';
import { expect, test } from 'vitest';
import { describeSettings } from './rules.ts';

const describe = (settings: object) =>
  describeSettings({ objectives: { cost: { direction: 'minimize', ...settings } } });

test.each([
  [{ largest_loss: 0.5 }, {}, ['largest_loss of cost differs from that in batch experiment "a".']],
  [
    { largest_loss: 0.5, shift: 2 },
    { measure: 'relative' },
    ['measure, shift and largest_loss of cost differ from those in batch experiment "a".'],
  ],
  [{ largest_loss: 0.5 }, { largest_loss: 0.5 }, []],
] as const)('T9: settings that differ are named: case %#', (own, earlier, changes) => {
  expect(listRuleChanges(describe(own), describe(earlier), 'batch experiment "a"')).toEqual(changes);
});
