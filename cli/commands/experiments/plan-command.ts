/** The command that plans an experiment. */
import type { Command } from '@commander-js/extra-typings';
import { printPlan } from '../../experiments/planning/print-plan.ts';
import { parseList } from '../../experiments/read-options.ts';
import type { Session } from '../../session/session.ts';
import { addFieldOptions, type FieldOption } from './field-options.ts';

const OPTIONS: readonly FieldOption[] = [
  [
    '--difference <amount>',
    'The difference to find: a share such as 2%, or a number in the unit of the indicator.',
    { isRequired: true },
  ],
  ['--experiment-id <id>', 'An earlier experiment whose runs show the spread.'],
  ['--experiment-type <type>', 'The type of that experiment.'],
  [
    '--candidate <name>',
    'The candidate whose runs show the spread, where it has several; * averages over all.',
  ],
  ['--indicator <name>', 'The indicator. The default is the primary one of the experiment.'],
  ['--power <share>', 'Share of experiments that find the difference. The default is 0.8.'],
  ['--comparisons <count>', 'Primary indicators times candidates. The default is 1.'],
  ['--inputs <count>', 'Inputs to find the smallest difference of.'],
  ['--repetitions <count>', 'Repetitions of these inputs.'],
  ['--units <count>', 'Units of a switchback test to find the smallest difference of.'],
  ['--between-inputs <deviation>', 'Standard deviation of the effect between inputs.'],
  ['--within-input <deviation>', 'Standard deviation of one run around its input.'],
  ['--between-units <deviation>', 'Standard deviation of the mean of a unit.'],
];

/** Defines `experiments plan`. */
export function definePlanCommand(group: Command, session: Session): void {
  const command = group
    .command('plan')
    .description(
      'Print how many inputs, repetitions or units find a difference, and the smallest difference that a size finds. Nothing is created.',
    );
  const readFields = addFieldOptions(command, 'planExperiment', OPTIONS);
  command
    .option('--instances <ids>', 'Estimate the time by past runs of these instances.', parseList, [])
    .addHelpText(
      'after',
      '\nExample:\n  switchyard experiments plan --experiment-id faster-planner --difference 2% --inputs 20 --instances production,candidate',
    )
    .action(({ instances }) => printPlan(session, { instances, request: readFields() }));
}
