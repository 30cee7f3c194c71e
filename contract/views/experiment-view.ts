/** The result of an experiment of any type in words, as the terminal, the report and the console show it. */
import type { Client } from '../client.ts';
import { type ExperimentType, hasFact, hasField } from '../experiment-types/experiment-types.ts';
import type { Decision } from '../experiments/comparisons/decisions.ts';
import type { Question } from '../experiments/comparisons/questions.ts';
import type { ComparedGroups, Comparison, SwitchbackComparison } from '../experiments/experiment-results.ts';
import type { Objectives } from '../experiments/experiment-settings.ts';
import {
  type ExperimentAddress,
  type ExperimentBody,
  findEvaluated,
  listExperimentRuns,
  readExperiment,
} from '../experiments/presentation/call-experiment.ts';
import { collectComparison } from '../experiments/presentation/compared-indicators.ts';
import { formatDecision, formatOtherLooks } from '../experiments/presentation/decide-release.ts';
import { type Effect, formatChange, readEffect } from '../experiments/presentation/effects.ts';
import { formatRule } from '../experiments/presentation/format-rule.ts';
import { createGroupNamer } from '../experiments/presentation/group-labels.ts';
import { formatHeadline } from '../experiments/presentation/headline.ts';
import {
  createOriginalReader,
  type InputPair,
  type PairedRun,
  pairRuns,
  readBatchInput,
} from '../experiments/presentation/pair-runs.ts';
import { sortByRole } from '../experiments/presentation/rate-experiment.ts';
import type { PairTally } from '../experiments/presentation/rate-pairs.ts';
import { type RuleRating, rateRule } from '../experiments/presentation/rate-rule.ts';
import { formatPercent } from '../presentation/format-quantity.ts';

/** The comparison of one indicator. */
export interface IndicatorView {
  indicator: string;
  role: 'primary' | 'guardrail' | 'other';
  objective: 'minimize' | 'maximize' | 'none';
  verdict: string;
  /** true before the planned end, and for a test that was stopped early. */
  interim: boolean;
  reasons: readonly string[];
  warnings: readonly string[];
  effect: Effect;
  /** Means of both sides. */
  control: number | null;
  candidate: number | null;
  pValue: number | null;
  adjustedPValue: number | null;
  /** Wins, ties and losses by input; absent in a switchback test, whose units are not paired. */
  tally?: PairTally;
  /** Returns the inputs with both sides, largest decrease first; absent in a switchback test. */
  listPairs?(): readonly InputPair[];
  /** The units of a switchback test in the order of time. */
  units?: readonly UnitView[];
}

/** A unit of the plan. `mean` is null for a unit without a number. */
export interface UnitView {
  isCandidate: boolean;
  mean: number | null;
  isCounted: boolean;
}

/** A candidate against the control; the indicators that decide come first. */
export interface ComparedView {
  names: { control: string; candidate: string };
  indicators: readonly IndicatorView[];
}

/** A rule of an acceptance test. */
interface RuleView {
  rule: string;
  rating: RuleRating;
  reason: string;
  warnings: readonly string[];
}

