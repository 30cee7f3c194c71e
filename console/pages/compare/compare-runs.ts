/** Compares runs value by value. The first run is the baseline. Pure. */

import {
  distinguish,
  type Format,
  formatBytes,
  formatDifference,
  formatDuration,
  formatNumber,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';

/** The difference of a number to that of the baseline. */
interface Change {
  /** The difference with its sign, and in percent of the baseline unless that is 0: `+6 (+50 %)`. */
  text: string;
  /** Absent unless it is known whether less or more is better. */
  outcome?: 'better' | 'worse';
}

interface ComparedValue {
  text: string;
  change?: Change;
}

/** One property of all runs. */
export interface ComparedRow {
  name: string;
  values: ComparedValue[];
  isEqual: boolean;
}

export interface ComparedGroup {
  name: 'Facts' | 'Options' | 'Indicators';
  rows: ComparedRow[];
}

/** Part of a run that a comparison reads. */
export type ComparedRun = Pick<RunInformation, 'id' | 'name' | 'statistics' | 'metadata' | 'user_email'>;

type Value = string | number | boolean | undefined;

/** The meaning of the numbers of a property. */
interface Measure {
  /** Writes an amount with its unit; the default is the number alone. */
  format?: Format;
  isLessBetter?: true;
}

/** Returns facts, options and indicators of the runs. A value that a run does not have is empty. */
export function compareRuns(runs: readonly ComparedRun[]): ComparedGroup[] {
  return [
    { name: 'Facts', rows: compareFacts(runs) },
    { name: 'Options', rows: compareMaps(runs.map(readOptions)) },
    { name: 'Indicators', rows: compareMaps(runs.map(readIndicators)) },
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
    [
      'Run time',
      ({ metadata }) => metadata.execution_duration,
      { format: formatDuration, isLessBetter: true },
    ],
    [
      'Peak memory',
      ({ metadata }) => metadata.peak_memory_bytes,
      { format: formatBytes, isLessBetter: true },
    ],
    ['Input', ({ metadata }) => metadata.input_size, { format: formatBytes }],
    ['Output', ({ metadata }) => metadata.output_size, { format: formatBytes }],
    ['Error', ({ metadata }) => metadata.error],
  ];
  return facts.map(([name, read, measure]) => compareValues(name, runs.map(read), measure));
}

function readOptions({ metadata }: ComparedRun): Map<string, Value> {
  return new Map(metadata.options.options_summary.map(({ name, value }) => [name, value]));
}

function readIndicators({ statistics }: ComparedRun): Map<string, Value> {
  return new Map(statistics.indicators.map(({ name, value }) => [name, value]));
}

function compareMaps(maps: readonly ReadonlyMap<string, Value>[]): ComparedRow[] {
  const names = new Set(maps.flatMap((map) => [...map.keys()]));
  return [...names].map((name) =>
    compareValues(
      name,
      maps.map((map) => map.get(name)),
    ),
  );
}

function compareValues(
  name: string,
  values: readonly Value[],
  { format = formatNumber, isLessBetter }: Measure = {},
): ComparedRow {
  const [baseline] = values;
  const write = distinguish(
    values.filter((value) => typeof value === 'number'),
    format,
  );
  return {
    name,
    isEqual: values.every((value) => value === baseline),
    values: values.map((value) => {
      const text = typeof value === 'number' ? write(value) : String(value ?? '');
      if (typeof baseline !== 'number' || typeof value !== 'number' || baseline === value) return { text };
      const outcome = value < baseline ? 'better' : 'worse';
      return {
        text,
        change: { text: formatDifference(baseline, value, format), ...(isLessBetter && { outcome }) },
      };
    }),
  };
}
