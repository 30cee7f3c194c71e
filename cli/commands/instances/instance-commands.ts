/** Commands for instances. */
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { defineCommand, type Field, type Parent } from '../resource/define-command.ts';
import { defineResource, printOne } from '../resource/define-resource.ts';
import {
  addConfigurationOptions,
  buildConfiguration,
  type ConfigurationOptions,
} from './instance-configuration.ts';

type Instance = ResponseBody<'getInstance'>;

/** Defines `instances` with its commands. */
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
