/** Gates of a promotion: their experiments, and the decision about each. */
import { createHash } from 'node:crypto';
import {
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { ExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import type { RequestFields } from '../../experiments/create-experiment.ts';
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
  return {
    id: findGateId(promotion, gate),
    name: `Gate ${name}: ${promotion.version}`.slice(0, 48),
    ...fields,
    ...buildSides(type, promotion.instance, candidate),
  };
}

function buildSides(type: ExperimentType, control: string, candidate: string): RequestFields {
  if (hasFact(type, 'isLive'))
    return { comparison: { baseline_instance_id: control, candidate_instance_id: candidate } };
  if (hasField(type, 'rules'))
    return { control: { instance_id: control }, candidate: { instance_id: candidate } };
  return { instance_ids: [control, candidate] };
}

/** The decision about a gate, with its reason in a sentence. */
export interface GateDecision {
  outcome: 'positive' | 'negative' | 'undecided';
  reason: string;
}

const PASSING_VERDICTS = ['better', 'equivalent'] as const satisfies (typeof GATE_VERDICTS)[number][];

/**
 * Decides by the decision of the experiment: negative for no, and positive if all that it depends on are verdicts that the
 * gate accepts. An acceptance test decides itself, by its rules.
 */
export function decideGate(result: ExperimentView, gate: GateEntry): GateDecision {
  const { status, decision, headlines } = result;
  if (status === 'failed' || status === 'canceled')
    return { outcome: 'negative', reason: `The experiment is ${status}.` };
  if (!decision) return { outcome: 'undecided', reason: headlines.join(' ') || 'It has no result.' };
  if (decision.release === 'no') return { outcome: 'negative', reason: explain(result, decision) };
  const accepted: readonly string[] = gate.verdicts ?? PASSING_VERDICTS;
  const isAccepted = hasField(gate.type, 'rules')
    ? decision.release === 'yes'
    : decision.because_of.length > 0 &&
      decision.because_of.every(({ verdict }) => verdict !== undefined && accepted.includes(verdict));
  return isAccepted
    ? { outcome: 'positive', reason: decision.reason }
    : { outcome: 'undecided', reason: explain(result, decision) };
}

/** The reason of the decision, with the warnings about the indicators that it depends on. */
function explain({ compared }: ExperimentView, { reason, because_of }: Decision): string {
  const names = new Set(because_of.map(({ indicator }) => indicator));
  const warnings = compared
    .flatMap(({ indicators }) => indicators)
    .filter(({ indicator }) => names.has(indicator))
    .flatMap((one) => one.warnings);
  const hasTie = because_of.some(({ verdict }) => verdict === 'same');
  const hint = hasTie ? ['To accept a tie, add same to the verdicts of the gate.'] : [];
  return [reason, ...warnings, ...hint].join(' ');
}
