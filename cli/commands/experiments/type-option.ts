/** The option with the type of an experiment, which every command for one experiment has. */

import { EXPERIMENT_TYPES } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { findExperiment } from '../../experiments/find-experiment.ts';
import { parseType } from '../../experiments/read-options.ts';
import type { Session } from '../../session/session.ts';

/** The flags, the description and the parser of the option. */
export const TYPE_OPTION = [
  '--type <type>',
  `The type of the experiment: ${EXPERIMENT_TYPES.join(', ')}. The default is any; an acceptance test comes before the batch with the same id.`,
  parseType,
] as const;

/** Returns the address of an experiment of the application. Throws CommandError when no type has one. */
export function locateExperiment(
  session: Session,
  id: string,
  type: ExperimentAddress['type'] | undefined,
): Promise<ExperimentAddress> {
  return findExperiment(session.connect(), { application: session.findApplication(), id, type });
}
