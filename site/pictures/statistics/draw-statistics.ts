/**
 * Draws the pictures of the page "Statistics of experiments" from simulated data:
 *
 *     node site/pictures/statistics/draw-statistics.ts
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  computeCarryOver,
  computePower,
  createDraw,
  type Interval,
  type Pair,
  simulateIntervals,
  simulatePairs,
  simulatePeeking,
  simulateVersions,
} from './simulate.ts';
import { dot, drawShares, frame, path, plot, round, scale, text } from './svg.ts';

const SEED = 7;
/** Of the first seeds, one with a single miss among twenty intervals: the number to expect. */
const INTERVALS_SEED = 4;
const EXPERIMENTS = 20;
const TRUE_CHANGE = -5;

/** The numbers of looks at an A/A test, and of units of time. */
const LOOKS = [1, 2, 5, 10, 20];
/** The numbers of versions of each instance among twenty inputs. */
const VERSIONS = [1, 2, 4, 10];
/** Share of inputs that differ in the picture of ties, and the sizes of its experiments. */
const DIFFERING_SHARE = 0.05;
const TIED_INPUTS = [10, 20, 50, 100];
/** The plan of the switchback test: two units of each side in turn. */
export const UNITS = [false, false, true, true, false, false, true, true];
/** Effects in standard deviations of the changes, each a line of the picture, and the place of its label. */
const EFFECTS = [
  { effect: 0.8, label: { inputs: 5, share: 0.72 } },
  { effect: 0.4, label: { inputs: 27, share: 0.72 } },
  { effect: 0.2, label: { inputs: 72, share: 0.54 } },
];
const INPUTS_MAX = 100;

/** The pairs of the picture. */
export function listPairs(): Pair[] {
  return simulatePairs(createDraw(SEED));
}

/** Left the costs of both sides, which overlap; right the changes of the same runs. */
function drawPairs(): string {
  const pairs = listPairs();
  const costs = pairs.flatMap(({ control, candidate }) => [control, candidate]);
  const cost = scale([Math.min(...costs), Math.max(...costs)], [plot.bottom, plot.top]);
  const changes = pairs.map(({ control, candidate }) => 100 * (candidate / control - 1));
  const change = scale([-12, 4], [plot.bottom, plot.top]);
  const [control, candidate, first, last] = [56, 152, 252, 364];
  const column = scale([0, pairs.length - 1], [first, last]);
  return frame([
    ...pairs.map((pair) =>
      path('stem', `M${control} ${round(cost(pair.control))}L${candidate} ${round(cost(pair.candidate))}`),
    ),
    path(
      'visits',
      pairs.map((pair) => dot(control, cost(pair.control)) + dot(candidate, cost(pair.candidate))).join(''),
    ),
    text(control, 184, 'control'),
    text(candidate, 184, 'candidate'),
    ...[0, -5, -10].flatMap((tick) => [
      path(tick === 0 ? 'rail' : 'grid-line', `M${first - 8} ${round(change(tick))}H${last + 8}`),
      text(first - 28, change(tick) + 4, `${tick} %`.replace('-', '−')),
    ]),
    path(
      'visits',
      changes
        .toSorted((a, b) => a - b)
        .map((value, index) => dot(column(index), change(value)))
        .join(''),
    ),
    text((first + last) / 2, 184, 'change per input'),
  ]);
}

/** The intervals of the experiments; `isMiss` for one without the true change. */
export function listIntervals(): (Interval & { isMiss: boolean })[] {
  return simulateIntervals(createDraw(INTERVALS_SEED), EXPERIMENTS).map((interval) => ({
    ...interval,
    isMiss: interval.low > TRUE_CHANGE || interval.high < TRUE_CHANGE,
  }));
}

/** One interval for each experiment, and the true change. */
function drawIntervals(): string {
  const intervals = listIntervals();
  const y = scale([-14, 4], [plot.bottom, plot.top]);
  const x = scale([0, intervals.length - 1], [plot.left + 10, plot.right - 8]);
  const bars = intervals.map(({ low, high, isMiss }, index) =>
    path(isMiss ? 'train' : 'stem', `M${round(x(index))} ${round(y(low))}V${round(y(high))}`),
  );
  return frame([
    ...[0, -5, -10].flatMap((tick) => [
      path(tick === TRUE_CHANGE ? 'threshold' : 'grid-line', `M${plot.left} ${round(y(tick))}H${plot.right}`),
      text(30, y(tick) + 4, `${tick} %`.replace('-', '−')),
    ]),
    ...bars,
    path('visits', intervals.map(({ value }, index) => dot(x(index), y(value))).join('')),
    text((plot.left + plot.right) / 2, 184, 'twenty experiments'),
  ]);
}

/** Four intervals beside the margin, each with its verdict. */
function drawVerdicts(): string {
  const rows = [
    { verdict: 'better', low: -7, value: -5, high: -3 },
    { verdict: 'equivalent', low: -0.7, value: 0.1, high: 0.8 },
    { verdict: 'undecided', low: -3.5, value: -1, high: 1.6 },
    { verdict: 'worse', low: 2, value: 4, high: 6 },
  ];
  const x = scale([-8, 8], [112, plot.right]);
  const lines = rows.flatMap(({ verdict, low, value, high }, index) => {
    const y = 34 + 36 * index;
    return [
      text(52, y + 4, verdict),
      path('train', `M${round(x(low))} ${y}H${round(x(high))}`),
      path('visits', dot(x(value), y)),
    ];
  });
  return frame([
    `  <rect class="interval" x="${round(x(-1))}" y="14" width="${round(x(1) - x(-1))}" height="146" />`,
    path('rail', `M${round(x(0))} 14V160`),
    ...lines,
    ...[-5, 0, 5].map((tick) => text(x(tick), 182, `${tick} %`.replace('-', '−'))),
  ]);
}

