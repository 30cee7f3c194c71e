/** Compares runs: their facts, options and indicators, and the outputs of two. */
import type { Client, ResponseBody } from '@switchyard/contract/client.ts';
import { describeChange, type Measure } from '@switchyard/contract/presentation/format-change.ts';
import {
  distinguish,
  type Format,
  formatBytes,
  formatDuration,
  formatNumber,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { type ContentChange, listChanges } from '@switchyard/contract/presentation/list-changes.ts';
import { isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { type Column, formatFields, formatTable } from '../../terminal/table.ts';
import { downloadContent } from '../../transfer/download.ts';
import { requestOutput } from './run-content.ts';

type RunDetails = ResponseBody<'getRunMetadata'>;
type Value = string | number | boolean | undefined;

const RUNS_MIN = 2;
const RUNS_MAX = 10;
const DIFFERENCES_MAX = 20;
/** Larger outputs are not read into memory. */
const OUTPUT_BYTES_MAX = 50 * 1024 * 1024;
const VALUE_CHARS_MAX = 60;
/** The columns of more runs have numbers for titles, because ids would not fit beside each other. */
const TITLED_RUNS_MAX = 3;

/** One property of all runs, in their order. */
interface ComparedRow extends Pick<Measure, 'unit' | 'format'> {
  name: string;
  values: Value[];
}

interface OutputComparison {
  /** A sentence. */
  summary: string;
  differences: ContentChange[];
}

/** Prints what differs between the runs, or with `all` everything. The first run is the baseline of changes. */
export async function compareRuns(
  session: Session,
  application_id: string,
  { ids, all }: { ids: readonly string[]; all: boolean },
): Promise<void> {
  const distinct = [...new Set(ids)];
  if (distinct.length < RUNS_MIN || distinct.length > RUNS_MAX)
    throw new CommandError(
      `The runs are ${ids.join(', ')}; compare needs ${RUNS_MIN} to ${RUNS_MAX} different ones.`,
    );
  const client = session.connect();
  const runs: RunDetails[] = [];
  for (const run_id of distinct)
    runs.push((await client.call('getRunMetadata', { params: { application_id, run_id } })).body);
  const { indicators } = (await client.call('getApplication', { params: { application_id } })).body;
  const sections = [
    { title: 'FACT', rows: compareFacts(runs) },
    { title: 'OPTION', rows: compareMaps(runs.map(readOptions)) },
    {
      title: 'INDICATOR',
      rows: compareMaps(runs.map(readIndicators)).map((row) => ({
        ...row,
        unit: indicators[row.name]?.unit,
      })),
    },
  ].map(({ title, rows }) => ({ title, rows: all ? rows : rows.filter(differs) }));
  const [first, second] = runs;
  const outputs =
    first && second && runs.length === 2 ? await compareOutputs(client, first, second) : undefined;
  session.output.print({
    json: {
      runs,
      differing: Object.fromEntries(
        sections.map(({ title, rows }) => [
          `${title.toLowerCase()}s`,
          Object.fromEntries(rows.map(({ name, values }) => [name, values.map((value) => value ?? null)])),
        ]),
      ),
      ...(outputs && { output: outputs }),
    },
    text: () => {
      const tables = sections.flatMap((section) => formatSection(session, runs, section));
      return [
        ...(runs.length > TITLED_RUNS_MAX ? [formatFields(numberRuns(runs))] : []),
        ...(tables.length > 0 ? tables : ['The runs have equal facts, options and indicators.\n']),
        ...(outputs ? [formatOutputs(outputs)] : []),
      ].join('\n');
    },
    quiet: () => sections.flatMap(({ rows }) => rows.map(({ name }) => cleanLine(name))),
  });
}

function compareFacts(runs: readonly RunDetails[]): ComparedRow[] {
  const facts: [string, (run: RunDetails) => Value, format?: Format][] = [
    ['name', ({ name }) => name],
    ['status', ({ status_v2 }) => status_v2],
    ['instance', ({ application_instance_id }) => application_instance_id],
    ['version', ({ application_version_id }) => application_version_id || 'newest executable'],
    ['runtime', ({ runtime }) => runtime],
    ['execution class', ({ execution_class }) => execution_class],
    ['managed input', ({ metadata }) => metadata.tracking?.input_id],
    ['created by', ({ user_email }) => user_email],
    ['run time', ({ metadata }) => metadata.execution_duration, formatDuration],
    ['peak memory', ({ metadata }) => metadata.peak_memory_bytes, formatBytes],
    ['input size', ({ metadata }) => metadata.input_size, formatBytes],
    ['output size', ({ metadata }) => metadata.output_size, formatBytes],
    ['error', ({ error }) => error],
  ];
  return facts.map(([name, read, format]) => ({ name, values: runs.map(read), ...(format && { format }) }));
}

function readOptions({ metadata }: RunDetails): Map<string, Value> {
  return new Map(metadata.options.options_summary.map(({ name, value }) => [name, value]));
}

function readIndicators({ statistics }: RunDetails): Map<string, Value> {
  return new Map(statistics.indicators.map(({ name, value }) => [name, value]));
}

function compareMaps(maps: readonly ReadonlyMap<string, Value>[]): ComparedRow[] {
  const names = new Set(maps.flatMap((map) => [...map.keys()]));
  return [...names].map((name) => ({ name, values: maps.map((map) => map.get(name)) }));
}

function differs({ values }: ComparedRow): boolean {
  return values.some((value) => value !== values[0]);
}

/** Returns the id and name of each run by its number. */
function numberRuns(runs: readonly RunDetails[]): Record<string, string> {
  return Object.fromEntries(runs.map(({ id, name }, index) => [index + 1, `${id} ${name}`]));
}

function formatSection(
  { output }: Session,
  runs: readonly RunDetails[],
  { title, rows }: { title: string; rows: readonly ComparedRow[] },
): string[] {
  if (rows.length === 0) return [];
  const columns: Column<ComparedRow>[] = [
    { title, value: ({ name }) => name },
    ...runs.map(({ id }, index) => ({
      title: runs.length > TITLED_RUNS_MAX ? String(index + 1) : id,
      value: (row: ComparedRow) => formatCell(row, index),
    })),
  ];
  return [formatTable(rows, columns, output)];
}

/** Formats a value of the row, with its change to the baseline; values that differ have texts that differ. */
function formatCell({ values, ...measure }: ComparedRow, index: number): string {
  const [baseline] = values;
  const value = values[index];
  if (typeof value !== 'number') return value === undefined || value === '' ? '-' : String(value);
  const numbers = values.filter((one) => typeof one === 'number');
  const text = distinguish(numbers, measure.format ?? formatNumber)(value);
  if (typeof baseline !== 'number' || baseline === value) return text;
  return `${text} (${describeChange(baseline, value, measure).signed})`;
}

async function compareOutputs(
  client: Client,
  first: RunDetails,
  second: RunDetails,
): Promise<OutputComparison> {
  for (const { id, metadata } of [first, second]) {
    if (isArchive(metadata.format.output.type))
      return describeOutputs(`The output of ${id} is an archive, which is not compared.`);
    if (metadata.output_size > OUTPUT_BYTES_MAX)
      return describeOutputs(
        `The output of ${id} has ${formatBytes(metadata.output_size)} and is not compared.`,
      );
  }
  const [before, after] = [await readOutput(client, first), await readOutput(client, second)];
  if (before === undefined || after === undefined)
    return describeOutputs(`Run ${(before === undefined ? first : second).id} has no output to compare.`);
  if (before === after) return describeOutputs('The outputs are equal, byte for byte.');
  const [one, other] = [parseJson(before), parseJson(after)];
  if (one === undefined || other === undefined)
    return describeOutputs('The outputs differ, and are not both JSON.');
  const { changes, isComplete } = listChanges(one.value, other.value, { changesMax: DIFFERENCES_MAX });
  if (changes.length === 0) return describeOutputs('The outputs are equal as JSON.');
  const count = isComplete ? `at ${changes.length} places` : `at more than ${DIFFERENCES_MAX} places`;
  return describeOutputs(`The outputs differ ${count}:`, changes);
}

function describeOutputs(summary: string, differences: ContentChange[] = []): OutputComparison {
  return { summary, differences };
}

async function readOutput(client: Client, { application_id, id }: RunDetails): Promise<string | undefined> {
  const { url } = await requestOutput(client, { application_id, run_id: id });
  if (url === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  await downloadContent(client, url, async (chunk) => {
    chunks.push(chunk);
  });
  return Buffer.concat(chunks).toString();
}

/** Returns the value in an object, because it can be undefined for text that is no JSON. */
function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function formatOutputs({ summary, differences }: OutputComparison): string {
  const lines = differences.map(
    ({ path, before, after }) =>
      `  ${cleanLine(path) || 'the whole output'}: ${quoteValue(before)} → ${quoteValue(after)}`,
  );
  return [summary, ...lines].map((line) => `${line}\n`).join('');
}

function quoteValue(value: unknown): string {
  const text = value === undefined ? 'absent' : cleanLine(JSON.stringify(value));
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text;
}
