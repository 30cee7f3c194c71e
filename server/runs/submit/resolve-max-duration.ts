/** The maximum duration of a run, from its request and its instance. Pure. */
import { computeDurationLimit, EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { findDurationError, type RequestedConfiguration } from '../../apps/instances/rules.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';

interface DurationRequest {
  configuration: Pick<RequestedConfiguration, 'execution_class' | 'max_duration'>;
  /** The experiment of the run, or the run that it belongs to. */
  experiment?: unknown;
  parentRunId?: unknown;
  /** The ensemble of the run, whose child runs have the classes of their instances. */
  definitionId?: string;
}

/**
 * Returns the maximum duration of the run in seconds; null for that of its execution class. Throws a 400 for a longer one. That of
 * an instance, an experiment or an ensemble is a bound for runs of several classes, and so does not extend a class. Such a run
 * gets the shorter of the two.
 */
export function resolveMaxDuration(
  { configuration, experiment, parentRunId, definitionId }: DurationRequest,
  ofInstance: RequestedConfiguration,
): number | null {
  const name = configuration.execution_class ?? ofInstance.execution_class ?? EXECUTION_CLASS_DEFAULT;
  const requested = configuration.max_duration ?? ofInstance.max_duration ?? null;
  if (requested === null || definitionId !== undefined) return requested;
  const error = experiment || parentRunId ? null : findDurationError(configuration.max_duration, name);
  if (error) throw badRequest(error);
  return computeDurationLimit({ execution_class: name, max_duration: requested }) / 1000;
}