/** The power of an experiment by its inputs, for three sizes of the effect. */
function drawPower(): string {
  const x = scale([0, INPUTS_MAX], [plot.left, plot.right]);
  const y = scale([0, 1], [plot.bottom, plot.top]);
  const curves = EFFECTS.flatMap(({ effect, label }) => {
    const points = Array.from({ length: 25 }, (_, index) => 4 + 4 * index);
    const line = points.map((inputs) => `${round(x(inputs))} ${round(y(computePower(inputs, effect)))}`);
    return [path('route', `M${line.join('L')}`), text(x(label.inputs), y(label.share), effect)];
  });
  return frame([
    ...[0, 0.5, 0.8, 1].flatMap((share) => [
      path(share === 0.8 ? 'threshold' : 'grid-line', `M${plot.left} ${round(y(share))}H${plot.right}`),
      text(30, y(share) + 4, `${100 * share} %`),
    ]),
    ...curves,
    ...[25, 50, 75, 100].map((inputs) => text(Math.min(x(inputs), plot.right - 8), 178, inputs)),
    text((plot.left + plot.right) / 2, 198, 'inputs'),
  ]);
}

/** The shares of A/A tests with a verdict, by the number of looks. */
export function listPeeking(): { looks: number; share: number }[] {
  const draw = createDraw(SEED);
  return LOOKS.map((looks) => ({ looks, share: simulatePeeking(draw, looks) }));
}

/** One bar for each number of looks, and the promised 5 %. */
function drawPeeking(): string {
  const bars = listPeeking().map(({ looks, share }) => ({ name: looks, share }));
  return drawShares(bars, { highest: 0.28, axis: 'looks at the results' });
}

/** The shares of A/A tests with a verdict, by the number of versions of each instance. */
export function listVersions(): { versions: number; share: number }[] {
  const draw = createDraw(SEED);
  return VERSIONS.map((versions) => ({ versions, share: simulateVersions(draw, versions) }));
}

/** One bar for each number of versions, and the promised 5 %. */
function drawVersions(): string {
  const bars = listVersions().map(({ versions, share }) => ({ name: versions, share }));
  return drawShares(bars, { highest: 0.6, axis: 'versions of each instance' });
}

/** The chance that all inputs tie, by their number, when 5 % of all inputs differ. */
export function listTies(): { inputs: number; share: number }[] {
  return TIED_INPUTS.map((inputs) => ({ inputs, share: (1 - DIFFERING_SHARE) ** inputs }));
}

/** One bar for each number of inputs. */
function drawTies(): string {
  const y = scale([0, 0.7], [plot.bottom, plot.top]);
  const bars = listTies().flatMap(({ inputs, share }, index) => {
    const x = plot.left + 40 + 76 * index;
    return [
      `  <rect class="bar" x="${x - 22}" y="${round(y(share))}" width="44" height="${round(plot.bottom - y(share))}" />`,
      text(x, y(share) - 8, `${share < 0.01 ? (100 * share).toFixed(1) : Math.round(100 * share)} %`),
      text(x, 178, inputs),
    ];
  });
  return frame([
    ...bars,
    path('rail', `M${plot.left} ${plot.bottom}H${plot.right}`),
    text((plot.left + plot.right) / 2, 198, 'inputs of the experiment'),
  ]);
}

/** The units of a switchback test, with the effect that callers notice in each. */
function drawCarryOver(): string {
  const noticed = computeCarryOver(UNITS);
  const y = scale([0, 1], [plot.bottom, 40]);
  const width = (plot.right - plot.left) / UNITS.length;
  const units = UNITS.flatMap((isCandidate, unit) => {
    const x = plot.left + unit * width;
    const isCounted = unit > 0 && UNITS[unit - 1] === isCandidate;
    return [
      ...(isCandidate
        ? [
            `  <rect class="interval" x="${round(x)}" y="40" width="${round(width)}" height="${plot.bottom - 40}" />`,
          ]
        : []),
      path(
        isCounted ? 'train' : 'stem',
        `M${round(x + 4)} ${round(y(noticed[unit] ?? 0))}h${round(width - 8)}`,
      ),
      text(x + width / 2, 178, isCounted ? unit + 1 : `(${unit + 1})`),
    ];
  });
  return frame([
    ...units,
    path('rail', `M${plot.left} ${plot.bottom}H${plot.right}`),
    path('grid-line', `M${plot.left} 40H${plot.right}`),
    text(26, 44, '100 %'),
    text(26, plot.bottom + 4, '0 %'),
    text((plot.left + plot.right) / 2, 198, 'units of time'),
  ]);
}

/** The pictures by the name of their file. */
export const PICTURES: Readonly<Record<string, () => string>> = {
  'statistics-pairs': drawPairs,
  'statistics-intervals': drawIntervals,
  'statistics-verdicts': drawVerdicts,
  'statistics-ties': drawTies,
  'statistics-power': drawPower,
  'statistics-peeking': drawPeeking,
  'statistics-versions': drawVersions,
  'statistics-carry-over': drawCarryOver,
};

if (import.meta.main) {
  const folder = join(import.meta.dirname, '../../content/using-switchyard/experiments');
  for (const [name, draw] of Object.entries(PICTURES))
    writeFileSync(join(folder, `${name}.svg`), `${draw()}\n`);
}
