/**
 * Draws the change of `result.value` on every input of an experiment, with the typical change and its interval. The data are
 * the results of the examples on the pages, which the tests compare with the printed numbers:
 *
 *     node site/pictures/experiments/changes-diagram.ts reduce batch=result.json scenario=… shadow=… > …/changes.json
 *     node site/pictures/experiments/changes-diagram.ts draw batch > site/content/using-switchyard/experiments/batch-changes.svg
 */
import { readFileSync } from 'node:fs';
import changesByPage from './changes.json' with { type: 'json' };

/** One candidate: the ratio of candidate to control on each input, ascending, and their geometric mean. */
export interface Changes {
  name: string;
  ratios: number[];
  value: number;
  /** Null where too few inputs differ. */
  interval: { low: number; high: number } | null;
  /** The largest ratio that a rule accepts, drawn as a dashed line. */
  threshold?: number;
}

interface Group {
  instance_id: string;
  option_set?: string;
  scenario_id?: string;
}

interface ComparedGroups {
  control: Group;
  candidate: Group;
  indicators: { indicator: string; geometric_mean_ratio: Omit<Changes, 'name' | 'ratios'> }[];
}

interface ExperimentResult {
  grouped_distributional_summaries: {
    group_keys: string[];
    group_values: string[];
    indicator_distributions: Record<string, { mean: number }>;
  }[];
  comparisons: ComparedGroups[];
  /** A shadow test has its comparisons here. */
  compared?: ComparedGroups[];
}

const INDICATOR = 'result.value';
const width = 380;
const plot = { left: 62, right: 314 };
/** Height of the scale of the only panel, and of each of several. */
const PANEL_HEIGHTS = { only: 120, several: 92 };
const header = 30;
const TICK_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2];
const TICKS_MAX = 5;

const round = (number: number) => Math.round(number * 10) / 10;

/** Returns a ratio as a change in per cent, with a minus sign. */
const formatChange = (ratio: number, digits: number) =>
  `${(100 * (ratio - 1)).toFixed(digits).replace('-', '−')} %`;

/** Returns the mean of the indicator by input, for the runs of one side. */
function readMeans(result: ExperimentResult, side: Group): Map<string, number> {
  const wanted = new Map(
    Object.entries({
      instanceID: side.instance_id,
      optionSetID: side.option_set,
      scenarioID: side.scenario_id,
    }),
  );
  const means = new Map<string, number>();
  for (const {
    group_keys,
    group_values,
    indicator_distributions,
  } of result.grouped_distributional_summaries) {
    const values = new Map(group_keys.map((key, index) => [key, group_values[index]]));
    const input = values.get('inputID');
    const isOfSide = [...wanted].every(([key, value]) => values.get(key) === value);
    const mean = indicator_distributions[INDICATOR]?.mean;
    if (input !== undefined && isOfSide && mean !== undefined) means.set(input, mean);
  }
  return means;
}

function reduceComparison(
  result: ExperimentResult,
  { control, candidate, indicators }: ComparedGroups,
): Changes {
  const estimate = indicators.find(({ indicator }) => indicator === INDICATOR)?.geometric_mean_ratio;
  if (!estimate) throw new Error(`The result compares no ${INDICATOR}; use an experiment that does.`);
  const before = readMeans(result, control);
  const ratios = [...readMeans(result, candidate)].flatMap(([input, mean]) => {
    const reference = before.get(input);
    return reference === undefined ? [] : [mean / reference];
  });
  const { value, interval } = estimate;
  return {
    name: candidate.scenario_id ?? candidate.instance_id,
    ratios: ratios.sort((a, b) => a - b),
    ...{ value, interval },
  };
}

/** Returns the lines of a scale that covers all ratios and 1, at most `TICKS_MAX`. */
function listTicks(ratios: readonly number[]): number[] {
  const [low, high] = [Math.min(1, ...ratios) - 1, Math.max(1, ...ratios) - 1];
  for (const step of TICK_STEPS) {
    const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
    if (last - first < TICKS_MAX)
      return Array.from({ length: last - first + 1 }, (_, index) => 1 + (first + index) * step);
  }
  throw new Error('The changes are too large for the scale; add a larger step.');
}

