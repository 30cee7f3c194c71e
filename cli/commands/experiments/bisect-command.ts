/** The command that finds the version that made an indicator worse. */
import type { Command } from '@commander-js/extra-typings';
import { submitExperiment } from '../../experiments/submit-experiment.ts';
import type { Session } from '../../session/session.ts';
import { RUN_SETTINGS } from './create-commands.ts';
import { addFieldOptions, type FieldOption } from './field-options.ts';

const OPTIONS: readonly FieldOption[] = [
  ['--indicator <name>', 'The indicator that became worse, such as result.value.', { isRequired: true }],
  ['--difference <amount>', 'The smallest difference that matters, such as 2%.', { isRequired: true }],
  ['--input-set-id <id>', 'The input set to run.'],
  ['--input-ids <ids>', 'Managed inputs to run, with commas between them.'],
  ['--instance-id <id>', 'The instance whose configuration the runs have.'],
  ['--direction <direction>', 'The direction of improvement.'],
  ['--confidence <share>', 'Probability with which the version is right. The default is 0.95.'],
  ['--maximum-runs <count>', 'The largest number of runs.'],
  ...RUN_SETTINGS,
  ['--id <id>', 'The id of the experiment.'],
  ['--name <name>', 'The name of the experiment. The default names both versions.'],
];

/** Defines `bisect`. */
export function defineBisectCommand(program: Command, session: Session): void {
  const command = program
    .command('bisect')
    .description(
      'Find the version that made an indicator worse. A binary search with paired runs looks between a good and a bad version.',
    )
    .argument('<good>', 'The id of a good version.')
    .argument('<bad>', 'The id of a later version that is worse.');
  const readFields = addFieldOptions(command, 'createBisectExperiment', OPTIONS);
  command
    .option('--plan', 'Print the runs and the time of the search; create nothing.')
    .option('--no-watch', 'Create the experiment, and do not wait for its end.')
    .addHelpText(
      'after',
      '\nThe command waits for the end and prints the version. To read it later, use:\n  switchyard experiments result ID\n\nExample:\n  switchyard bisect v1 v9 --indicator result.value --difference 2% --input-set-id peak-days',
    )
    .action((good, bad, { plan, watch }) =>
      submitExperiment(session, {
        type: 'bisect',
        fields: {
          name: `Between ${good} and ${bad}`,
          ...readFields(),
          good_version_id: good,
          bad_version_id: bad,
        },
        next: { plan, watch: watch || undefined },
      }),
    );
}
