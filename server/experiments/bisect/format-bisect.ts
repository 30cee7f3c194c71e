/** Formats bisect experiments and the state of their search for the API. */
import type { BisectExperimentInfo } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import type { BisectExperimentResult } from '@switchyard/contract/experiments/bisect/bisect-results.ts';
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
      possible_version_ids: [],
      skipped_versions: [],
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
    possible_version_ids: listPossibleVersions(definition, search),
    skipped_versions: search.steps.flatMap(({ version, obstacle }) =>
      obstacle === null ? [] : [{ version_id: version, reason: obstacle }],
    ),
    probability: firstBad === null ? null : (posterior.get(firstBad) ?? null),
    posterior: [...posterior].map(([version_id, probability]) => ({ version_id, probability })),
    steps: search.steps.filter(({ planned }) => planned > 0).map((step) => formatStep(definition, step)),
    runs_needed: search.runsNeeded,
  };
}

/** Lists the versions after the last good one and up to the first bad one; empty before a bad one is known. */
function listPossibleVersions(
  { version_ids }: BisectDefinition,
  { lastGood, firstBad }: SearchResult,
): string[] {
  const ids: string[] = version_ids;
  return firstBad === null ? [] : ids.slice(ids.indexOf(lastGood) + 1, ids.indexOf(firstBad) + 1);
}

function explainEnding(
  definition: BisectDefinition,
  search: SearchResult,
  isStopped: boolean,
): Pick<BisectExperimentResult, 'verdict' | 'reason'> {
  const { good_version_id, bad_version_id, difference } = definition;
  const { ending, lastGood, firstBad, roundsForHalf } = search;
  const [good, bad] = [`"${good_version_id}"`, `"${bad_version_id}"`];
  const half =
    difference.type === 'relative'
      ? `${formatNumber(difference.value * 50)} %`
      : formatNumber(difference.value / 2);
  const needed = describeNeed(definition, search);
  switch (ending) {
    case 'found':
      return {
        verdict: 'found',
        reason: `The version "${firstBad}" is the first that is worse than ${good} by more than ${half}.`,
      };
    case 'skipped':
      return {
        verdict: 'narrowed',
        reason: `The version that made it worse is after "${lastGood}" and at most "${firstBad}". The versions in between cannot be compared: ${describeSkipped(definition, search)}.`,
      };
    case 'narrowed':
      return {
        verdict: 'narrowed',
        reason: `The runs are used up. The version that made it worse is after "${lastGood}" and at most "${firstBad}".${needed}`,
      };
    case 'not_worse':
      return {
        verdict: 'not_distinguishable',
        reason: `The version ${bad} is not worse than ${good} by more than ${half} on these inputs.${roundsForHalf === null ? '' : ` A search for half of this difference takes about ${roundsForHalf} rounds a version.`}`,
      };
    case 'undecided':
      return {
        verdict: 'not_distinguishable',
        reason: `The runs are used up before it is decided whether ${bad} is worse than ${good} by more than ${half}.${needed}`,
      };
    case null:
      return isStopped
        ? { verdict: 'stopped', reason: 'A caller stopped the search.' }
        : { verdict: 'running', reason: 'The search has not ended.' };
  }
}

/** Describes the runs that the search still needs; empty when no more runs help. */
function describeNeed({ input_ids }: BisectDefinition, { runsNeeded }: SearchResult): string {
  if (runsNeeded === null) return '';
  const rounds = Math.ceil(runsNeeded / (2 * input_ids.length));
  return ` About ${runsNeeded} more runs may decide: ${rounds} rounds, each with both versions on every input.`;
}

/** Names the versions between the last good and the first bad one, which are all skipped. */
function describeSkipped(definition: BisectDefinition, search: SearchResult): string {
  return listPossibleVersions(definition, search)
    .slice(0, -1)
    .map((version) => `"${version}"`)
    .join(', ');
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
    decision: step.obstacle === null ? step.decision : 'skipped',
    number_of_rounds: step.rounds,
    number_of_lost_rounds: step.lost,
    effect: step.effect === null ? null : convert(step.effect),
    interval: interval && { low: convert(interval.low), high: convert(interval.high) },
    // JSON has no infinity.
    e_value: Math.min(step.e_value, Number.MAX_VALUE),
  };
}
