/** Summarises the ensembles of a batch over its inputs: the best of fewer child runs. Pure. */
import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import { mean } from '../../statistics/numbers.ts';
import type { Observation } from '../../statistics/observations.ts';
import type { RunGroup } from '../profile-groups.ts';

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
