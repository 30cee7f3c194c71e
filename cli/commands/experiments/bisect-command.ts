/** The command that finds the version that made an indicator worse. */
import { type Command, Option } from '@commander-js/extra-typings';
import { parseAmount, parseCount, parseList, parseNumber } from '../../experiments/read-options.ts';
import { submitExperiment } from '../../experiments/submit-experiment.ts';
import type { Session } from '../../session/session.ts';

/** Defines `bisect`. */
export function defineBisectCommand(program: Command, session: Session): void {
  program
    .command('bisect')
    .description(
      'Find the version that made an indicator worse, by a binary search with paired runs between a good and a bad version.',
    )
    .argument('<good>', 'The id of a good version.')
    .argument('<bad>', 'The id of a later version that is worse.')
    .requiredOption('--indicator <name>', 'The indicator that became worse, such as result.value.')
    .requiredOption('--difference <amount>', 'The smallest difference that matters, such as 2%.', parseAmount)
    .option('--input-set-id <id>', 'The input set to run.')
    .option('--input-ids <ids>', 'Managed inputs to run, with commas between them.', parseList)
    .option('--instance-id <id>', 'The instance whose configuration the runs have.')
    .addOption(
      new Option('--direction <direction>', 'The direction of improvement.').choices([
        'minimize',
        'maximize',
      ]),
    )
    .option(
      '--confidence <share>',
      'Probability with which the version is right. The default is 0.95.',
      parseNumber,
    )
    .option('--maximum-runs <count>', 'The largest number of runs.', parseCount)
    .option(
      '--priority <priority>',
      'The priority of the runs, from 1 (first) to 9 (last). The default is 9, behind all other runs.',
      parseCount,
    )
    .option('--max-duration <seconds>', 'The maximum duration of each run in seconds.', parseCount)
    .option('--id <id>', 'The id of the experiment.')
    .option('--name <name>', 'The name of the experiment. The default names both versions.')
    .option('--plan', 'Print the runs and the time of the search; create nothing.')
    .option('--no-watch', 'Create the experiment, and do not wait for its end.')
    .addHelpText(
      'after',
      '\nThe command waits for the end and prints the version. To read it later, use:\n  switchyard experiments result ID\n\nExample:\n  switchyard bisect v1 v9 --indicator result.value --difference 2% --input-set-id peak-days',
    )
    .action(
      (good, bad, { plan, watch, inputSetId, inputIds, instanceId, maximumRuns, maxDuration, ...options }) =>
        submitExperiment(session, {
          type: 'bisect',
          fields: {
            ...options,
            name: options.name ?? `Between ${good} and ${bad}`,
            good_version_id: good,
            bad_version_id: bad,
            input_set_id: inputSetId,
            input_ids: inputIds,
            instance_id: instanceId,
            maximum_runs: maximumRuns,
            max_duration: maxDuration,
          },
          next: { plan, watch: watch || undefined },
        }),
    );
}
