/** The command that promotes a version. */
import type { Command } from '@commander-js/extra-typings';
import { promote } from '../../applying/promotion/promote.ts';
import { FILE_NAME } from '../../applying/read-file.ts';
import { parseCount } from '../../experiments/read-options.ts';
import type { Session } from '../../session/session.ts';

/** Defines `promote`. */
export function definePromoteCommand(program: Command, session: Session): void {
  program
    .command('promote')
    .description(
      'Move a version through the gates of an instance, and set the instance to it only on verdicts.',
    )
    .argument('<version>', 'The id of the version.')
    .requiredOption('--instance <id>', 'The instance that gets the version, such as production.')
    .option('--file <file>', 'The file with the gates of the instance.', FILE_NAME)
    .option(
      '--watch-after <runs>',
      'Watch this many runs after the promotion, and move the instance back if they fail more often.',
      parseCount,
    )
    .addHelpText(
      'after',
      `
The gates are in the file, as "gates" of the instance: tests of the types acceptance, batch, shadow and switchback, in order. The command creates the instance promote-INSTANCE-VERSION with the configuration of the instance, tests it against the instance, and stops at the first gate that is not positive:
  positive   The acceptance test is passed, or every primary indicator has one of the "verdicts" of the gate, by default better or equivalent.
  negative   The acceptance test is not passed, a primary indicator or a guardrail is worse, or the experiment failed or was canceled. A shadow or switchback test is stopped as soon as it is worse.
  undecided  Neither.

Ids of experiments are made from instance, version and gate, and the state of the promotion is on the server: after an interruption, the same command resumes it, also on another machine. A gate that has ended is not repeated; delete its experiment to repeat it.

With --watch-after, the command then counts the runs of the instance with the version that ended after the promotion. It moves the instance back to the version before when
  - the likelihood ratio of a failure rate 10 points higher to the rate of the last 200 runs of the version before reaches 20, which happens for an equal rate with a probability of at most 5 %, or
  - the last gate is negative now, because of runs that ended late.
An interrupted watch is resumed by the same command. A version that was moved back is not promoted again.

The exit code is 0 if the instance has the version at the end, and 1 if a gate or the watch prevented it.

Example:
  switchyard promote v2 --instance production --watch-after 100`,
    )
    .action((version, { instance, file, watchAfter }) =>
      promote(session, { version, instance, file, watchAfter }),
    );
}
