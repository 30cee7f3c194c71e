/** Compares runs value by value. The first run is the baseline. Pure. */
import {
  type Change,
  describeChange,
  type Measure,
} from '@switchyard/contract/presentation/format-change.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  distinguish,
  formatBytes,
  formatDuration,
  formatNumber,
  formatObjective,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { JudgedIndicator, Meaning } from '../../client/indicator-meaning.ts';

/** The difference of a number to that of the baseline. */
export interface ComparedChange extends Change {
  /** Share of the baseline, for the bar; infinite for a baseline of 0. */
  share: number;
}

interface ComparedValue {
  /** Empty for a value that the run does not have. */
  text: string;
  exact?: string;
  change?: ComparedChange;
  isBest?: boolean;
}

/** One property of all runs. */
export interface ComparedRow {
  name: string;
  /** Says of the objective which direction is better. */
  note?: string;
  values: ComparedValue[];
  isEqual: boolean;
}

export interface ComparedGroup {
  name: 'Results' | 'Options' | 'Facts';
  rows: ComparedRow[];
}

/** Part of a run that a comparison reads. */
export type ComparedRun = Pick<RunInformation, 'id' | 'name' | 'statistics' | 'metadata' | 'user_email'>;

type Value = string | number | boolean | undefined;

const NOTES = { minimize: 'less is better', maximize: 'more is better', none: 'no direction is set' };

/** Returns indicators, the objective first, options and facts of the runs. */
export function compareRuns(runs: readonly ComparedRun[], meaning: Meaning): ComparedGroup[] {
  const indicators = runs.map(readIndicators);
  const options = runs.map(
    ({ metadata }) => new Map(metadata.options.options_summary.map(({ name, value }) => [name, value])),
  );
  const first = [meaning.objective, ...meaning.violations].map(({ name }) => name);
  const listNames = (maps: readonly ReadonlyMap<string, Value>[]) =>
    new Set(maps.flatMap((map) => [...map.keys()]));
  const names = listNames(indicators);
  return [
    {
      name: 'Results',
      rows: [...new Set([...first.filter((name) => names.has(name)), ...names])].map((name) => {
        const { label, unit, direction } = meaning.describe(name);
        const note = name === meaning.objective.name && `objective, ${NOTES[direction ?? 'none']}`;
        return compareValues(
          label,
          indicators.map((map) => map.get(name)),
          { unit, direction, ...(note && { note }) },
        );
      }),
    },
    {
      name: 'Options',
      rows: [...listNames(options)].map((name) =>
        compareValues(
          name,
          options.map((map) => map.get(name)),
        ),
      ),
    },
    { name: 'Facts', rows: compareFacts(runs) },
  ];
}

function compareFacts(runs: readonly ComparedRun[]): ComparedRow[] {
  const facts: [string, (run: ComparedRun) => Value, measure?: Measure][] = [
    ['Status', ({ metadata }) => metadata.status_v2],
    ['Instance', ({ metadata }) => metadata.application_instance_id],
    ['Version', ({ metadata }) => metadata.application_version_id || 'newest executable'],
    ['Runtime', ({ metadata }) => [metadata.runtime, metadata.runtime_version].filter(Boolean).join(' · ')],
    ['Execution class', ({ metadata }) => metadata.execution_class],
    ['Managed input', ({ metadata }) => metadata.tracking?.input_id],
    ['Created by', ({ user_email }) => user_email],
    ['Run time', ({ metadata }) => metadata.execution_duration, { format: formatDuration }],
    ['Peak memory', ({ metadata }) => metadata.peak_memory_bytes, { format: formatBytes }],
    ['Input', ({ metadata }) => metadata.input_size, { format: formatBytes }],
    ['Output', ({ metadata }) => metadata.output_size, { format: formatBytes }],
    ['Error', ({ metadata }) => metadata.error],
  ];
  return facts.map(([name, read, measure]) => compareValues(name, runs.map(read), measure));
}

function readIndicators({ statistics }: ComparedRun): Map<string, Value> {
  return new Map(statistics.indicators.map(({ name, value }) => [name, value]));
}

