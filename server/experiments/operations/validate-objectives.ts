/** What the objectives of an experiment may say, of whichever kind it is. Pure. */
import { METRIC_CHARS_MAX, METRICS_MAX } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { Objectives } from '../store/online-test-definitions.ts';

/** Throws the 400 for objectives of too many indicators, or of what no indicator is called. */
export function validateObjectives(objectives: Readonly<Objectives>): void {
  const names = Object.keys(objectives);
  if (names.length > METRICS_MAX)
    throw badRequest(`objectives has ${names.length} indicators; it may have ${METRICS_MAX}.`);
  for (const name of names)
    if (name === '' || name.length > METRIC_CHARS_MAX)
      throw badRequest(
        `objectives has the indicator ${quoteValue(name)}; the name of one has 1 to ${METRIC_CHARS_MAX} characters.`,
      );
}
