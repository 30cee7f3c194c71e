/**
 * Parses the statistics and metrics of an output, and lists the indicators in them. Pure, because read-results-thread.ts
 * calls it too.
 */
import { formatExactJson, getDigits } from '@switchyard/contract/exact-json.ts';
import {
  INDICATORS_CHARS_MAX,
  METRICS_CHARS_MAX,
  METRICS_DEPTH_MAX,
  STATISTICS_BYTES_MAX,
} from '@switchyard/contract/limits.ts';
import type { Indicator, RunStatistics } from '@switchyard/contract/runs/run-reports.ts';
import { isObject, replaceNul } from './json-values.ts';

const NAME_EXCERPT_CHARS_MAX = 200;

/** An indicator as the app wrote it. */
export interface ReportedIndicator extends Indicator {
  /** The digits of the number if a double does not hold them. */
  digits?: string;
}

/** Statistics as the app wrote them. */
interface ReportedStatistics extends RunStatistics {
  indicators: ReportedIndicator[];
}

export interface StatisticsReport extends ReportedStatistics {
  /** The block as JSON text; null when it is no object or too long to store. */
  block: string | null;
}

export interface MetricsReport {
  /** The reason why there are no indicators; empty when there are some, null without metrics. */
  error: string | null;
  indicators: ReportedIndicator[];
  /** The block as JSON text; null when it is no object or too long to store. */
  block: string | null;
}

/** The report of an output without metrics. */
export const NO_METRICS: MetricsReport = { error: null, indicators: [], block: null };

const NONE: StatisticsReport = { status: 'none', error: '', indicators: [], block: null };

/** Parses a statistics block; its indicators are every number, text and boolean below `result` and `run`. */
export function parseStatistics(statistics: unknown): StatisticsReport {
  if (statistics === undefined || statistics === null) return NONE;
  if (!isObject(statistics)) return invalidStatistics('statistics is not a JSON object.', null);
  if (Object.keys(statistics).length === 0) return NONE;
  const block = formatExactJson(statistics);
  const bytes = Buffer.byteLength(block);
  if (bytes > STATISTICS_BYTES_MAX) return oversizedStatistics(bytes);
  if (statistics.schema !== 'v1')
    return invalidStatistics(
      `statistics.schema is ${JSON.stringify(statistics.schema) ?? 'missing'}; it must be "v1".`,
      block,
    );
  const indicators: ReportedIndicator[] = [];
  for (const part of ['result', 'run'] as const) {
    const value = statistics[part];
    if (value === undefined || value === null) continue;
    if (!isObject(value)) return invalidStatistics(`statistics.${part} is not a JSON object.`, block);
    collectStatistics(value, part, indicators);
  }
  const infiniteNumber = describeInfiniteNumber('statistics', indicators);
  if (infiniteNumber) return invalidStatistics(infiniteNumber, block);
  const chars = JSON.stringify(indicators).length;
  if (chars > INDICATORS_CHARS_MAX)
    return invalidStatistics(
      `statistics makes indicators of ${chars} characters, each with its whole path; they may have ${INDICATORS_CHARS_MAX}.`,
      block,
    );
  return { status: 'success', error: '', indicators, block };
}

/** Returns the result for a statistics block above STATISTICS_BYTES_MAX, whatever its fields. */
export function oversizedStatistics(bytes: number): StatisticsReport {
  return invalidStatistics(`statistics has ${bytes} bytes; it may have ${STATISTICS_BYTES_MAX}.`, null);
}

function invalidStatistics(error: string, block: string | null): StatisticsReport {
  return { status: 'error', error, indicators: [], block };
}

/** Returns the error message about the first infinite number, which JSON.parse makes of a literal such as 1e400. */
function describeInfiniteNumber(block: string, indicators: readonly Indicator[]): string | null {
  const infinite = indicators.find(({ value }) => typeof value === 'number' && !Number.isFinite(value));
  return infinite
    ? `${block}.${infinite.name.slice(0, NAME_EXCERPT_CHARS_MAX)} is a number too large to keep; it may be at most ${Number.MAX_VALUE}.`
    : null;
}

/** Parses a metrics block; its indicators are every number, text and boolean in it. */
export function parseMetrics(metrics: unknown): MetricsReport {
  if (metrics === undefined || metrics === null) return NO_METRICS;
  if (!isObject(metrics)) return { ...NO_METRICS, error: 'metrics is not a JSON object.' };
  if (isDeeper(metrics, METRICS_DEPTH_MAX))
    return { ...NO_METRICS, error: `metrics is nested deeper than ${METRICS_DEPTH_MAX} levels.` };
  const block = formatExactJson(metrics);
  if (block.length > METRICS_CHARS_MAX) return oversizedMetrics(`${block.length} characters`);
  if (block === '{}') return { ...NO_METRICS, block };
  const indicators = new Map<string, ReportedIndicator>();
  const isComplete = collectMetrics(metrics, indicators);
  const reported = [...indicators.values()];
  const error = isComplete
    ? (describeInfiniteNumber('metrics', reported) ?? '')
    : oversizedIndicatorsMessage();
  return { error, indicators: error === '' ? reported : [], block };
}

