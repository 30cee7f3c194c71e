import { expect, test } from 'vitest';
import { describeProgress, hasCurve, listImprovements, type Progress } from './describe-progress.ts';

const EARLY = [
  [0.5, 200],
  [10, 160],
  [40.2, 119],
  [80, 110],
  [112, 100],
];
const tell = (points: number[][], end: number, more: Partial<Progress> = {}): string | null => {
  const text = describeProgress({ points, end, direction: 'minimize', ...more });
  return text && [text.lead, text.rest].filter(Boolean).join(' | ').replaceAll('\u00a0', ' ');
};
const negate = (points: number[][]) => points.map(([x = 0, y = 0]) => [x, -y]);
const STOP =
  '81 % of the gain came in the first 41 s. | Nothing improved after 1 min 52 s, so a stop at 2 min would have kept the same value.';

test.each<[string, string | null, string | null]>([
  ['most of the gain early, and nothing at the end', tell(EARLY, 182), STOP],
  ['the same with a maximum', tell(negate(EARLY), 182, { direction: 'maximize' }), STOP],
  ['a curve that only falls, whose direction nobody stated', tell(EARLY, 182, { direction: null }), STOP],
  [
    'a curve that rises and falls, whose direction nobody stated',
    tell([...EARLY, [120, 105]], 182, { direction: null }),
    null,
  ],
  [
    'no round time between the last improvement and the end',
    tell(EARLY, 130),
    '81 % of the gain came in the first 41 s. | Nothing improved after 1 min 52 s.',
  ],
  [
    'an improvement shortly before the end',
    tell(EARLY, 115),
    '81 % of the gain came in the first 41 s. | It still improved 3 s before its end, so more time may give a better value.',
  ],
  [
    'a gain that came late',
    tell(
      [
        [0, 10],
        [1, 9.9],
        [90, 5],
        [95, 4],
      ],
      100,
    ),
    'It still improved 5 s before its end, so more time may give a better value.',
  ],
  [
    'no gain after the first value',
    tell(
      [
        [0.12, 5],
        [1, 6],
        [20, 7],
        [30, 5],
      ],
      60,
    ),
    'No value was better than the first, which came after 120 ms.',
  ],
  [
    'a bound below the best value',
    tell(EARLY, 115, { bound: 98.2 }),
    '81 % of the gain came in the first 41 s. | It still improved 3 s before its end, so more time may give a better value. The bound leaves at most 1.8 % to gain.',
  ],
  [
    'a bound that is reached',
    tell(EARLY, 115, { bound: 100 }),
    '81 % of the gain came in the first 41 s. | The bound proves that nothing is better.',
  ],
  [
    'a bound of another model, on the wrong side',
    tell(EARLY, 130, { bound: 140 }),
    '81 % of the gain came in the first 41 s. | Nothing improved after 1 min 52 s.',
  ],
  [
    'a run that is active',
    tell(EARLY, 146.7, { isLive: true, baseline: { value: 104, seconds: 144 }, bound: 90 }),
    '81 % of the gain so far came in the first 41 s. | Nothing has improved for 34 s. It already beats the baseline, which took 2 min 24 s. So far the bound leaves at most 10 % to gain.',
  ],
  [
    'an active run that is behind the baseline and has just improved',
    tell(EARLY, 113, { isLive: true, baseline: { value: 90, seconds: 144 } }),
    '81 % of the gain so far came in the first 41 s.',
  ],
  ['one point', tell([[1, 5]], 60), null],
  [
    'three points',
    tell(
      [
        [1, 5],
        [20, 4],
        [30, 3],
      ],
      60,
    ),
    null,
  ],
  [
    'a run of one second',
    tell(
      [
        [0.1, 5],
        [0.3, 4],
        [0.5, 3],
        [0.9, 2],
      ],
      1,
    ),
    null,
  ],
  [
    'a constant',
    tell(
      [
        [1, 5],
        [2, 5],
        [3, 5],
        [40, 5],
      ],
      60,
    ),
    null,
  ],
  ['a clock that ends before the curve', tell(EARLY, 100), null],
  ['no point', tell([], 60), null],
])('%s', (_, text, expected) => {
  expect(text).toBe(expected);
});

test('the improvements are the values that are better than all before', () => {
  const points = [
    [0, 5],
    [1, 7],
    [2, 4],
    [3, 4],
    [4, 3],
  ];
  expect(listImprovements(points, 'minimize').map(([x]) => x)).toEqual([0, 2, 4]);
  expect(listImprovements(points, 'maximize').map(([x]) => x)).toEqual([0, 1]);
  expect(listImprovements(points, null)).toEqual([]);
});

test('three points, a second and a constant are no curve', () => {
  expect(
    [
      EARLY,
      EARLY.slice(0, 3),
      EARLY.map(([x = 0, y = 0]) => [x / 200, y]),
      EARLY.map(([x = 0]) => [x, 1]),
    ].map(hasCurve),
  ).toEqual([true, false, false, false]);
});
