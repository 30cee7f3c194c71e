/** Reads ensemble runs as observations of an experiment: their duration, cost and gain. Pure. */
import { parseIndicators, parseRulesResult } from '../../../runs/run-columns.ts';
import type { ObservedRun } from '../../../runs/store/experiment-runs.ts';
import type { Observation } from '../../statistics/observations.ts';

/** Seconds for which apps ran for a run: its own app, or those of all child runs of an ensemble. */
export const TOTAL_DURATION = 'run.total_duration';

const DURATION = 'run.duration';

/** Returns the fields of an observation that only an ensemble run has; none for another run. */
export function readEnsembleFields(
  run: Pick<ObservedRun, 'id' | 'definition_id' | 'rules_result'>,
): Pick<Observation, 'ensemble_id' | 'gain'> {
  const { definition_id } = run;
  if (definition_id === null) return {};
  const gain = parseRulesResult(run)?.gain;
  if (!gain) return { ensemble_id: definition_id };
  const { statistics_path, objective, best_of_k } = gain;
  return { ensemble_id: definition_id, gain: { statistics_path, objective, best_of_k } };
}

/** Returns when the first child run of an ensemble run started; null for another run. */
export function readEnsembleStart(
  run: Pick<ObservedRun, 'id' | 'rules_result'>,
): { started_at: number; has_waited: boolean } | null {
  const usage = parseRulesResult(run)?.usage;
  return usage ? { started_at: Date.parse(usage.started_at), has_waited: usage.has_waited } : null;
}

/**
 * Returns the indicators in JSON with the cost of the run, so that an experiment with ensembles compares the cost of all
 * sides. The indicators of an ensemble run are those of its best run. Its duration is the time to the end of the last child
 * run, because the result exists only then.
 */
export function addTotalDuration(
  run: Pick<ObservedRun, 'id' | 'indicators' | 'execution_ms' | 'definition_id' | 'rules_result'>,
): string {
  const { indicators, execution_ms, definition_id } = run;
  const reported = parseIndicators(run);
  if (definition_id === null)
    return execution_ms === null
      ? indicators
      : formatIndicators(reported, { [TOTAL_DURATION]: execution_ms / 1000 });
  const usage = parseRulesResult(run)?.usage;
  if (!usage) return indicators;
  const hasDuration = reported.some(({ name }) => name === DURATION);
  return formatIndicators(reported, {
    ...(hasDuration ? { [DURATION]: usage.wall_seconds } : {}),
    [TOTAL_DURATION]: usage.total_seconds,
  });
}

function formatIndicators(
  reported: readonly { name: string; value: unknown }[],
  measured: Readonly<Record<string, number>>,
): string {
  const others = reported.filter(({ name }) => !Object.hasOwn(measured, name));
  return JSON.stringify([...others, ...Object.entries(measured).map(([name, value]) => ({ name, value }))]);
}
