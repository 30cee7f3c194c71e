/** Validates the objectives of experiments of every kind. Pure. */
import { METRIC_CHARS_MAX, METRICS_MAX } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { Objectives } from '../store/online-test-definitions.ts';

/** Throws a 400 for too many objectives, and for a name that no indicator can have. */
export function validateObjectives(objectives: Readonly<Objectives>): void {
  const names = Object.keys(objectives);
  if (names.length > METRICS_MAX)
    throw badRequest(`objectives has ${names.length} indicators; it may have at most ${METRICS_MAX}.`);
  for (const name of names)
    if (name === '' || name.length > METRIC_CHARS_MAX)
      throw badRequest(
        `objectives has the indicator ${quoteValue(name)}; a name has 1 to ${METRIC_CHARS_MAX} characters.`,
      );
}
