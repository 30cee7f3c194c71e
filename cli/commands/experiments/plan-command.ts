/** The command that plans an experiment. */
import { type Command, Option } from '@commander-js/extra-typings';
import { PLANNED_FROM_TYPES } from '@switchyard/contract/experiments/experiment-plans.ts';
import { printPlan } from '../../experiments/planning/print-plan.ts';
import { parseAmount, parseCount, parseList, parseNumber } from '../../experiments/read-options.ts';
import type { Session } from '../../session/session.ts';

/** Defines `experiments plan`. */
export function definePlanCommand(group: Command, session: Session): void {
  group
    .command('plan')
    .description(
      'Print how many inputs, repetitions or units find a difference, and the smallest difference that a size finds. Nothing is created.',
    )
    .requiredOption(
      '--difference <amount>',
      'The difference to find: a share such as 2%, or a number in the unit of the indicator.',
      parseAmount,
    )
    .option('--experiment-id <id>', 'An earlier experiment whose runs show the spread.')
    .addOption(
      new Option('--experiment-type <type>', 'The type of that experiment.').choices(PLANNED_FROM_TYPES),
    )
    .option('--indicator <name>', 'The indicator. The default is the primary one of the experiment.')
    .option(
      '--power <share>',
      'Share of experiments that find the difference. The default is 0.8.',
      parseNumber,
    )
    .option('--comparisons <count>', 'Primary indicators times candidates. The default is 1.', parseCount)
    .option('--inputs <count>', 'Inputs to find the smallest difference of.', parseCount)
    .option('--repetitions <count>', 'Repetitions of these inputs.', parseCount)
    .option('--units <count>', 'Units of a switchback test to find the smallest difference of.', parseCount)
    .option('--between-inputs <deviation>', 'Standard deviation of the effect between inputs.', parseNumber)
    .option('--within-input <deviation>', 'Standard deviation of one run around its input.', parseNumber)
    .option('--between-units <deviation>', 'Standard deviation of the mean of a unit.', parseNumber)
    .option('--instances <ids>', 'Estimate the time by past runs of these instances.', parseList, [])
    .addHelpText(
      'after',
      '\nExample:\n  switchyard experiments plan --experiment-id faster-planner --difference 2% --inputs 20 --instances production,candidate',
    )
    .action(
      ({ experimentId, experimentType, betweenInputs, withinInput, betweenUnits, instances, ...options }) =>
        printPlan(session, {
          instances,
          request: {
            ...options,
            experiment_id: experimentId,
            experiment_type: experimentType,
            between_inputs: betweenInputs,
            within_input: withinInput,
            between_units: betweenUnits,
          },
        }),
    );
}
