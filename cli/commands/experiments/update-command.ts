/** Changes the name and the description of an experiment. */

import type { Command } from '@commander-js/extra-typings';
import { updateExperiment } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { locateExperiment, TYPE_OPTION } from './type-option.ts';

/** Defines `experiments update`. */
export function defineUpdate(group: Pick<Command, 'command'>, session: Session): void {
  group
    .command('update')
    .description('Change the name and the description of an experiment, in any status.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
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
      const address = await locateExperiment(session, id, type);
      const body = await updateExperiment(session.connect(), address, changes);
      session.output.printSentence(body, `Updated ${address.type} ${id}.`, id);
    });
}
