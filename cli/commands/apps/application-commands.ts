/** Commands for applications as resources. */
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import type { Session } from '../../session/session.ts';
import { age, nameUnlessId } from '../../terminal/columns.ts';
import { splitPair } from '../parse-values.ts';
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
  update: {
    operation: 'updateApplication',
    text: 'Change an application: its name, and by which indicator its runs are judged.',
    options: {
      name: ['<name>', 'The name.', { isOptional: true }],
      description: ['<text>', 'The description.'],
      objective: [
        '<indicator=direction>',
        'By what runs are judged, such as result.value=minimize; "none" removes it.',
      ],
      baseline_run_id: [
        '<run>',
        'The run with which others are compared; "none" for the last one of the default instance.',
        { flag: '--baseline' },
      ],
    },
    // A parser of an option cannot return null: it would become an empty text.
    prepare: ({ objective, baseline_run_id: baseline, ...values }, session) => ({
      ...values,
      objective: readObjective(objective, session),
      baseline_run_id: baseline === 'none' ? null : baseline,
    }),
    example: 'routing --objective result.value=minimize',
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

/** Parses an indicator and its direction; null for `none`. Indicators may contain colons. */
function readObjective(value: unknown, { output }: Session) {
  if (value === undefined) return undefined;
  if (value === 'none') return null;
  const [name, direction] = splitPair(String(value), output.warn) ?? [];
  if (direction === 'minimize' || direction === 'maximize') return { name, direction };
  throw new CommandError(
    `--objective is "${value}"; it must be an indicator with minimize or maximize, such as result.value=minimize.`,
  );
}

function showApplication(application: ResponseBody<'getApplication'>) {
  const pushed = application.active_executable;
  return {
    application: application.id,
    name: application.name,
    description: application.description,
    'default instance': application.default_instance,
    objective: application.objective
      ? `${application.objective.direction} ${application.objective.name}`
      : undefined,
    baseline: application.baseline_run_id,
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
