/** The picture of the states of a run is drawn by hand and must agree with the table of transitions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_STATUSES_V2, RUN_TRANSITIONS } from '@switchyard/contract/states.ts';
import { expect, test } from 'vitest';

const picture = readFileSync(join(import.meta.dirname, 'content/using-switchyard/run/states.svg'), 'utf8');

test('the picture of the states has a line for every transition, and no other', () => {
  const drawn = [...picture.matchAll(/data-move="([^"]+)"/g)].map(([, move]) => move);
  const allowed = RUN_STATUSES_V2.flatMap((from) => RUN_TRANSITIONS[from].map((to) => `${from} ${to}`));
  expect(drawn.sort()).toEqual(allowed.sort());
});

test('the picture of the states names every state', () => {
  for (const status of RUN_STATUSES_V2) expect(picture).toContain(`>${status}</text>`);
});
