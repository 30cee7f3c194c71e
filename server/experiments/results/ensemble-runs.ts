/** Reads ensemble runs as observations of an experiment: their duration, cost and gain. Pure. */

import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import { parseIndicators, parseRulesResult } from '../../runs/run-columns.ts';
import type { ObservedRun } from '../../runs/store/experiment-runs.ts';
import { mean } from '../statistics/numbers.ts';
import type { Observation } from '../statistics/observations.ts';
import type { RunGroup } from './profile-groups.ts';

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

type Gain = NonNullable<Observation['gain']>;

/** The ended runs of an ensemble on one input. */
interface InputGains {
  gains: readonly Gain[];
  /** Runs in which no child run succeeded. */
  failed: number;
}

/** Returns null for a group of another kind, and for an ensemble of which no run has a gain. */
export function summarizeEnsemble({ runs, ...group }: RunGroup): EnsembleArm | null {
  const inputs = listInputGains(runs);
  const [first] = inputs.flatMap(({ gains }) => gains);
  if (!first) return null;
  return {
    ...group,
    statistics_path: first.statistics_path,
    objective: first.objective,
    inputs: inputs.length,
    best_of_k: summarizeBestOfK(inputs),
  };
}

/** Inputs of equal content are one input, as in the comparisons. A run that failed although it has a gain has no result. */
function listInputGains(runs: readonly Observation[]): InputGains[] {
  const ended = runs.filter(
    ({ status, ensemble_id }) => ensemble_id && (status === 'succeeded' || status === 'failed'),
  );
  const byInput = Map.groupBy(ended, ({ content, input_id }) => content ?? input_id);
  return [...byInput.values()].map((own) => ({
    gains: own.flatMap(({ status, gain }) => (status === 'succeeded' && gain ? [gain] : [])),
    failed: own.filter(({ status }) => status === 'failed').length,
  }));
}

function summarizeBestOfK(inputs: readonly InputGains[]): EnsembleArm['best_of_k'] {
  const counts = inputs.flatMap(({ gains }) => gains.map(({ best_of_k }) => best_of_k.length));
  const ones = listMeans(inputs, (gain) => gain.best_of_k[0]?.expected ?? 0);
  return Array.from({ length: Math.min(...counts) }, (_, index) => {
    const expected = listMeans(inputs, (gain) => gain.best_of_k[index]?.expected ?? 0);
    return {
      k: index + 1,
      expected: mean(expected),
      ratio_to_one: computeRatio(expected, ones),
      solved_share: mean(
        inputs.flatMap(({ gains, failed }) => {
          const shares = gains.map(({ best_of_k }) => best_of_k[index]?.solved_share ?? 0);
          const all = [...shares, ...new Array<number>(failed).fill(0)];
          return all.length === 0 ? [] : [mean(all)];
        }),
      ),
    };
  });
}

/** Returns the mean over the runs of each input with a gain, so that each input counts once. */
function listMeans(inputs: readonly InputGains[], read: (gain: Gain) => number): number[] {
  return inputs.flatMap(({ gains }) => (gains.length === 0 ? [] : [mean(gains.map(read))]));
}

/** Returns the geometric mean of the ratios of two lists; null when a value is not above 0. */
function computeRatio(values: readonly number[], references: readonly number[]): number | null {
  if (![...values, ...references].every((value) => value > 0)) return null;
  return Math.exp(mean(values.map((value, index) => Math.log(value / (references[index] ?? value)))));
}
