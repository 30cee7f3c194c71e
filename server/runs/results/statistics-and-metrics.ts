/** Statistics and metrics as an output has them, and the indicators in them. Pure, because it also works in a thread. */
import {
  INDICATORS_CHARS_MAX,
  METRICS_CHARS_MAX,
  METRICS_DEPTH_MAX,
  STATISTICS_BYTES_MAX,
} from '@switchyard/contract/limits.ts';
import type { Indicator, RunStatistics } from '@switchyard/contract/runs/run-reports.ts';

export interface StatisticsReport extends RunStatistics {
  /** The block itself, when it is an object that can be kept. */
  block: string | null;
}

export interface MetricsReport {
  /** Why there are no indicators; empty when there are some, null without metrics. */
  error: string | null;
  indicators: Indicator[];
  /** The block in JSON, when it can be kept. */
  block: string | null;
}

export const NO_METRICS: MetricsReport = { error: null, indicators: [], block: null };

const NONE: StatisticsReport = { status: 'none', error: '', indicators: [], block: null };

/** Indicators of a statistics block: every number, text and flag under `result` and `run`. */
export function parseStatistics(statistics: unknown): StatisticsReport {
  if (statistics === undefined || statistics === null) return NONE;
  if (typeof statistics !== 'object' || Array.isArray(statistics))
    return broken('statistics is not a JSON object.', null);
  const fields = statistics as Record<string, unknown>;
  if (Object.keys(fields).length === 0) return NONE;
  const block = JSON.stringify(statistics);
  const bytes = Buffer.byteLength(block);
  if (bytes > STATISTICS_BYTES_MAX) return oversizedStatistics(bytes);
  if (fields.schema !== 'v1')
    return broken(
      `statistics.schema is ${JSON.stringify(fields.schema) ?? 'missing'}; it must be "v1".`,
      block,
    );
  const indicators: Indicator[] = [];
  for (const part of ['result', 'run'] as const) {
    const value = fields[part];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'object' || Array.isArray(value))
      return broken(`statistics.${part} is not a JSON object.`, block);
    collect(value as Record<string, unknown>, part, indicators);
  }
  const endless = endlessError('statistics', indicators);
  if (endless) return broken(endless, block);
  const chars = JSON.stringify(indicators).length;
  if (chars > INDICATORS_CHARS_MAX)
    return broken(
      `statistics makes indicators of ${chars} characters, each with its whole path; they may have ${INDICATORS_CHARS_MAX}.`,
      block,
    );
  return { status: 'success', error: '', indicators, block };
}

/** What statistics of so many bytes are, whatever stands in them. */
export function oversizedStatistics(bytes: number): StatisticsReport {
  return broken(`statistics has ${bytes} bytes; it may have ${STATISTICS_BYTES_MAX}.`, null);
}

function broken(error: string, block: string | null): StatisticsReport {
  return { status: 'error', error, indicators: [], block };
}

function endlessError(block: string, indicators: readonly Indicator[]): string | null {
  const endless = indicators.find(({ value }) => typeof value === 'number' && !Number.isFinite(value));
  return endless
    ? `${block}.${endless.name.slice(0, NAME_CHARS_SHOWN)} is a number too large to keep; it may be at most ${Number.MAX_VALUE}.`
    : null;
}

/** Indicators of a metrics block: every number, text and flag in it. */
export function parseMetrics(metrics: unknown): MetricsReport {
  if (metrics === undefined || metrics === null) return NO_METRICS;
  if (typeof metrics !== 'object' || Array.isArray(metrics))
    return { ...NO_METRICS, error: 'metrics is not a JSON object.' };
  if (isDeeper(metrics, METRICS_DEPTH_MAX))
    return { ...NO_METRICS, error: `metrics is nested deeper than ${METRICS_DEPTH_MAX} levels.` };
  const block = JSON.stringify(metrics);
  if (block.length > METRICS_CHARS_MAX) return oversizedMetrics(`${block.length} characters`);
  if (block === '{}') return { ...NO_METRICS, block };
  const indicators = new Map<string, Indicator>();
  const isWhole = collectMetrics(metrics as Record<string, unknown>, indicators);
  const reported = [...indicators.values()];
  const error = isWhole ? (endlessError('metrics', reported) ?? '') : tooManyMetrics();
  return { error, indicators: error === '' ? reported : [], block };
}

