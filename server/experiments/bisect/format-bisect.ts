/** Formats bisect experiments and the state of their search for the API. */
import type {
  BisectExperimentInfo,
  BisectExperimentResult,
} from '@switchyard/contract/experiments/bisect-experiments.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import type { SearchResult, SearchStep } from '../statistics/bisect/search.ts';
import { computeConfidenceSequence } from '../statistics/paired/interim.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import type { SearchState } from './read-search.ts';

/** The threshold of a confidence sequence at 95 %. */
const INTERVAL_THRESHOLD = 20;

/** Formats the experiment without its steps. */
export function formatBisect(experiment: ExperimentsTable, counts: ExperimentCounts): BisectExperimentInfo {
  const definition = parseBisectDefinition(experiment);
  return {
    ...formatExperiment(experiment),
    ...(experiment.completed_at === null ? {} : { completed_at: formatRfc3339(experiment.completed_at) }),
    input_set_id: definition.input_set_id || null,
    input_ids: definition.input_ids,
    instance_id: definition.instance_id || null,
    indicator: definition.indicator,
    good_version_id: definition.good_version_id,
    bad_version_id: definition.bad_version_id,
    difference: definition.difference,
    direction: definition.direction,
    confidence: definition.confidence,
    maximum_runs: definition.maximum_runs,
    version_ids: definition.version_ids,
    ...formatProgress(experiment, counts),
  };
}

/** Formats the state of the search; `isStopped` is true after a stop by a caller. */
export function formatSearch(
  definition: BisectDefinition,
  state: SearchState,
  isStopped: boolean,
): BisectExperimentResult {
  if (state.error !== null)
    return {
      verdict: 'failed',
      reason: state.error,
      last_good_version_id: definition.good_version_id,
      first_bad_version_id: null,
      probability: null,
      posterior: [],
      steps: [],
      runs_needed: null,
    };
  const { search } = state;
  const { firstBad, posterior } = search;
  return {
    ...explainEnding(definition, search, isStopped),
    last_good_version_id: search.lastGood,
    first_bad_version_id: firstBad,
    probability: firstBad === null ? null : (posterior.get(firstBad) ?? null),
    posterior: [...posterior].map(([version_id, probability]) => ({ version_id, probability })),
    steps: search.steps.filter(({ planned }) => planned > 0).map((step) => formatStep(definition, step)),
    runs_needed: search.runsNeeded,
  };
}

function explainEnding(
  { good_version_id, bad_version_id, difference }: BisectDefinition,
  { ending, lastGood, firstBad, runsNeeded }: SearchResult,
  isStopped: boolean,
): Pick<BisectExperimentResult, 'verdict' | 'reason'> {
  const [good, bad] = [`"${good_version_id}"`, `"${bad_version_id}"`];
  const half =
    difference.type === 'relative'
      ? `${formatNumber(difference.value * 50)} %`
      : formatNumber(difference.value / 2);
  const needed = runsNeeded === null ? '' : ` About ${runsNeeded} more runs may decide.`;
  switch (ending) {
    case 'found':
      return {
        verdict: 'found',
        reason: `The version "${firstBad}" is the first that is worse than ${good} by more than ${half}.`,
      };
    case 'narrowed':
      return {
        verdict: 'narrowed',
        reason: `The runs are used up. The version that made it worse is after "${lastGood}" and at most "${firstBad}".${needed}`,
      };
    case 'not_worse':
      return {
        verdict: 'not_distinguishable',
        reason: `The version ${bad} is not worse than ${good} by more than ${half} on these inputs.`,
      };
    case 'undecided':
      return {
        verdict: 'not_distinguishable',
        reason: `The runs are used up before it is decided whether ${bad} is worse than ${good} by more than ${half}.${needed}`,
      };
    case null:
      return isStopped
        ? { verdict: 'stopped', reason: 'A caller stopped the search.' }
        : { verdict: 'running', reason: 'The search goes on.' };
  }
}

const formatNumber = (value: number): string => `${Number(value.toPrecision(4))}`;

function formatStep(
  { difference }: BisectDefinition,
  step: SearchStep,
): BisectExperimentResult['steps'][number] {
  const convert = (effect: number): number => (difference.type === 'relative' ? Math.expm1(effect) : effect);
  const interval = computeConfidenceSequence(step.effects, { serial: false }, INTERVAL_THRESHOLD);
  return {
    version_id: step.version,
    decision: step.decision,
    number_of_rounds: step.rounds,
    number_of_lost_rounds: step.lost,
    effect: step.effect === null ? null : convert(step.effect),
    interval: interval && { low: convert(interval.low), high: convert(interval.high) },
    // JSON has no infinity.
    e_value: Math.min(step.e_value, Number.MAX_VALUE),
  };
}