function compareValues(
  name: string,
  values: readonly Value[],
  { note, ...measure }: Measure & { note?: string } = {},
): ComparedRow {
  const { format = formatObjective, unit = '', direction } = measure;
  const [baseline] = values;
  const numbers = values.filter((value) => typeof value === 'number');
  const write = distinguish(numbers, format);
  const isEqual = values.every((value) => value === baseline);
  const best = direction === 'maximize' ? Math.max(...numbers) : Math.min(...numbers);
  return {
    name,
    isEqual,
    ...(note !== undefined && { note }),
    values: values.map((value) => {
      if (typeof value !== 'number') return { text: String(value ?? '') };
      return {
        text: [write(value), unit].filter(Boolean).join('\u00a0'),
        exact: formatNumber(value),
        ...(direction && value === best && numbers.some((one) => one !== best) && { isBest: true }),
        ...(typeof baseline === 'number' &&
          baseline !== value && {
            change: {
              ...describeChange(baseline, value, measure),
              share: (value - baseline) / Math.abs(baseline),
            },
          }),
      };
    }),
  };
}

/** Returns the letter of the run at the place: A is the baseline. */
export function nameRun(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

/** The answer of a comparison; its first part has the colour of its outcome. */
export interface Verdict {
  lead: string;
  outcome?: Change['outcome'];
  rest: string;
}

/** Returns the comparison in a sentence: the objective, then broken rules and the run time of two runs. */
export function judgeRuns(runs: readonly ComparedRun[], meaning: Meaning): Verdict {
  const { label } = meaning.objective;
  const rowOf = (indicator: JudgedIndicator) =>
    compareValues(
      indicator.label,
      runs.map((run) => readIndicators(run).get(indicator.name)),
      indicator,
    );
  const row = rowOf(meaning.objective);
  if (runs.length > 2) return judgeMany(row, runs.length);
  const failed = runs.findIndex(({ metadata }) => ['failed', 'canceled'].includes(metadata.status_v2));
  if (failed >= 0)
    return {
      lead: `${nameRun(failed)} ${runs[failed]?.metadata.status_v2 === 'failed' ? 'failed' : 'was canceled'}`,
      outcome: 'worse',
      rest: ', so there is no result to compare.',
    };
  const missing = row.values.findIndex(({ exact }) => exact === undefined);
  if (missing >= 0) return { lead: '', rest: `${nameRun(missing)} has no number for ${label}.` };
  const change = row.values[1]?.change;
  const others = meaning.violations.map(rowOf).flatMap(({ name, values }) => {
    const one = values[1]?.change;
    return one ? ` ${name}: ${one.amount} ${one.isLess ? 'fewer' : 'more'}.` : [];
  });
  const [before = 0, after = 0] = runs.map(({ metadata }) => metadata.execution_duration);
  const time = formatDuration(Math.abs(after - before));
  const rest = `${others.join('')}${before === after ? '' : ` B ran ${time} ${after < before ? 'shorter' : 'longer'}.`}`;
  if (!change) return { lead: `${label} is the same in A and B.`, rest };
  return {
    lead: `${label} is ${change.amount} ${change.isLess ? 'lower' : 'higher'} in B`,
    ...(change.outcome && { outcome: change.outcome }),
    rest: ` than in A.${rest}`,
  };
}

function judgeMany({ name, values }: ComparedRow, count: number): Verdict {
  const missing = values.flatMap(({ exact }, index) => (exact === undefined ? nameRun(index) : []));
  const lacks =
    missing.length > 0 ? ` ${missing.join(', ')} ${missing.length === 1 ? 'has' : 'have'} no ${name}.` : '';
  const best = values.flatMap(({ isBest }, index) => (isBest ? nameRun(index) : []));
  const [first = ''] = best;
  const numbers = new Set(values.flatMap(({ exact }) => exact ?? []));
  if (numbers.size === 0) return { lead: '', rest: `No run has a number for ${name}.` };
  if (numbers.size === 1)
    return { lead: `${name} is the same in ${formatCount(count - missing.length, 'run')}.`, rest: lacks };
  if (first === '')
    return {
      lead: '',
      rest: `${name} differs. The application does not say whether less is better.${lacks}`,
    };
  const change = values.find(({ isBest }) => isBest)?.change;
  const than = change ? `, ${change.amount} ${change.isLess ? 'lower' : 'higher'} than A` : '';
  return {
    lead: `${best.join(' and ')} ${best.length === 1 ? 'is' : 'are'} the best of ${formatCount(count, 'run')}`,
    ...(change && { outcome: 'better' }),
    rest: ` by ${name}${than}.${lacks}`,
  };
}
