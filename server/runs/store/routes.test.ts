/** The sample of a shadow test. Routes themselves are tested where runs are submitted. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import { isSampled, type ShadowRoute } from './routes.ts';

const route = (share: number, seed = 'exp-1'): ShadowRoute => ({
  kind: 'shadow',
  from: 0,
  until: null,
  sample: { share, seed },
});
const ids = Array.from({ length: 20_000 }, (_, index) => `run-${index}` as RunId);

describe('isSampled', () => {
  // The first six bytes of hashlib.sha256(b"exp-1 run-a").digest(), as a share of 2^48.
  test.each([
    ['exp-1', 'run-a', 0.5534752054],
    ['exp-1', 'run-b', 0.7526954604],
    ['exp-2', 'run-a', 0.3616757895],
    ['exp-2', 'run-b', 0.7714578738],
  ])('draws the same number for %s and %s on every server', (seed, id, drawn) => {
    expect(isSampled(route(drawn + 1e-9, seed), id as RunId)).toBe(true);
    expect(isSampled(route(drawn - 1e-9, seed), id as RunId)).toBe(false);
  });

  test('selects every run without a share and with a share of 1', () => {
    expect(ids.every((id) => isSampled(route(1), id))).toBe(true);
    expect(isSampled({ kind: 'shadow', from: 0, until: null }, ids[0] as RunId)).toBe(true);
  });

  test('selects the share, and independently for two tests', () => {
    const count = (predicate: (id: RunId) => boolean) => ids.filter(predicate).length;
    // Five standard deviations of 20,000 draws with probability 0.3 and 0.09.
    expect(Math.abs(count((id) => isSampled(route(0.3), id)) - 6000)).toBeLessThan(325);
    const both = count((id) => isSampled(route(0.3), id) && isSampled(route(0.3, 'exp-2'), id));
    expect(Math.abs(both - 1800)).toBeLessThan(203);
  });
});