/** A table of texts, such as the steps of a bisect experiment. */
interface TableView {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

export interface ExperimentView {
  address: ExperimentAddress;
  name: string;
  status: string;
  /** The decision to release the candidate; absent without a comparison. */
  decision?: Decision;
  /** The earlier looks that the decision does not say. */
  looks?: string;
  /** The decision and the verdict in sentences; empty while there is none. */
  headlines: readonly string[];
  /** The decision of an acceptance test; null for other types, and while it is undecided. */
  isPassed: boolean | null;
  warnings: readonly string[];
  /** One unit of the comparison in words. */
  unit: 'input' | 'original' | 'unit';
  compared: readonly ComparedView[];
  rules?: readonly RuleView[];
  table?: TableView;
  /** The response of the API. */
  body: unknown;
}

/** Returns the view of one comparison. A randomisation test decides about the units of a switchback test, which are not paired. */
export function viewIndicator(comparison: Comparison | SwitchbackComparison): IndicatorView {
  const { indicator, role, verdict, interim, reasons, warnings, objective } = comparison;
  const test = 'randomization' in comparison ? comparison.randomization : comparison.sign_flips;
  return {
    ...{ indicator, role, verdict, interim, reasons, warnings, objective },
    effect: readEffect(comparison),
    control: readMean(comparison.control),
    candidate: readMean(comparison.candidate),
    pValue: test.p_value,
    adjustedPValue: test.p_value_holm,
  };
}

/** Returns the mean that the estimate compares. */
function readMean(side: { mean: number | null; estimated_mean?: number | null }): number | null {
  return side.estimated_mean ?? side.mean;
}

interface PairSettings {
  runs: readonly PairedRun[];
  readInput: (run: PairedRun) => string;
  objectives?: Objectives;
}

/** A comparison of paired runs, with its view. */
interface PairedView extends IndicatorView {
  comparison: Comparison;
  listPairs(): readonly InputPair[];
}

interface GroupsView extends Pick<ComparedGroups, 'control' | 'candidate' | 'racing'> {
  names: ComparedView['names'];
  indicators: readonly PairedView[];
}

/** Returns the views of candidates whose runs are paired with those of the control. */
export function viewGroups(
  compared: readonly ComparedGroups[],
  { runs, readInput, objectives }: PairSettings,
): GroupsView[] {
  const nameGroup = createGroupNamer(compared.flatMap(({ control, candidate }) => [control, candidate]));
  return compared.map(({ indicators, ...sides }) => ({
    ...sides,
    names: { control: nameGroup(sides.control), candidate: nameGroup(sides.candidate) },
    indicators: sortByRole(indicators).map((comparison) => {
      const view = viewIndicator(comparison);
      const { indicator, effect } = view;
      const objective = objectives?.[indicator];
      // The shift is added before ratios are computed.
      const shift = typeof objective === 'object' ? (objective.shift ?? 0) : 0;
      return {
        ...view,
        comparison,
        tally: { ...comparison.inputs, failed: comparison.failures.both },
        listPairs: () => pairRuns(runs, { ...sides, indicator, measure: effect.measure, shift, readInput }),
      };
    }),
  }));
}

/** The part of the view that a type has. */
type Parts = Pick<ExperimentView, 'unit'> & Partial<ExperimentView>;
type ViewType<Type extends ExperimentType> = (
  body: ExperimentBody<Type>,
  runs: readonly PairedRun[],
) => Parts;

const TYPES: { [Type in ExperimentType]: ViewType<Type> } = {
  batch: viewBatch,
  scenario: viewBatch,
  acceptance: viewAcceptance,
  shadow: viewShadow,
  switchback: viewSwitchback,
  bisect: viewBisect,
};

/** Returns the view of the response of the API. Pairs of inputs need the runs. */
export function viewExperiment<Type extends ExperimentType>(
  address: ExperimentAddress<Type>,
  body: ExperimentBody<Type>,
  runs: readonly PairedRun[] = [],
): ExperimentView {
  const view: ViewType<Type> = TYPES[address.type];
  const { compared = [], ...parts } = view(body, runs);
  // Two types have one operation, so the address may have the other type.
  const result: ResultBody = body;
  const { name, status, type = address.type, warnings = [] } = result;
  return {
    ...{ address: { ...address, type }, name, status, warnings },
    ...describeResult(result, parts.rules ? [] : compared),
    ...{ isPassed: null, compared, ...parts, body },
  };
}

/** The fields that the responses of several types have. */
interface ResultBody {
  name: string;
  status: string;
  type?: ExperimentType;
  warnings?: readonly string[];
  decision?: Decision;
  question?: Question;
}

/** Reads the result. Pairs of inputs need the list of all runs, so an experiment with many takes a moment. */
export async function readExperimentView(
  client: Client,
  address: ExperimentAddress,
): Promise<ExperimentView> {
  const body = await readExperiment(client, address);
  if (!hasFact(address.type, 'hasCandidates') || hasField(address.type, 'units'))
    return viewExperiment(address, body);
  if (!('experiment_id' in body))
    return viewExperiment(address, body, (await listExperimentRuns(client, address)).runs);
  const owner = findEvaluated(address, body);
  const runs = collectComparison(body) ? (await listExperimentRuns(client, owner)).runs : [];
  return viewExperiment(address, body, runs);
}

function viewBatch({ comparisons, objectives }: ExperimentBody<'batch'>, runs: readonly PairedRun[]): Parts {
  const settings = { runs, readInput: readBatchInput, ...(objectives && { objectives }) };
  return { unit: 'input', compared: viewGroups(comparisons, settings) };
}

function viewShadow(
  { id, compared, objectives }: ExperimentBody<'shadow'>,
  runs: readonly PairedRun[],
): Parts {
  const settings = { runs, readInput: createOriginalReader(id), objectives };
  return { unit: 'original', compared: viewGroups(compared, settings) };
}

function viewAcceptance(body: ExperimentBody<'acceptance'>, runs: readonly PairedRun[]): Parts {
  const groups = collectComparison(body);
  const { passed = null, metric_results = [] } = body.results ?? {};
  return {
    unit: 'input',
    isPassed: passed,
    compared: groups ? viewGroups([groups], { runs, readInput: readBatchInput }) : [],
    rules: metric_results.map((result) => ({
      ...{ rule: formatRule(result.metric), rating: rateRule(result) },
      ...{ reason: result.reason, warnings: result.warnings },
    })),
  };
}

function viewSwitchback({ comparison, compared, plan }: ExperimentBody<'switchback'>): Parts {
  const { baseline_instance_id: control, candidate_instance_id: candidate } = comparison;
  const indicators = sortByRole(compared).map((one) => {
    const measured = new Map(one.units.map((unit) => [unit.index, unit]));
    const units = plan.units.map(({ index, instance_id }) => ({
      isCandidate: instance_id === candidate,
      mean: measured.get(index)?.mean ?? null,
      isCounted: measured.get(index)?.counted ?? false,
    }));
    return { ...viewIndicator(one), units };
  });
  return {
    unit: 'unit',
    compared: indicators.length === 0 ? [] : [{ names: { control, candidate }, indicators }],
  };
}

function viewBisect(body: ExperimentBody<'bisect'>): Parts {
  const certainty = body.probability === null ? [] : [`Probability: ${formatPercent(body.probability)}.`];
  return {
    unit: 'input',
    headlines: body.verdict === 'running' ? [] : [body.reason, ...certainty],
    warnings: body.skipped_versions.map(
      ({ version_id, reason }) => `Version ${version_id} was skipped: ${reason}`,
    ),
    table: {
      title: 'Steps of the search',
      columns: ['VERSION', 'DECISION', 'ROUNDS', 'WORSE BY'],
      rows: body.steps.map(({ version_id, decision, number_of_rounds, effect }) => [
        version_id,
        (decision ?? 'undecided').replaceAll('_', ' '),
        String(number_of_rounds),
        effect === null ? '' : formatChange(body.difference.type, effect),
      ]),
    },
  };
}

/** Returns the decision, and the headlines: the decision first, then the candidates that it does not describe. */
function describeResult(
  body: ResultBody,
  compared: readonly ComparedView[],
): Pick<ExperimentView, 'decision' | 'headlines' | 'looks'> {
  const { decision } = body;
  if (!decision) return { headlines: compared.map(describeFirst) };
  const looks = formatOtherLooks(body);
  const others = compared.filter(({ names, indicators: [first] }) => {
    const headline = first && formatHeadline({ ...first, ...names });
    return headline !== undefined && !decision.reason.includes(headline);
  });
  return {
    decision,
    headlines: [formatDecision(decision), ...others.map(describeFirst)],
    ...(looks === null ? {} : { looks }),
  };
}

/** The sentence about the indicator that decides, or about the first one. */
function describeFirst({ names, indicators: [first] }: ComparedView): string {
  if (!first) return `No indicator of ${names.candidate} and ${names.control} can be compared.`;
  return describeIndicator(names, first);
}

/** The sentence about an indicator, such as `new is better than old in result.value: -7.8 %.` */
export function describeIndicator(
  names: ComparedView['names'],
  { indicator, verdict, effect, interim }: IndicatorView,
): string {
  const headline = formatHeadline({ ...names, indicator, verdict, effect });
  return interim ? `${headline} (Interim: the experiment was not at its planned end.)` : headline;
}
