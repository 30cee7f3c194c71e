/** Formats bisect experiments and the state of their search for the API. */

import type { BisectExperimentInfo } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import type { BisectPlan } from '@switchyard/contract/experiments/bisect/bisect-plans.ts';
import type { BisectExperimentResult } from '@switchyard/contract/experiments/bisect/bisect-results.ts';
import {
  formatExactPercent,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { formatRunSettings } from '../operations/build-run-plan.ts';
import { formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import { estimateChange, findChanges, type VersionChange } from '../statistics/bisect/effects.ts';
import { countRunsMin, countTests, type SearchResult, type SearchStep } from '../statistics/bisect/search.ts';
import { computeConfidenceSequence } from '../statistics/comparison/interim.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { buildSearchSettings, type SearchState } from './read-search.ts';

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
    ...formatRunSettings(definition),
    ...formatProgress(experiment, counts),
  };
}

/** Formats the size of a search that has no runs yet. */
export function formatBisectPlan(definition: BisectDefinition): BisectPlan {
  const settings = buildSearchSettings(definition);
  return {
    version_ids: definition.version_ids,
    input_ids: definition.input_ids,
    number_of_tests: countTests(settings.versions.length),
    runs_per_round: settings.runsPerRound,
    minimum_runs: countRunsMin(settings),
    maximum_runs: settings.maximumRuns,
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
      change: null,
      later_change: null,
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
    ...formatChanges(definition, search),
  };
}

type Changes = Pick<BisectExperimentResult, 'change' | 'later_change'>;

function formatChanges(definition: BisectDefinition, search: SearchResult): Changes {
  const { change, later } = findChanges(search, buildSearchSettings(definition).difference);
  return {
    change: change && formatChange(definition, change),
    later_change: later && formatChange(definition, later),
  };
}

function formatChange(
  { difference }: BisectDefinition,
  { effect, interval }: VersionChange,
): NonNullable<Changes['change']> {
  const convert = (value: number): number => (difference.type === 'relative' ? Math.expm1(value) : value);
  return { effect: convert(effect), interval: { low: convert(interval.low), high: convert(interval.high) } };
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
  const { ending, lastGood, firstBad, roundsForHalf, steps } = search;
  const [good, bad] = [`"${good_version_id}"`, `"${bad_version_id}"`];
  const requested = formatDifference(definition, difference.value);
  const needed = describeNeed(definition, search);
  switch (ending) {
    case 'found':
      return {
        verdict: 'found',
        reason: `The version "${firstBad}" is the first that is worse than ${good}.${describeChanges(definition, search)}`,
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
        reason: `The version ${bad} is not worse than ${good} by ${requested} or more on these inputs.${describeSmaller(definition, bad, steps[0] ? estimateChange(steps[0], null) : null)}${roundsForHalf === null ? '' : ` A search for half of this difference takes about ${roundsForHalf} rounds a version.`}`,
      };
    case 'undecided':
      return {
        verdict: 'not_distinguishable',
        reason: `The runs are used up before it is decided whether ${bad} is worse than ${good}, or not by ${requested}.${needed}`,
      };
    case null:
      return isStopped
        ? { verdict: 'stopped', reason: 'A caller stopped the search.' }
        : { verdict: 'running', reason: 'The search has not ended.' };
  }
}

/** Describes a change that is smaller than asked for, and later versions that are worse again; empty for neither. */
function describeChanges(definition: BisectDefinition, search: SearchResult): string {
  const { change, later } = findChanges(search, buildSearchSettings(definition).difference);
  const again =
    later === null
      ? ''
      : ` A later version made it worse again: "${definition.bad_version_id}" is ${describeChange(definition, later)} worse than "${search.firstBad}".`;
  return `${describeSmaller(definition, `"${search.firstBad}"`, change)}${again}`;
}

/** Returns the sentence about a change that is above 0 and below the difference; empty for any other. */
function describeSmaller(
  definition: BisectDefinition,
  version: string,
  change: VersionChange | null,
): string {
  const { difference } = buildSearchSettings(definition);
  if (change === null || change.interval.low <= 0 || change.interval.high >= difference) return '';
  const requested = formatDifference(definition, definition.difference.value);
  return ` You asked for ${requested}; the change at ${version} is ${describeChange(definition, change)}.`;
}

function describeChange(definition: BisectDefinition, change: VersionChange): string {
  const { effect, interval } = formatChange(definition, change);
  const format = (value: number) => formatDifference(definition, value, formatPercent);
  return `${format(effect)} (95\u00a0% interval ${format(interval.low)} to ${format(interval.high)})`;
}

function formatDifference(
  { difference }: BisectDefinition,
  value: number,
  formatShare: (share: number) => string = formatExactPercent,
): string {
  return difference.type === 'relative' ? formatShare(value) : formatNumber(value);
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