/** Draws one panel for each candidate, all on the same scale. `caption` names the inputs below the last one. */
export function drawChanges(candidates: readonly Changes[], caption: string): string {
  const ticks = listTicks(
    candidates.flatMap(({ ratios, interval, threshold = 1 }) => [
      ...ratios,
      ...(interval === null ? [] : [interval.low, interval.high]),
      threshold,
    ]),
  );
  const [lowest, highest] = [Math.min(...ticks), Math.max(...ticks)];
  const isNamed = candidates.length > 1;
  const scaleHeight = isNamed ? PANEL_HEIGHTS.several : PANEL_HEIGHTS.only;
  const panelHeight = scaleHeight + header;
  const panels = candidates.flatMap((changes, panel) => {
    const top = panel * panelHeight + (isNamed ? header : 12);
    const y = (ratio: number) => round(top + ((highest - ratio) / (highest - lowest)) * scaleHeight);
    const title = `  <text x="${(plot.left + plot.right) / 2}" y="${top - 10}">${changes.name}</text>`;
    return [...(isNamed ? [title] : []), ...drawPanel(changes, ticks, y)];
  });
  const height = candidates.length * panelHeight + 18;
  const below = `  <text x="${(plot.left + plot.right) / 2}" y="${height - 4}">${caption}</text>`;
  return `<svg aria-hidden="true" viewBox="0 0 ${width} ${height}">\n${[...panels, below].join('\n')}\n</svg>`;
}

function drawPanel(changes: Changes, ticks: readonly number[], y: (ratio: number) => number): string[] {
  const { ratios, value, interval, threshold } = changes;
  const across = `${plot.left}`;
  const lines = ticks.flatMap((tick) => [
    `  <path class="${Math.abs(tick - 1) < 1e-9 ? 'rail' : 'grid-line'}" d="M${across} ${y(tick)}H${plot.right}" />`,
    `  <text x="30" y="${round(y(tick) + 4)}">${formatChange(tick, 0)}</text>`,
  ]);
  const apart = (plot.right - plot.left) / ratios.length;
  const places = ratios.map((ratio, index) => [round(plot.left + (index + 0.5) * apart), y(ratio)] as const);
  return [
    ...lines,
    ...(interval === null ? [] : [drawBand(y(interval.high), y(interval.low))]),
    `  <path class="route" d="M${plot.left} ${y(value)}H${plot.right}" />`,
    ...(threshold === undefined
      ? []
      : [`  <path class="threshold" d="M${plot.left} ${y(threshold)}H${plot.right}" />`]),
    `  <path class="stem" d="${places.map(([x, end]) => `M${x} ${y(1)}V${end}`).join('')}" />`,
    `  <path class="visits" d="${places.map(([x, end]) => `M${x} ${end}h0`).join('')}" />`,
    `  <text x="348" y="${round(y(value) + 4)}">${formatChange(value, 1)}</text>`,
  ];
}

const drawBand = (top: number, bottom: number) =>
  `  <rect class="interval" x="${plot.left}" y="${top}" width="${plot.right - plot.left}" height="${round(bottom - top)}" />`;

/** Reads the stored changes of the page's example. */
export function readChanges(page: string): Changes[] {
  const stored: Record<string, Changes[]> = changesByPage;
  const changes = stored[page];
  if (!changes)
    throw new Error(
      `There are no changes of ${page}; the stored pages are ${Object.keys(stored).join(', ')}.`,
    );
  return changes;
}

/** The words below the inputs of each page. */
export const CAPTIONS: Record<string, string> = {
  batch: '12 days, sorted by change',
  scenario: '12 days, sorted by change',
  shadow: '30 runs, sorted by change',
  acceptance: '12 days, sorted by change',
};

if (import.meta.main) {
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'reduce') {
    const pages = rest.map((pair) => {
      const [page = '', path = ''] = pair.split('=');
      const result: ExperimentResult = JSON.parse(readFileSync(path, 'utf8'));
      const comparisons = result.compared ?? result.comparisons;
      return [page, comparisons.map((compared) => reduceComparison(result, compared))];
    });
    console.log(JSON.stringify(Object.fromEntries(pages), null, 2));
  } else {
    const [page = ''] = rest;
    console.log(drawChanges(readChanges(page), CAPTIONS[page] ?? ''));
  }
}
