/** The command that promotes a version. */
import type { Command } from '@commander-js/extra-typings';
import { promote } from '../../applying/promotion/promote.ts';
import { FILE_NAME } from '../../applying/read-file.ts';
import { CommandError } from '../../errors/command-error.ts';
import { parseCount } from '../../experiments/read-options.ts';
import type { Session } from '../../session/session.ts';

export function definePromoteCommand(program: Command, session: Session): void {
  program
    .command('promote')
    .description(
      'Move a version through the gates of an instance. The instance is set to it only on verdicts.',
    )
    .argument('<version>', 'The id of the version.')
    .requiredOption('--instance <id>', 'The instance that gets the version, such as production.')
    .option('--file <file>', 'The file with the gates of the instance.', FILE_NAME)
    .option('--plan', 'Print the runs of each gate and their time; create nothing.')
    .option(
      '--watch-after <runs>',
      'Watch this many runs after the promotion, and move the instance back if they fail more often.',
      parseCount,
    )
    .option(
      '--outage-runs <runs>',
      'With --watch-after, move the instance back after this many failures in a row. The default is in the text below.',
      parseCount,
    )
    .option(
      '--priority <priority>',
      'The priority of the runs of batch experiments and acceptance tests, from 1 (first) to 9 (last), in place of that of the gates. The default is 9.',
      parseCount,
    )
    .addHelpText(
      'after',
      `
The gates are in the file, as "gates" of the instance: tests of the types acceptance, batch, shadow and switchback, in order. The command creates the instance promote-INSTANCE-VERSION with the configuration of the instance, tests it against the instance, and stops at the first gate that is not positive:
  positive   The decision of the acceptance test is yes, or every primary indicator has one of the "verdicts" of the gate, by default better or equivalent. Inputs that all tie are same, which passes only if the gate names it.
  negative   The decision of the acceptance test is no, a primary indicator or a guardrail is worse, or the experiment failed or was canceled. A shadow or switchback test is stopped as soon as it is worse.
  undecided  Neither.

Ids of experiments are made from instance, version and gate, and the state of the promotion is on the server: after an interruption, the same command resumes it, also on another machine. A gate that has ended is not repeated; give it another name and new inputs to test again.

With --watch-after, the command then watches the first runs of the instance with the version, in the order of their creation. It moves the instance back to the version before when
  - the runs fail more often than the last 500 of the version before. Both rates are unknown, and failures in a burst, with at most one success between two of them, count as one. If the rates are equal, whatever they are, this happens in at most 5 % of releases. It takes at least 3 failures; the first line of the watch says how many.
  - as many runs in a row fail as --outage-runs says. The default is 12, or 30 % of the watched runs, or 4 times the longest row before, whichever is most. Set it above the length of outages that have nothing to do with a release: such an outage would move the instance back.
  - the last gate is negative now, because of runs that ended late.
With few runs before, only failures in a row move the instance back. The watch ends, and leaves the instance as it is, when somebody gives it another version. An interrupted watch is resumed by the same command. A version that was moved back is not promoted again.

The exit code is 0 if the instance has the version at the end, and 1 if a gate or the watch prevented it.

Example:
  switchyard promote v2 --instance production --watch-after 100`,
    )
    .action((version, { instance, file, watchAfter, outageRuns, priority, plan }) => {
      if (outageRuns !== undefined && watchAfter === undefined)
        throw new CommandError('--outage-runs is a setting of the watch: add --watch-after.');
      return promote(session, { version, instance, file, watchAfter, outageRuns, priority, plan });
    });
}
