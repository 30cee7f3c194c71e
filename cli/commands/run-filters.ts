/** The filters of runs, as options of commands and as parts of a query. */
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import { RUN_SORT_COLUMNS } from '@switchyard/contract/runs/run-filters.ts';
import { RUN_TYPES } from '@switchyard/contract/runs/run-schemas.ts';
import { RUN_STATUSES_V2 } from '@switchyard/contract/states.ts';
import { dropUndefined } from '../session/drop-undefined.ts';
import type { Output } from '../terminal/output.ts';
import { collectValue, parseTime, splitPair } from './parse-values.ts';

interface BasicFilters {
  status?: string[];
  instanceId?: string[];
  versionId?: string[];
  userEmail?: string[];
  runType?: string[];
  name?: string;
}

/** The values of the options of `addTimeFilters`. */
export interface TimeFilters {
  createdAfter?: string;
  createdBefore?: string;
}

/** The values of the options of `addRunFilters`. */
export interface RunFilters extends BasicFilters, TimeFilters {}

/** The values of the options of `addTableFilters`. */
export interface TableFilters extends BasicFilters {
  tag?: string[];
  text?: string;
  indicator?: string[];
  option?: string[];
  sort?: string;
}

function addBasicFilters<Arguments extends unknown[]>(command: Command<Arguments>) {
  return command
    .addOption(
      new Option('--status <status...>', 'Only runs with one of these statuses.').choices(RUN_STATUSES_V2),
    )
    .option('--instance, --instance-id <id...>', 'Only runs of these instances.')
    .option('--version, --version-id <id...>', 'Only runs of these versions; "" for the newest executable.')
    .option('--user, --user-email <email...>', 'Only runs of these callers.')
    .addOption(new Option('--type, --run-type <type...>', 'Only runs of these types.').choices(RUN_TYPES))
    .option('--name <name>', 'Only runs with exactly this name.');
}

/** Adds the options of the time of creation. */
export function addTimeFilters<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
) {
  return command
    .option(
      '--created-after <time>',
      'Only runs created since this time, such as 2026-11-20 or 24h.',
      parseTime,
    )
    .option('--created-before <time>', 'Only runs created before this time.', parseTime);
}

/** Adds the options of the filters that every search for runs has. */
export function addRunFilters(command: Command) {
  return addTimeFilters(addBasicFilters(command));
}

/** Adds the options of the filters and the order that a table of runs has. */
export function addTableFilters<Arguments extends unknown[]>(command: Command<Arguments>) {
  return addBasicFilters(command)
    .option('--tag <tag...>', 'Only runs with one of these tags.')
    .option('--text <words>', 'Only runs whose id, name and description have words that begin with these.')
    .option(
      '--indicator <condition>',
      'Only runs with an indicator: NAME=MIN..MAX or NAME=VALUE.',
      collectValue,
    )
    .option('--option <condition>', 'Only runs with an option: NAME=MIN..MAX or NAME=VALUE.', collectValue)
    .option(
      '--sort <column>',
      `Order: ${RUN_SORT_COLUMNS.join(', ')}, indicator.NAME or option.NAME; - before it reverses.`,
    );
}

/** Returns the part of a query with the filters and the order that a table of runs has. */
export function buildTableQuery(options: TableFilters, { warn }: Pick<Output, 'warn'>) {
  const write = (conditions?: readonly string[]) => conditions?.map((one) => formatCondition(one, warn));
  return {
    ...buildBasicQuery(options),
    ...joinValues(
      'tag',
      options.tag?.map((tag) => tag.replaceAll(/[\\,]/g, '\\$&')),
    ),
    ...(options.text !== undefined && { text: options.text }),
    // Several conditions of one kind are separated by commas, as those within one value.
    ...joinValues('indicator', write(options.indicator)),
    ...joinValues('option', write(options.option)),
    ...(options.sort !== undefined && { sort: options.sort }),
  };
}

/** Returns conditions, such as `solver=highs`, as the API has them. There a colon ends the name, and one in a value is escaped. */
function formatCondition(text: string, warn: Output['warn']): string {
  return text.replaceAll(/(?:\\.|[^\\,])+/gs, (condition) => {
    const [name, value = ''] = splitPair(condition, warn) ?? [condition];
    if (name === condition) return condition;
    return `${name}:${value.replaceAll(/\\.|:/gs, (part) => (part === ':' ? '\\:' : part))}`;
  });
}

/** Returns the part of a query with the filters that every search for runs has. */
export function buildFilterQuery(options: RunFilters) {
  return { ...buildBasicQuery(options), ...buildTimeQuery(options) };
}

function buildBasicQuery(options: BasicFilters) {
  return {
    ...joinValues('status', options.status),
    ...joinValues('instance_id', options.instanceId),
    ...joinValues('version_id', options.versionId),
    ...joinValues('user_email', options.userEmail),
    ...joinValues('run_type', options.runType),
    ...(options.name !== undefined && { name: options.name }),
  };
}

/** Returns the part of a query with the time of creation. */
export function buildTimeQuery({ createdAfter: created_after, createdBefore: created_before }: TimeFilters) {
  return dropUndefined({ created_after, created_before });
}

/** Returns the part of a query with a filter of several values; undefined without any. */
export function joinValues<Name extends string>(
  name: Name,
  values: readonly string[] = [],
): { [Key in Name]?: string } | undefined {
  if (values.length === 0) return undefined;
  const joined: { [Key in Name]?: string } = {};
  joined[name] = values.join(',');
  return joined;
}
