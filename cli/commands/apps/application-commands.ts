/** Commands for applications as resources. */
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { age, nameUnlessId } from '../../terminal/columns.ts';
import { defineResource, printOne } from '../resource/define-resource.ts';

/** Defines `apps` with its commands. */
export const defineApplicationCommands = defineResource({
  name: 'apps',
  noun: 'application',
  text: 'List, create and delete applications.',
  list: {
    operation: 'listApplications',
    text: 'List the applications of the account, the newest first.',
    columns: {
      APPLICATION: 'id',
      NAME: nameUnlessId,
      'DEFAULT INSTANCE': 'default_instance',
      PUSHED: ({ active_executable }) => age('uploaded_at')(active_executable ?? {}),
      DESCRIPTION: 'description',
    },
    empty: 'The account has no applications. Push one with: switchyard push FOLDER',
  },
  get: {
    operation: 'getApplication',
    text: 'Print an application.',
    arguments: {
      application_id: ['[application]', 'The id; otherwise --app, or that of the working folder.'],
    },
  },
  create: {
    operation: 'createApplication',
    text: 'Create an application. "switchyard push" creates one too.',
    options: {
      name: ['<name>', 'The name; otherwise the id.', { isOptional: true }],
      description: ['<text>', 'The description.'],
    },
    prepare: ({ id, name = id, ...values }) => ({ id, name, ...values }),
    example: 'routing --description "Plans of the fleet"',
  },
  remove: {
    operation: 'deleteApplication',
    text: 'Delete an application with its versions, instances, runs, inputs and experiments.',
    confirm: (id) => `Delete the application ${id} with everything in it?`,
    example: 'trial',
  },
  show: showApplication,
  more: (apps, session) => {
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
        printOne(session, { show: showApplication }, (await api.call('getApplication', { params })).body);
      });
  },
});

function showApplication(application: ResponseBody<'getApplication'>) {
  const pushed = application.active_executable;
  return {
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
  };
}

/** Says who trusts the HTML assets; undefined without trust. */
function formatTrust(application: ResponseBody<'getApplication'>): string | undefined {
  const { html_assets_trusted, html_assets_trusted_by: by, html_assets_trusted_at: at } = application;
  return html_assets_trusted ? `trusted by ${by} at ${at}` : undefined;
}
