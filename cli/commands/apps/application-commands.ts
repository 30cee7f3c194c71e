/** Commands for applications as resources. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { confirmDeletion } from '../../session/confirm.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';
import { printDeletedOne } from '../print-deleted.ts';

type Application = CallResponse<Operations['getApplication']>['body'];

/** Defines `apps` with its commands. */
export function defineApplicationCommands(program: Command, session: Session): void {
  const apps = program.command('apps').description('List, create and delete applications.');
  apps
    .command('list', { isDefault: true })
    .description('List the applications of the account, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard apps list')
    .action(() => printApplications(session));
  apps
    .command('get')
    .description('Print an application.')
    .argument('[application]', 'The id; otherwise --app, or that of the working folder.')
    .addHelpText('after', '\nExample:\n  switchyard apps get routing')
    .action(async (id) => {
      const params = { application_id: id ?? session.findApplication() };
      printApplication(session, (await session.connect().call('getApplication', { params })).body);
    });
  apps
    .command('create')
    .description('Create an application. "switchyard push" creates one too.')
    .argument('<application>', 'The id of the application.')
    .option('--name <name>', 'The name; otherwise the id.')
    .option('--description <text>', 'The description.')
    .addHelpText('after', '\nExample:\n  switchyard apps create routing --description "Plans of the fleet"')
    .action(async (id, { name = id, description }) => {
      const { body } = await session
        .connect()
        .call('createApplication', { body: { id, name, ...dropUndefined({ description }) } });
      printApplication(session, body);
    });
  apps
    .command('trust')
    .description('Let the console run the HTML assets of an application without a click.')
    .argument('<application>', 'The id of the application.')
    .option('--off', 'Ask for the click again.')
    .addHelpText(
      'after',
      '\nExamples:\n  switchyard apps trust routing\n  switchyard apps trust routing --off',
    )
    .action(async (application_id, { off }) => {
      const params = { application_id };
      const api = session.connect();
      if (off) await api.call('distrustHtmlAssets', { params });
      else await api.call('trustHtmlAssets', { params });
      printApplication(session, (await api.call('getApplication', { params })).body);
    });
  apps
    .command('delete')
    .description('Delete an application with its versions, instances, runs, inputs and experiments.')
    .argument('<application>', 'The id of the application.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard apps delete trial')
    .action(async (application_id, { yes }) => {
      const what = `Delete the application ${application_id} with everything in it?`;
      await confirmDeletion(session, { what, word: application_id, yes });
      await session.connect().call('deleteApplication', { params: { application_id } });
      printDeletedOne(session, 'application', application_id);
    });
}

async function printApplications(session: Session): Promise<void> {
  const { body } = await session.connect().call('listApplications');
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'APPLICATION', value: ({ id }) => id },
      { title: 'NAME', value: ({ id, name }) => (name === id ? '' : name) },
      { title: 'DEFAULT INSTANCE', value: ({ default_instance }) => default_instance },
      {
        title: 'PUSHED',
        value: ({ active_executable: pushed }) =>
          pushed?.uploaded_at ? formatAge(Date.parse(pushed.uploaded_at), now) : 'never',
      },
      { title: 'DESCRIPTION', value: ({ description }) => description },
    ],
    {
      json: body,
      empty: 'The account has no applications. Push one with: switchyard push FOLDER',
      id: ({ id }) => id,
    },
  );
}

function printApplication({ output }: Session, application: Application): void {
  const pushed = application.active_executable;
  output.print({
    json: application,
    text: () =>
      formatFields({
        application: application.id,
        name: application.name,
        description: application.description,
        'default instance': application.default_instance,
        executable: pushed?.id,
        runtime: pushed?.requirements?.runtime,
        pushed: pushed?.uploaded_at,
        'pushed by': pushed?.user_email,
        'HTML assets': formatTrust(application),
        created: application.created_at,
      }),
    quiet: () => application.id,
  });
}

/** Says who trusts the HTML assets; undefined without trust. */
function formatTrust(application: Application): string | undefined {
  const { html_assets_trusted, html_assets_trusted_by: by, html_assets_trusted_at: at } = application;
  return html_assets_trusted ? `trusted by ${by} at ${at}` : undefined;
}
