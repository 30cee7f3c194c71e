/** Commands for instances. */
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { InstanceConfiguration } from '@switchyard/contract/applications/instances.ts';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { MAX_DURATION_SECONDS_MAX, PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { dropUndefined } from '../session/drop-undefined.ts';
import type { Session } from '../session/session.ts';
import { collectAppOption, parseTokens, parseWholeNumber } from './parse-values.ts';
import { defineCommand, type Field, type Parent } from './resource/define-command.ts';
import { defineResource, printOne } from './resource/define-resource.ts';

type Instance = ResponseBody<'getInstance'>;

export const defineInstanceCommands = defineResource({
  name: 'instances',
  noun: 'instance',
  text: 'List, create, change and lock instances.',
  list: {
    operation: 'listInstances',
    text: 'List the instances of the application, the newest first.',
    columns: async (session) => {
      const params = { application_id: session.findApplication() };
      const application = (await session.connect().call('getApplication', { params })).body;
      return {
        INSTANCE: 'id',
        VERSION: ({ version_id }) => version_id || 'newest executable',
        CLASS: ({ configuration }) => configuration.execution_class,
        DEFAULT: ({ id }) => (id === application.default_instance ? 'yes' : ''),
        LOCKED: ({ locked, locked_by }) => (locked ? (locked_by ?? 'yes') : ''),
      };
    },
    empty: 'The application has no instances.',
    example: '--app routing',
  },
  get: { operation: 'getInstance', text: 'Print an instance with its configuration.' },
  remove: {
    operation: 'deleteInstance',
    text: 'Delete an instance. Its runs stay.',
    confirm: true,
    example: 'trial --yes',
  },
  show: showInstance,
  more: (instances, session) => {
    defineChanges(instances, session);
    defineStates(instances, session);
  },
});

function defineChanges(instances: Parent, session: Session): void {
  addConfigurationOptions(
    instances
      .command('create')
      .description('Create an instance of a version.')
      .argument('<instance>', 'The id of the instance.')
      .requiredOption('--version-id <id>', 'The version that it runs.')
      .option('--name <name>', 'The name; otherwise "Instance" and the id.')
      .option('--description <text>', 'The description.'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  switchyard instances create production --version-id v1 --option duration=30 --label gpu',
    )
    .action(async (id, { versionId, name, description, ...rest }) => {
      const configuration = buildConfiguration(rest);
      const { body } = await session.connect().call('createInstance', {
        params: { application_id: session.findApplication() },
        body: { id, version_id: versionId, ...dropUndefined({ name, description, configuration }) },
      });
      printInstance(session, body);
    });
  addConfigurationOptions(
    instances
      .command('update')
      .description('Change an instance. Options that are not given stay as they are.')
      .argument('<instance>', 'The id of the instance.')
      .option('--version-id <id>', 'The version that it runs.')
      .option('--name <name>', 'The name.')
      .option('--description <text>', 'The description.')
      .option('--remove-option <name...>', 'Options of the app to remove.'),
  )
    .addHelpText('after', '\nExample:\n  switchyard instances update production --version-id v2')
    .action((id, options) => updateInstance(session, id, options));
}

function defineStates(instances: Parent, session: Session): void {
  const argument: Field = ['<instance>', 'The id of the instance.'];
  for (const [name, locked, text] of [
    ['lock', true, 'Lock an instance: it refuses changes and deletion.'],
    ['unlock', false, 'Unlock an instance.'],
  ] as const)
    defineCommand(instances, session, {
      name,
      operation: 'setInstanceLock',
      text,
      arguments: { instance_id: argument },
      prepare: (values) => ({ ...values, locked }),
      example: 'production',
      print: printInstance,
    });
  defineCommand(instances, session, {
    name: 'set-default',
    operation: 'updateApplication',
    text: 'Make an instance the default of the application: runs without an instance use it.',
    arguments: { default_instance: argument },
    example: 'production',
    id: 'default_instance',
    done: ({ id, default_instance }) => `The default instance of ${id} is ${default_instance}.`,
  });
}

interface UpdateOptions extends ConfigurationOptions {
  versionId?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
}

async function updateInstance(
  session: Session,
  instance_id: string,
  { versionId: version_id, name, description, ...rest }: UpdateOptions,
): Promise<void> {
  const before = await fetchInstance(session, instance_id);
  const configuration = buildConfiguration(rest, before.configuration);
  const { body } = await session.connect().call('updateInstance', {
    params: { application_id: before.application_id, instance_id },
    body: dropUndefined({
      ...{ version_id, name, description, configuration },
      // The configuration is that of the server with the given options.
      expected_updated_at: before.updated_at,
    }),
  });
  printInstance(session, body);
}

async function fetchInstance(session: Session, instance_id: string): Promise<Instance> {
  const params = { application_id: session.findApplication(), instance_id };
  return (await session.connect().call('getInstance', { params })).body;
}

function printInstance(session: Session, instance: Instance): void {
  printOne(session, { show: showInstance }, instance);
}

function showInstance(instance: Instance) {
  const { configuration: set } = instance;
  return {
    instance: instance.id,
    name: instance.name,
    description: instance.description,
    version: instance.version_id || 'newest executable',
    class: set.execution_class,
    options: formatPairs(set.options),
    secrets: set.secrets_collection_id,
    priority: set.queuing.priority,
    queuing: set.queuing.disabled ? 'disabled' : 'enabled',
    network: set.network ? 'yes' : 'no',
    labels: set.requirements?.labels.join(', '),
    licenses: formatPairs(set.requirements?.licenses ?? {}),
    'api access': set.api_access?.applications.join(', '),
    locked: instance.locked ? (instance.locked_by ?? 'yes') : 'no',
    updated: instance.updated_at,
  };
}

function formatPairs(pairs: Readonly<Record<string, string | number>>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** The values of the options that `addConfigurationOptions` adds. */
interface ConfigurationOptions {
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

function addConfigurationOptions<Args extends unknown[], Opts extends OptionValues>(
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
    .option('-o, --option <name=value>', 'An option of the app; repeat it for more.', collectAppOption)
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
  return { ...before, ...Object.fromEntries([parseTokens(text)]) };
}

/**
 * Returns the configuration of the request. A configuration replaces the earlier one as a whole, so an update starts from the
 * earlier one. Undefined when no option was passed.
 */
function buildConfiguration(changes: ConfigurationOptions, before?: InstanceConfiguration) {
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