/** Returns the result for a metrics block above METRICS_CHARS_MAX, whatever its fields; `size` has its unit. */
export function oversizedMetrics(size: string): MetricsReport {
  return {
    ...NO_METRICS,
    error: `metrics has ${size}; written as JSON it may have ${METRICS_CHARS_MAX} characters.`,
  };
}

const oversizedIndicatorsMessage = (): string =>
  `metrics makes indicators of more than ${INDICATORS_CHARS_MAX} characters, each with its whole path and those of statistics included.`;

/**
 * Adds the indicators and returns true; returns false as soon as they exceed INDICATORS_CHARS_MAX. It counts while it
 * collects, because each name repeats the keys above it: a small block with one long key would fill the memory.
 */
function collectMetrics(metrics: Record<string, unknown>, into: Map<string, ReportedIndicator>): boolean {
  let remainingChars = INDICATORS_CHARS_MAX;
  const add = (object: Record<string, unknown>, path: string): boolean =>
    Object.entries(object).every(([key, leaf]) => {
      const name = `${path}${toStorableText(key)}`;
      if (isObject(leaf)) return add(leaf, `${name}.`);
      if (!isScalar(leaf) || name === '') return true;
      const value = typeof leaf === 'string' ? toStorableText(leaf) : leaf;
      remainingChars -= name.length + String(value).length;
      if (remainingChars < 0) return false;
      into.set(name, { name, value, ...findDigits(object, key) });
      return true;
    });
  return add(metrics, '');
}

/** Returns true if the value nests deeper than `levels`. A loop: recursion would overflow the stack on such a value. */
function isDeeper(value: object, levels: number): boolean {
  let layer: object[] = [value];
  for (let level = 1; layer.length > 0; level += 1) {
    if (level > levels) return true;
    layer = layer.flatMap((container) =>
      Object.values(container).filter((inner) => typeof inner === 'object' && inner !== null),
    );
  }
  return false;
}

/** The status of both blocks, and their indicators in one list. */
export interface MergedReport {
  statistics: ReportedStatistics;
  /** The reason why no indicator is from the metrics; empty when some are, null without metrics. */
  metricsError: string | null;
}

/** The indicator with the status of the last solve in the log. */
const SOLVER_STATUS = 'solver.status';

/**
 * Merges both blocks. Where both have an indicator of one name, that of the statistics wins. The status of the last solve
 * is an indicator too, unless the app reports one of this name.
 */
export function mergeReports(
  statistics: StatisticsReport,
  metrics: MetricsReport,
  solverStatus: string | null = null,
): MergedReport {
  const merged = mergeBlocks(statistics, metrics);
  const { indicators } = merged.statistics;
  if (solverStatus === null || indicators.some(({ name }) => name === SOLVER_STATUS)) return merged;
  const added: Indicator = { name: SOLVER_STATUS, value: solverStatus, source: 'log' };
  return { ...merged, statistics: { ...merged.statistics, indicators: [...indicators, added] } };
}

function mergeBlocks(statistics: StatisticsReport, metrics: MetricsReport): MergedReport {
  const statisticsNames = new Set(statistics.indicators.map(({ name }) => name));
  const added = metrics.indicators
    .filter(({ name }) => !statisticsNames.has(name))
    .map((indicator): ReportedIndicator => ({ ...indicator, source: 'metrics' }));
  const merged = [...statistics.indicators, ...added];
  const fits = added.length === 0 || JSON.stringify(merged).length <= INDICATORS_CHARS_MAX;
  const metricsError = fits ? metrics.error : oversizedIndicatorsMessage();
  const { status, error } =
    statistics.status !== 'none' || metricsError === null
      ? statistics
      : { status: metricsError === '' ? ('success' as const) : ('error' as const), error: metricsError };
  return { statistics: { status, error, indicators: fits ? merged : statistics.indicators }, metricsError };
}

function collectStatistics(value: Record<string, unknown>, path: string, into: ReportedIndicator[]): void {
  for (const [key, leaf] of Object.entries(value)) {
    const name = `${path}.${toStorableText(key)}`;
    if (isObject(leaf)) collectStatistics(leaf, name, into);
    else if (isScalar(leaf))
      into.push({
        name,
        value: typeof leaf === 'string' ? toStorableText(leaf) : leaf,
        ...findDigits(value, key),
      });
  }
}

function findDigits(holder: object, key: string): Pick<ReportedIndicator, 'digits'> {
  const digits = getDigits(holder, key);
  return digits === undefined ? {} : { digits };
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Replaces lone surrogates, which many readers of JSON reject, and NUL, which text columns of PostgreSQL cannot store. */
function toStorableText(text: string): string {
  return replaceNul(text.toWellFormed());
}
