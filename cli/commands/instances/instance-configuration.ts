/** The options of a command that describe the configuration of an instance, and the request body that they become. */
import { type Command, InvalidArgumentError, Option, type OptionValues } from '@commander-js/extra-typings';
import type { InstanceConfiguration } from '@switchyard/contract/applications/instances.ts';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { MAX_DURATION_SECONDS_MAX, PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { collectAppOption, parseWholeNumber } from '../parse-values.ts';

/** The values of the options that `addConfigurationOptions` adds. */
export interface ConfigurationOptions {
  executionClass?: (typeof EXECUTION_CLASSES)[number] | undefined;
  /** false: that of the execution class. */
  maxDuration?: number | boolean | undefined;
  option?: Record<string, string> | undefined;
  removeOption?: string[] | undefined;
  secretsCollectionId?: string | undefined;
  priority?: number | undefined;
  queuing?: boolean | undefined;
  network?: boolean | undefined;
  label?: string[] | undefined;
  license?: Record<string, number> | undefined;
  apiAccess?: string[] | undefined;
}

/** Adds the options of a configuration to a command. */
export function addConfigurationOptions<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
) {
  return command
    .addOption(
      new Option('--execution-class <class>', 'Cores, memory and duration of a run.').choices(
        EXECUTION_CLASSES,
      ),
    )
    .option(
      '--max-duration <seconds>',
      'Maximum duration of a run, shorter than that of its execution class.',
      parseWholeNumber(1, MAX_DURATION_SECONDS_MAX),
    )
    .option('--no-max-duration', 'Runs have the limit of their execution class.')
    .option('--option <name=value>', 'An option of the app; repeat it for more.', collectAppOption)
    .option('--secrets-collection-id <id>', 'The secrets that runs get; an empty text for none.')
    .option(
      '--priority <number>',
      'Priority in the queue, 1 first.',
      parseWholeNumber(PRIORITY_MIN, PRIORITY_MAX),
    )
    .option('--queuing', 'Runs wait for free capacity.')
    .option('--no-queuing', 'Runs without free capacity are refused.')
    .option('--network', 'Runs may use the network.')
    .option('--no-network', 'Runs may not use the network.')
    .option('--label <label...>', 'Labels that the worker must offer, such as gpu.')
    .option('--license <name=tokens>', 'Licence tokens of a run; repeat it for more.', collectTokens)
    .option('--api-access <application...>', 'Applications whose runs the app may create.');
}

function collectTokens(text: string, before?: Record<string, number>): Record<string, number> {
  const [, name, tokens] = /^([^=]+)=(\d{1,9})$/.exec(text) ?? [];
  if (!name) throw new InvalidArgumentError('It must be NAME=TOKENS, such as gurobi=1.');
  return { ...before, [name]: Number(tokens) };
}

/**
 * Returns the configuration of the request. A configuration replaces the earlier one as a whole, so an update starts from the
 * earlier one. Undefined when no option was passed.
 */
export function buildConfiguration(changes: ConfigurationOptions, before?: InstanceConfiguration) {
  const { priority, queuing, label, license, apiAccess, maxDuration } = changes;
  const names = ['executionClass', 'option', 'removeOption', 'secretsCollectionId', 'network'] as const;
  const values = [
    ...names.map((name) => changes[name]),
    priority,
    queuing,
    label,
    license,
    apiAccess,
    maxDuration,
  ];
  if (values.every((value) => value === undefined)) return undefined;
  const removed = new Set(changes.removeOption);
  const options = Object.entries({ ...before?.options, ...changes.option }).filter(
    ([name]) => !removed.has(name),
  );
  return dropUndefined({
    ...before,
    execution_class: changes.executionClass ?? before?.execution_class,
    max_duration: typeof maxDuration === 'boolean' ? undefined : (maxDuration ?? before?.max_duration),
    options: Object.fromEntries(options),
    secrets_collection_id: changes.secretsCollectionId ?? before?.secrets_collection_id,
    queuing: dropUndefined({
      ...before?.queuing,
      ...(priority === undefined ? {} : { priority }),
      ...(queuing === undefined ? {} : { disabled: !queuing }),
    }),
    network: changes.network ?? before?.network,
    ...(apiAccess ? { api_access: { applications: apiAccess } } : {}),
    ...(label || license
      ? {
          requirements: {
            labels: label ?? before?.requirements?.labels ?? [],
            licenses: license ?? before?.requirements?.licenses ?? {},
          },
        }
      : {}),
  });
}
