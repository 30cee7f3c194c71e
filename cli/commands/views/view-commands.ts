/** Commands for saved views of runs. */
import { type Command, Option } from '@commander-js/extra-typings';
import type { CallRequest } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { RUN_VIEW_WINDOWS } from '@switchyard/contract/runs/views/run-windows.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import type { Parent } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';
import { addTableFilters, buildTableQuery, type TableFilters } from '../run-filters.ts';
import { findView, type RunView } from './find-view.ts';

type Table = CallRequest<Operations['createRunView']>['body']['table'];

interface ViewOptions extends TableFilters {
  createdWithin?: (typeof RUN_VIEW_WINDOWS)[number];
  columns?: string[];
  shared?: boolean;
}

const VIEW_TEXT = 'The id or the name of the view.';

export const defineViewCommands = defineResource({
  name: 'views',
  noun: 'view',
  text: 'List, save, change and delete views. A view has filters, order and columns of the runs of an application.',
  argument: VIEW_TEXT,
  find: async (session, text) => (await findView(session, text)).id,
  list: {
    operation: 'listRunViews',
    text: 'List your views of the runs of the application, and those that other people share.',
    columns: {
      VIEW: 'id',
      NAME: 'name',
      AUTHOR: ({ is_own, author_email }) => (is_own ? 'you' : author_email),
      SHARED: ({ is_shared }) => (is_shared ? 'yes' : ''),
      RUNS: ({ table }) => formatTable(table),
    },
  },
  remove: {
    operation: 'deleteRunView',
    text: 'Delete a view. Its runs stay.',
    example: 'Failed',
    print: ({ output }, _body, { view_id }) => {
      const id = String(view_id);
      output.printSentence({ deleted: [id] }, `Deleted ${id}.`, id);
    },
  },
  more: defineChanges,
});

function defineChanges(views: Parent, session: Session): void {
  addViewOptions(
    views
      .command('create')
      .description(
        'Save filters and an order of runs as a view. Use it with "switchyard runs --view", and in the console.',
      )
      .argument('<view>', 'The name of the view.'),
  )
    .option('--shared', 'Show the view to every member of the account.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard views create "Failed in production" --status failed --instance production --created-within 7d --shared',
    )
    .action((name, options) => createView(session, name, options));
  addViewOptions(
    views
      .command('update')
      .description('Change a view. With a filter, an order or columns, these replace all that it had.')
      .argument('<view>', VIEW_TEXT),
  )
    .option('--rename <name>', 'The new name of the view.')
    .option('--shared', 'Show the view to every member of the account.')
    .option('--no-shared', 'Show the view to yourself alone.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard views update "Failed in production" --rename Failed --no-shared',
    )
    .action((view, options) => updateView(session, view, options));
}

function addViewOptions<Arguments extends unknown[]>(command: Command<Arguments>) {
  return addTableFilters(command)
    .addOption(
      new Option('--created-within <time>', 'Only runs of this time before now.').choices(RUN_VIEW_WINDOWS),
    )
    .option(
      '--columns <column...>',
      'The columns of the console, such as instance, duration, indicator:NAME and option:NAME.',
    );
}

function formatTable({ filters, created_within, sort }: RunView['table']): string {
  const parts = { ...filters, ...(created_within && { within: created_within }), ...(sort && { sort }) };
  return Object.entries(parts)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Returns the table of the options; undefined when they have nothing about it. */
function buildTable({ output }: Session, options: ViewOptions): Table | undefined {
  const { sort, ...filters } = buildTableQuery(options, output);
  const table = dropUndefined({ sort, created_within: options.createdWithin, columns: options.columns });
  const isFiltered = Object.keys(filters).length > 0;
  if (!isFiltered && Object.keys(table).length === 0) return undefined;
  return { ...table, ...(isFiltered && { filters }) };
}

async function createView(session: Session, name: string, options: ViewOptions): Promise<void> {
  const { body } = await session.connect().call('createRunView', {
    params: { application_id: session.findApplication() },
    body: { name, is_shared: options.shared ?? false, table: buildTable(session, options) ?? {} },
  });
  printView(session, body, 'Saved');
}

async function updateView(
  session: Session,
  text: string,
  { rename, ...options }: ViewOptions & { rename?: string },
): Promise<void> {
  const body = dropUndefined({
    name: rename,
    is_shared: options.shared,
    table: buildTable(session, options),
  });
  if (Object.keys(body).length === 0)
    throw new CommandError('Nothing to change was given. Give --rename, --shared, --no-shared or a filter.');
  const { id } = await findView(session, text);
  const params = { application_id: session.findApplication(), view_id: id };
  const response = await session.connect().call('updateRunView', { params, body });
  printView(session, response.body, 'Changed');
}

function printView({ output }: Session, view: RunView, done: string): void {
  output.printSentence(
    view,
    `${done} view ${cleanLine(view.name)}. List its runs with: switchyard runs --view ${view.id}`,
    view.id,
  );
}
