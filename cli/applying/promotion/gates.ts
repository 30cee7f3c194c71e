/** Gates of a promotion: their experiments, and the decision about each. */
import { createHash } from 'node:crypto';
import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { RequestFields } from '../../experiments/create-experiment.ts';
import type { ComparedView, ExperimentResult, IndicatorView } from '../../experiments/experiment-result.ts';
import { describeIndicator } from '../../experiments/read-result.ts';
import type { GATE_VERDICTS, GateEntry } from '../file-schema.ts';

/** The subject of a promotion. */
export interface Promotion {
  application: string;
  /** The instance that gets the version. */
  instance: string;
  version: string;
}

const HASH_CHARS = 8;

/** Returns an id of these parts, which is always the same. A long one ends in a hash instead of its end. */
function joinId(parts: readonly string[]): string {
  const id = parts.join('-').toLowerCase();
  if (id.length <= ID_CHARS_MAX) return id;
  const hash = createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, HASH_CHARS);
  return `${id.slice(0, ID_CHARS_MAX - HASH_CHARS - 1)}-${hash}`;
}

/** Returns the id of the instance that runs the version for its tests. */
export function findCandidateId({ instance, version }: Promotion): string {
  return joinId(['promote', instance, version]);
}

/** Returns the id of the experiment of a gate. */
export function findGateId({ instance, version }: Promotion, gate: GateEntry): string {
  return joinId(['promote', instance, version, gate.name ?? gate.type]);
}

/** Returns the body of the request that creates the experiment of the gate. */
export function buildGateRequest(promotion: Promotion, gate: GateEntry): RequestFields {
  const { type, name = type, verdicts: _, ...fields } = gate;
  const candidate = findCandidateId(promotion);
  const comparison = { baseline_instance_id: promotion.instance, candidate_instance_id: candidate };
  return {
    id: findGateId(promotion, gate),
    name: `Gate ${name}: ${promotion.version}`.slice(0, 48),
    ...fields,
    ...(type === 'batch' && { instance_ids: [promotion.instance, candidate] }),
    ...(type === 'acceptance' && {
      control: { instance_id: promotion.instance },
      candidate: { instance_id: candidate },
    }),
    ...((type === 'shadow' || type === 'switchback') && { comparison }),
  };
}

/** The decision about a gate, with its reason in a sentence. */
export interface GateDecision {
  outcome: 'positive' | 'negative' | 'undecided';
  reason: string;
}

const PASSING_VERDICTS = ['better', 'equivalent'] as const satisfies (typeof GATE_VERDICTS)[number][];

/**
 * Decides by the verdicts: negative if a primary indicator or a guardrail is worse, positive if every primary indicator has
 * one of the verdicts of the gate, and undecided otherwise. An acceptance test decides itself.
 */
export function decideGate(result: ExperimentResult, gate: GateEntry): GateDecision {
  const { status, isPassed, headlines, compared } = result;
  if (status === 'failed' || status === 'canceled')
    return { outcome: 'negative', reason: `The experiment is ${status}.` };
  const headline = headlines.join(' ') || 'It has no result.';
  if (gate.type === 'acceptance') {
    if (isPassed === null) return { outcome: 'undecided', reason: headline };
    return { outcome: isPassed ? 'positive' : 'negative', reason: headline };
  }
  const [view] = compared;
  if (!view) return { outcome: 'undecided', reason: 'No indicator can be compared.' };
  const worse = view.indicators.find(({ role, verdict }) => role !== 'other' && verdict === 'worse');
  if (worse) return { outcome: 'negative', reason: explain(view, worse) };
  const accepted: readonly string[] = gate.verdicts ?? PASSING_VERDICTS;
  const primary = listPrimary(view.indicators);
  const open = primary.find(({ verdict }) => !accepted.includes(verdict));
  const [first = open] = primary;
  if (open || !first) return { outcome: 'undecided', reason: open ? explain(view, open) : headline };
  return { outcome: 'positive', reason: describeIndicator(view, first) };
}

/** The sentence about the indicator, with the reasons and the warnings of the API. */
function explain(view: ComparedView, indicator: IndicatorView): string {
  return [describeIndicator(view, indicator), ...indicator.reasons, ...indicator.warnings].join(' ');
}

/** Without a primary indicator, the first one decides: it is `result.value`, if the app reports it. */
function listPrimary(indicators: readonly IndicatorView[]): readonly IndicatorView[] {
  const primary = indicators.filter(({ role }) => role === 'primary');
  return primary.length > 0 ? primary : indicators.slice(0, 1);
}
