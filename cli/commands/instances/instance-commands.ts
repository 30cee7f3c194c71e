/** Commands for instances. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { confirmDeletion } from '../../session/confirm.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatFields } from '../../terminal/table.ts';
import { printDeletedOne } from '../print-deleted.ts';
import {
  addConfigurationOptions,
  buildConfiguration,
  type ConfigurationOptions,
} from './instance-configuration.ts';

type Instance = CallResponse<Operations['getInstance']>['body'];

/** Defines `instances` with its commands. */
export function defineInstanceCommands(program: Command, session: Session): void {
  const instances = program.command('instances').description('List, create, change and lock instances.');
  instances
    .command('list', { isDefault: true })
    .description('List the instances of the application, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard instances list --app routing')
    .action(() => printInstances(session));
  instances
    .command('get')
    .description('Print an instance with its configuration.')
    .argument('<instance>', 'The id of the instance.')
    .addHelpText('after', '\nExample:\n  switchyard instances get production')
    .action(async (id) => printInstance(session, await fetchInstance(session, id)));
  defineChanges(instances, session);
  defineStates(instances, session);
}

function defineChanges(instances: Pick<Command, 'command'>, session: Session): void {
  addConfigurationOptions(
    instances
      .command('create')
      .description('Create an instance of a version.')
      .argument('<instance>', 'The id of the instance.')
      .requiredOption('--version-id <id>', 'The version that it runs.')
      .option('--name <name>', 'The name; otherwise the id.')
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

function defineStates(instances: Pick<Command, 'command'>, session: Session): void {
  for (const [name, locked, description] of [
    ['lock', true, 'Lock an instance: it refuses changes and deletion.'],
    ['unlock', false, 'Unlock an instance.'],
  ] as const)
    instances
      .command(name)
      .description(description)
      .argument('<instance>', 'The id of the instance.')
      .addHelpText('after', `\nExample:\n  switchyard instances ${name} production`)
      .action(async (instance_id) => {
        const params = { application_id: session.findApplication(), instance_id };
        const { body } = await session.connect().call('setInstanceLock', { params, body: { locked } });
        printInstance(session, body);
      });
  instances
    .command('set-default')
    .description('Make an instance the default of the application: runs without an instance use it.')
    .argument('<instance>', 'The id of the instance.')
    .addHelpText('after', '\nExample:\n  switchyard instances set-default production')
    .action(async (default_instance) => {
      const params = { application_id: session.findApplication() };
      const { body } = await session
        .connect()
        .call('updateApplication', { params, body: { default_instance } });
      session.output.print({
        json: body,
        text: () => `The default instance of ${body.id} is ${body.default_instance}.\n`,
        quiet: () => body.default_instance,
      });
    });
  instances
    .command('delete')
    .description('Delete an instance. Its runs stay.')
    .argument('<instance>', 'The id of the instance.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard instances delete trial --yes')
    .action(async (instance_id, { yes }) => {
      await confirmDeletion(session, { what: `Delete the instance ${instance_id}?`, word: instance_id, yes });
      const params = { application_id: session.findApplication(), instance_id };
      await session.connect().call('deleteInstance', { params });
      printDeletedOne(session, 'instance', instance_id);
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

async function printInstances(session: Session): Promise<void> {
  const params = { application_id: session.findApplication() };
  const client = session.connect();
  const { body } = await client.call('listInstances', { params });
  const application = (await client.call('getApplication', { params })).body;
  session.output.printTable(
    listItems(body),
    [
      { title: 'INSTANCE', value: ({ id }) => id },
      { title: 'VERSION', value: ({ version_id }) => version_id || 'newest executable' },
      { title: 'CLASS', value: ({ configuration }) => configuration.execution_class },
      { title: 'DEFAULT', value: ({ id }) => (id === application.default_instance ? 'yes' : '') },
      { title: 'LOCKED', value: ({ locked, locked_by }) => (locked ? (locked_by ?? 'yes') : '') },
    ],
    { json: body, empty: 'The application has no instances.', id: ({ id }) => id },
  );
}

function printInstance({ output }: Session, instance: Instance): void {
  const { configuration: set } = instance;
  output.print({
    json: instance,
    text: () =>
      formatFields({
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
      }),
    quiet: () => instance.id,
  });
}

function formatPairs(pairs: Readonly<Record<string, string | number>>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
