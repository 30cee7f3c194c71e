/** Commands for experiments of every type. */

import type { Command } from '@commander-js/extra-typings';
import { EXPERIMENT_TYPES } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  deleteExperiment,
  type ExperimentAddress,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { startExperiment, stopExperiment } from '../../experiments/create-experiment.ts';
import { listNewest } from '../../experiments/list-newest.ts';
import { printDecision, printResult, setExitCode } from '../../experiments/print-result.ts';
import { parseCount, parseType } from '../../experiments/read-options.ts';
import { readResult } from '../../experiments/read-result.ts';
import { waitForEnd } from '../../experiments/wait-for-end.ts';
import type { Session } from '../../session/session.ts';
import { defineCreateCommands } from './create-commands.ts';
import { definePlanCommand } from './plan-command.ts';
import { defineRuns } from './runs-command.ts';
import { locateExperiment, TYPE_OPTION } from './type-option.ts';
import { defineUpdate } from './update-command.ts';

const DECIDE_OPTION = [
  '--decide',
  'Print only the decision. The exit code is 0 to release the candidate, 1 not to release it, and 7 if it is undecided.',
] as const;

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

function defineWatch(group: Command, session: Session): void {
  group
    .command('watch')
    .description('Wait for the end of an experiment with a progress bar, and print the verdict.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
    .option(...DECIDE_OPTION)
    .addHelpText(
      'after',
      '\nThe exit code is 1 if the acceptance test is not passed, or if the experiment failed or was canceled, 7 if the test is passed and its decision is undecided, and 0 otherwise.\n\nExample:\n  switchyard experiments watch cheaper-routes',
    )
    .action(async (id, { type, decide }) => {
      const address = await locateExperiment(session, id, type);
      const { status } = await waitForEnd(session, address);
      const result = await readResult(session.connect(), address);
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
  group
    .command('result')
    .description('Print the verdict of an experiment, its pictures, and the table of its indicators.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
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
      const address = await locateExperiment(session, id, type);
      await printResult(session, address, options);
    });
}

function defineChanges(group: Command, session: Session): void {
  const change = async (
    id: string,
    type: ExperimentAddress['type'] | undefined,
    { apply, done }: { apply: (address: ExperimentAddress) => Promise<void>; done: string },
  ): Promise<void> => {
    const address = await locateExperiment(session, id, type);
    await apply(address);
    session.output.printSentence({ id, type: address.type }, `${done} ${address.type} ${id}.`, id);
  };
  group
    .command('start')
    .description('Start the draft of a shadow or switchback test.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
    .addHelpText('after', '\nExample:\n  switchyard experiments start faster-search')
    .action((id, { type }) =>
      change(id, type, { apply: (address) => startExperiment(session.connect(), address), done: 'Started' }),
    );
  group
    .command('stop')
    .description('Stop a started shadow or switchback test, or the search of a bisect experiment.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
    .option('--cancel', 'Cancel the test: its results do not count.')
    .addHelpText('after', '\nExample:\n  switchyard experiments stop faster-search')
    .action((id, { type, cancel }) =>
      change(id, type, {
        apply: (address) => stopExperiment(session.connect(), address, cancel ? 'cancel' : 'complete'),
        done: 'Stopped',
      }),
    );
  group
    .command('delete')
    .description('Delete an experiment. The runs that the server created for it are deleted too.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
    .addHelpText('after', '\nExample:\n  switchyard experiments delete faster-search')
    .action((id, { type }) =>
      change(id, type, { apply: (address) => deleteExperiment(session.connect(), address), done: 'Deleted' }),
    );
}
