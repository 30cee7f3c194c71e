/** The difference of two plans: matching by key, the parts of the sentence, and the flow between lanes. */
import { expect, test } from 'vitest';
import { findViews } from '../../../ui/solution/find-views.ts';
import { comparePlans, layoutFlow, pairViews } from './compare-plans.ts';

/** Returns an output with routes: `van: a b, truck: c`. */
function plan(text: string) {
  const vehicles = text.split(', ').map((route) => {
    const [id, stops = ''] = route.split(': ');
    const toStop = (stop: string, index: number) => ({ stop, location: { lon: index, lat: 50 } });
    return { id, route: stops.split(' ').filter(Boolean).map(toStop) };
  });
  return { solution: { vehicles } };
}

/** Returns an output with a roster: `ana early nurse, ben late nurse`. */
function roster(text: string, fields: object) {
  const assignments = text.split(', ').map((one) => {
    const [employee, shift, skill] = one.split(' ');
    return { employee, shift, skill, start: shift === 'late' ? 14 : 6, end: shift === 'late' ? 22 : 14 };
  });
  const visualization = [{ schema: 'gantt', path: 'assignments', label: 'Roster', fields }];
  return { assignments, visualization };
}

function compare(before: unknown, after: unknown) {
  const pair = pairViews(findViews(before), findViews(after));
  if (!pair) throw new Error('The outputs have no plan.');
  return comparePlans(pair);
}

function summarise(before: unknown, after: unknown) {
  const difference = compare(before, after);
  if (typeof difference === 'string') return difference;
  const { kept, shifted, moved, gone, added } = difference;
  return [
    kept.map(({ after: { name } }) => name).join(' '),
    shifted.map(({ before: old, after: young }) => `${young.name} ${old.when}→${young.when}`).join(' '),
    moved.map(({ before: old, after: young }) => `${young.name} ${old.lane}→${young.lane}`).join(' '),
    gone.map(({ name }) => name).join(' '),
    added.map(({ name }) => name).join(' '),
  ];
}

test.each<[string, string, string[]]>([
  ['van: a b, truck: c', 'van: a b, truck: c', ['a b c', '', '', '', '']],
  ['van: a b, truck: c', 'van: b a, truck: c', ['c', 'a #1→#2 b #2→#1', '', '', '']],
  ['van: a b, truck: c', 'van: a, truck: c b', ['a c', '', 'b van→truck', '', '']],
  ['van: a b', 'van: a, truck: d', ['a', '', '', 'b', 'd']],
  ['van: a b', 'bike: a b', ['', '', 'a van→bike b van→bike', '', '']],
])('from "%s" to "%s"', (before, after, expected) => {
  expect(summarise(plan(before), plan(after))).toEqual(expected);
});

const byShift = { resource: 'employee', label: 'shift', group: 'skill', key: 'shift' };
test.each<[string, string, string[]]>([
  // Ana stays, and the place of Ben goes to Cid, although both places have one key.
  ['ana early n, ben early n', 'cid early n, ana early n', ['early', '', 'early ben→cid', '', '']],
  // A doctor replaces the doctor and not the nurse.
  ['ana early n, doc early d', 'ole early d, eva early n', ['', '', 'early ana→eva early doc→ole', '', '']],
  ['ana early n', 'ana late n', ['', '', '', 'early', 'late']],
])('the declared key of a shift may repeat: from "%s" to "%s"', (before, after, expected) => {
  expect(summarise(roster(before, byShift), roster(after, byShift))).toEqual(expected);
});

test.each<[string, unknown, string]>([
  [
    'a name that repeats',
    plan('van: a a'),
    'Several stops are called a. Name the field that identifies a stop',
  ],
  [
    'a label that repeats',
    roster('ana early n, ben early n', { ...byShift, key: 7 }),
    'Several tasks are called early. Name the field that identifies a task as `key` in `fields` of the view Roster.',
  ],
  ['a wrong key', roster('ana early n', { ...byShift, key: 'code' }), 'A task has no field `code`.'],
])('says which key is needed for %s', (_, output, sentence) => {
  expect(compare(output, output)).toContain(sentence);
});

test('stops have the time of their arrival, and a table without plan is none', () => {
  const visit = (arrival: string) => ({
    vehicles: [{ id: 'van', route: [{ id: 7, location: [10, 53], arrival }] }],
  });
  const difference = compare(visit('2026-05-04T08:10:00+02:00'), visit('2026-05-04T07:35:00+02:00'));
  expect(difference).toMatchObject({
    kept: [{ before: { key: '7', name: '7', when: '08:10' }, after: { when: '07:35' } }],
  });
  expect(pairViews(findViews({ rows: [{ a: 1 }] }), findViews(plan('van: a')))).toBeUndefined();
});

test('the flow has a band for each pair of lanes, and its parts add up', () => {
  const difference = compare(plan('van: a b c, truck: d e'), plan('van: a d, truck: e b f, bike: c'));
  if (typeof difference === 'string') throw new Error(difference);
  const { nodes, bands, height } = layoutFlow(difference);
  expect(bands.map(({ from, to, count }) => `${from}→${to} ${count}`)).toEqual([
    ...['van→van 1', 'van→truck 1', 'van→bike 1'],
    ...['truck→van 1', 'truck→truck 1'],
  ]);
  const [left, right] = nodes;
  expect(left.map(({ lane, count, alone }) => [lane, count, alone])).toEqual([
    ['van', 3, 0],
    ['truck', 2, 0],
  ]);
  expect(right.map(({ lane, count, alone }) => [lane, count, alone])).toEqual([
    ['van', 2, 0],
    ['truck', 3, 1],
    ['bike', 1, 0],
  ]);
  // Bands fill their lane from its top without gaps, and no lane overlaps the next.
  for (const [side, lanes] of nodes.entries())
    for (const [index, node] of lanes.entries()) {
      const own = bands.filter(({ from, to }) => (side === 0 ? from : to) === node.lane);
      const tops = own.map(({ tops: ends }) => ends[side] ?? 0).toSorted((one, other) => one - other);
      expect(tops[0]).toBeCloseTo(node.top);
      expect(own.reduce((sum, band) => sum + band.height, 0)).toBeLessThanOrEqual(node.height + 1e-9);
      expect(node.top + node.height).toBeLessThanOrEqual(lanes[index + 1]?.top ?? height);
    }
});