/** Metrics of so much, whatever stands in them. */
export function oversizedMetrics(size: string): MetricsReport {
  return {
    ...NO_METRICS,
    error: `metrics has ${size}; written as JSON it may have ${METRICS_CHARS_MAX} characters.`,
  };
}

const tooManyMetrics = (): string =>
  `metrics makes indicators of more than ${INDICATORS_CHARS_MAX} characters, each with its whole path and those of statistics included.`;

/** false when the indicators become too long, which is noticed on the way: a long key repeats in every name below it. */
function collectMetrics(metrics: Record<string, unknown>, into: Map<string, Indicator>): boolean {
  let left = INDICATORS_CHARS_MAX;
  const add = (object: Record<string, unknown>, path: string): boolean =>
    Object.entries(object).every(([key, leaf]) => {
      const name = `${path}${readable(key)}`;
      if (typeof leaf === 'object' && leaf !== null)
        return Array.isArray(leaf) || add(leaf as Record<string, unknown>, `${name}.`);
      if (leaf === null || name === '') return true;
      const value = typeof leaf === 'string' ? readable(leaf) : (leaf as number | boolean);
      left -= name.length + String(value).length;
      if (left < 0) return false;
      into.set(name, { name, value });
      return true;
    });
  return add(metrics, '');
}

/** Whether anything lies below the given number of levels. A loop, because that is what it guards against. */
function isDeeper(value: object, levels: number): boolean {
  let layer: object[] = [value];
  for (let level = 1; layer.length > 0; level += 1) {
    if (level > levels) return true;
    layer = layer.flatMap((one) =>
      Object.values(one).filter((inner): inner is object => typeof inner === 'object' && inner !== null),
    );
  }
  return false;
}

/** What a run reported: the status of each block, and the indicators of both. */
export interface MergedReport {
  statistics: RunStatistics;
  /** As in Metrics. */
  metricsError: string | null;
}

/** Puts both blocks together. Where both name an indicator, that of the statistics holds. */
export function mergeReports(statistics: StatisticsReport, metrics: MetricsReport): MergedReport {
  const known = new Set(statistics.indicators.map(({ name }) => name));
  const more = metrics.indicators
    .filter(({ name }) => !known.has(name))
    .map((one): Indicator => ({ ...one, source: 'metrics' }));
  const merged = [...statistics.indicators, ...more];
  const fits = more.length === 0 || JSON.stringify(merged).length <= INDICATORS_CHARS_MAX;
  const metricsError = fits ? metrics.error : tooManyMetrics();
  const { status, error } =
    statistics.status !== 'none' || metricsError === null
      ? statistics
      : { status: metricsError === '' ? ('success' as const) : ('error' as const), error: metricsError };
  return { statistics: { status, error, indicators: fits ? merged : statistics.indicators }, metricsError };
}

function collect(value: Record<string, unknown>, path: string, into: Indicator[]): void {
  for (const [key, leaf] of Object.entries(value)) {
    const name = `${path}.${readable(key)}`;
    if (typeof leaf === 'string') into.push({ name, value: readable(leaf) });
    else if (typeof leaf === 'number' || typeof leaf === 'boolean') into.push({ name, value: leaf });
    else if (typeof leaf === 'object' && leaf !== null && !Array.isArray(leaf))
      collect(leaf as Record<string, unknown>, name, into);
  }
}

const NAME_CHARS_SHOWN = 200;

/** Text that every database takes and every reader of JSON reads: half a surrogate pair is no character, and NUL none that is kept. */
function readable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}');
}
