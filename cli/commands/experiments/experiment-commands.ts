/** Commands for experiments of every type. */

import type { Command } from '@commander-js/extra-typings';
import {
  EXPERIMENT_TYPES,
  type ExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  deleteExperiment,
  type ExperimentAddress,
  listExperimentRuns,
  updateExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { readExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { CommandError } from '../../errors/command-error.ts';
import { startExperiment, stopExperiment } from '../../experiments/create-experiment.ts';
import { findExperiment, readTarget } from '../../experiments/find-experiment.ts';
import { printDecision, printResult, setExitCode } from '../../experiments/print-result.ts';
import { parseCount, parseType } from '../../experiments/read-options.ts';
import { waitForEnd } from '../../experiments/wait-for-end.ts';
import { confirm } from '../../session/confirm.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { age } from '../../terminal/columns.ts';
import { defineCreateCommands } from './create-commands.ts';
import { definePlanCommand } from './plan-command.ts';

const DECIDE_OPTION = [
  '--decide',
  'Print only the decision. The exit code is 0 to release the candidate, 1 not to release it, and 7 if it is undecided.',
] as const;

/** Adds a command for one experiment, whose type is an option: experiments of different types may have the same id. */
function addCommand(group: Command, name: string, text: string) {
  return group
    .command(name)
    .description(text)
    .argument('<id>', 'The id of the experiment.')
    .option(
      '--type <type>',
      `The type of the experiment: ${EXPERIMENT_TYPES.join(', ')}. The default is any; an acceptance test comes before the batch with the same id.`,
      parseType,
    );
}

/** Returns the address of an experiment of the application. Throws CommandError when no type has one. */
function locate(session: Session, id: string, type: ExperimentType | undefined): Promise<ExperimentAddress> {
  return findExperiment(session.connect(), { application: session.findApplication(), id, type });
}

/** Defines `experiments` with its commands. */
export function defineExperimentCommands(program: Command, session: Session): void {
  const group = program
    .command('experiments')
    .description('Plan, create, watch and read experiments.')
    .addHelpText('after', '\nExample:\n  switchyard experiments list --app routing');
  defineList(group, session);
  definePlanCommand(group, session);
  defineCreateCommands(group, session);
  defineWatch(group, session);
  defineResult(group, session);
  defineRuns(group, session);
  defineUpdate(group, session);
  defineChanges(group, session);
}

function defineList(group: Command, session: Session): void {
  group
    .command('list')
    .description('List the experiments of the application, the newest first.')
    .option('--type <type>', `Only experiments of this type: ${EXPERIMENT_TYPES.join(', ')}.`, parseType)
    .option('--limit <count>', 'The number of experiments.', parseCount, 20)
    .addHelpText('after', '\nExample:\n  switchyard experiments list --type acceptance')
    .action(({ type, limit }) => listNewest(session, type, limit));
}

/** Prints the experiments, at most `limit`. */
async function listNewest(session: Session, type: ExperimentType | undefined, limit: number): Promise<void> {
  const { client, application } = readTarget(session);
  const { signal } = session.terminal;
  const { items: experiments } = await readPages(limit, async (page) => {
    const query = { ...page, ...dropUndefined({ type }) };
    const params = { application_id: application };
    return (await client.call('listExperimentSummaries', { params, query, signal })).body;
  });
  session.output.printTable(
    experiments,
    {
      EXPERIMENT: 'id',
      TYPE: (one) => one.type,
      NAME: 'name',
      STATUS: 'status',
      RUNS: (one) => `${one.number_of_completed_runs}/${one.number_of_runs}`,
      VERDICT: ({ verdict }) => verdict?.word ?? '',
      CREATED: age('created_at'),
    },
    {
      json: { experiments },
      empty: `Application ${application} has no such experiments.`,
      id: ({ id }) => id,
    },
  );
}

function defineWatch(group: Command, session: Session): void {
  addCommand(group, 'watch', 'Wait for the end of an experiment with a progress bar, and print the verdict.')
    .option(...DECIDE_OPTION)
    .addHelpText(
      'after',
      '\nThe exit code is 1 if the acceptance test is not passed, or if the experiment failed or was canceled, 7 if the test is passed and its decision is undecided, and 0 otherwise.\n\nExample:\n  switchyard experiments watch cheaper-routes',
    )
    .action(async (id, { type, decide }) => {
      const address = await locate(session, id, type);
      const { status } = await waitForEnd(session, address);
      const result = await readExperimentView(session.connect(), address);
      if (decide) return printDecision(session, { ...result, status });
      setExitCode(session, { ...result, status });
      session.output.print({
        json: result.body,
        text: () => `${result.headlines.join('\n') || `${id} is ${status}.`}\n`,
        quiet: () => id,
      });
    });
}

function defineResult(group: Command, session: Session): void {
  addCommand(
    group,
    'result',
    'Print the verdict of an experiment, its pictures, and the table of its indicators.',
  )
    .option(
      '--indicator <name>',
      'The indicator of the pictures by input. The default is the one that decides.',
    )
    .option('--candidate <name>', 'Only the comparison of this candidate, as the result names it.')
    .option('--report <file>', 'Write the result to this file too, as one HTML file without other files.')
    .option('--csv', 'Print the table of the indicators as CSV, with all digits.')
    .option(...DECIDE_OPTION)
    .addHelpText(
      'after',
      '\nThe exit code is that of "switchyard experiments watch". An experiment without its end has a result so far.\n\nExample:\n  switchyard experiments result cheaper-routes --report report.html',
    )
    .action(async (id, { type, ...options }) => {
      const address = await locate(session, id, type);
      await printResult(session, address, options);
    });
}

function defineRuns(group: Command, session: Session): void {
  addCommand(group, 'runs', 'List the runs of an experiment, the newest first.')
    .option('--limit <count>', 'The number of runs.', parseCount, 20)
    .option('--all', 'All runs, whatever their number.')
    .addHelpText('after', '\nExample:\n  switchyard experiments runs faster-search --all --quiet')
    .action(async (id, { type, limit, all }) => {
      const address = await locate(session, id, type);
      await printRuns(session, address, all ? Number.POSITIVE_INFINITY : limit);
    });
}

async function printRuns(session: Session, address: ExperimentAddress, limit: number): Promise<void> {
  const client = session.connect();
  const { items, ...rest } = await readPages(limit, async (query) => {
    const { runs, ...page } = await listExperimentRuns(client, address, query);
    return { ...page, items: runs };
  });
  session.output.printTable(
    items,
    {
      RUN: 'id',
      STATUS: 'status_v2',
      INSTANCE: 'application_instance_id',
      VERSION: 'application_version_id',
      INPUT: 'input_id',
      UNIT: { value: ({ plan_unit_index }) => plan_unit_index, isNumeric: true },
      CREATED: age('created_at'),
    },
    {
      json: { runs: items, ...rest },
      empty: `The ${address.type} ${address.id} has no runs.`,
      id: ({ id }) => id,
    },
  );
}

function defineUpdate(group: Command, session: Session): void {
  addCommand(group, 'update', 'Change the name and the description of an experiment, in any status.')
    .option('--name <name>', 'The new name.')
    .option('--description <text>', 'The new description.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard experiments update faster-search --name "Faster search, second try"',
    )
    .action(async (id, { type, ...options }) => {
      const changes = dropUndefined({ name: options.name, description: options.description });
      if (Object.keys(changes).length === 0)
        throw new CommandError('Nothing to change was given. Give --name or --description.');
      const address = await locate(session, id, type);
      const body = await updateExperiment(session.connect(), address, changes);
      session.output.printSentence(body, `Updated ${address.type} ${id}.`, id);
    });
}

function defineChanges(group: Command, session: Session): void {
  const change = async (
    id: string,
    type: ExperimentType | undefined,
    { apply, done }: { apply: (address: ExperimentAddress) => Promise<void>; done: string },
  ): Promise<void> => {
    const address = await locate(session, id, type);
    await apply(address);
    session.output.printSentence({ id, type: address.type }, `${done} ${address.type} ${id}.`, id);
  };
  addCommand(group, 'start', 'Start the draft of a shadow or switchback test.')
    .addHelpText('after', '\nExample:\n  switchyard experiments start faster-search')
    .action((id, { type }) =>
      change(id, type, { apply: (address) => startExperiment(session.connect(), address), done: 'Started' }),
    );
  addCommand(group, 'stop', 'Stop a started shadow or switchback test, or the search of a bisect experiment.')
    .option('--cancel', 'Cancel the test: its results do not count.')
    .addHelpText('after', '\nExample:\n  switchyard experiments stop faster-search')
    .action((id, { type, cancel }) =>
      change(id, type, {
        apply: (address) => stopExperiment(session.connect(), address, cancel ? 'cancel' : 'complete'),
        done: 'Stopped',
      }),
    );
  addCommand(
    group,
    'delete',
    'Delete an experiment. The runs that the server created for it are deleted too.',
  )
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard experiments delete faster-search --yes')
    .action(async (id, { type, yes }) => {
      await confirm(session, { what: `Delete the experiment ${id} with its runs?`, yes });
      await change(id, type, {
        apply: (address) => deleteExperiment(session.connect(), address),
        done: 'Deleted',
      });
    });
}
