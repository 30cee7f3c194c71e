/** The range of the usage page, and the one that it is compared with. */
import { expect, test } from 'vitest';
import { findRange } from './queries.ts';

const at = (text: string): number => Date.parse(text);

test('this month is compared with the same days of the last one, which may be shorter', () => {
  expect(findRange(undefined, at('2026-11-20T23:59:00Z'))).toEqual({
    ...{ from: '2026-11-01', to: '2026-11-20', chartEnd: '2026-11-30' },
    before: { from: '2026-10-01', to: '2026-10-20' },
  });
  expect(findRange(undefined, at('2027-03-31T00:00:00Z'))).toEqual({
    ...{ from: '2027-03-01', to: '2027-03-31', chartEnd: '2027-03-31' },
    before: { from: '2027-02-01', to: '2027-02-28' },
  });
  expect(findRange(undefined, at('2027-01-01T00:00:00Z')).before).toEqual({
    from: '2026-12-01',
    to: '2026-12-01',
  });
});

test('the last days are compared with as many before them', () => {
  expect(findRange(7, at('2026-11-20T12:00:00Z'))).toEqual({
    ...{ from: '2026-11-14', to: '2026-11-20', chartEnd: '2026-11-20' },
    before: { from: '2026-11-07', to: '2026-11-13' },
  });
});
