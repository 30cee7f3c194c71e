/** Describes which look at its question an experiment is, and what changed since the first one. Pure. */

import { EXPERIMENTS, hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import {
  EARLIER_LOOKS_LISTED_MAX,
  type Question,
} from '@switchyard/contract/experiments/comparisons/questions.ts';
import { listRuleChanges, QuestionRules } from '@switchyard/contract/experiments/comparisons/rule-changes.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { SharedInputs } from './input-hashes.ts';

import type { LookHead } from './store.ts';

/** Two experiments are about the same inputs if they share this part of those of the later one. */
const SAME_INPUTS_SHARE = 0.1;

/** An experiment is a selection of earlier inputs if they are this part of its own: only then are others left out. */
const SELECTION_SHARE = 0.5;

/** The question of an experiment, and whether results on the same inputs were known before its creation. */
export interface RememberedQuestion extends Question {
  wereResultsKnown: boolean;
}

/** An earlier look at a question. */
export interface EarlierLook {
  look: LookHead;
  /** The inputs that both share; undefined for one of the oldest of many looks, which are not compared. */
  inputs: SharedInputs | undefined;
}

/** A look of an experiment, with all earlier ones at the same question, oldest first. */
export interface LookHistory {
  own: LookHead;
  earlier: readonly EarlierLook[];
}

/** Describes the question over the candidates of an experiment; undefined without a look. `existing` are experiments that exist. */
export function describeQuestion(
  histories: readonly LookHistory[],
  existing: ReadonlySet<string>,
): RememberedQuestion | undefined {
  const [first] = histories;
  if (!first) return undefined;
  const looks = new Map<string, EarlierLook>();
  for (const history of histories)
    for (const one of history.earlier)
      if (!looks.has(one.look.experiment_uid)) looks.set(one.look.experiment_uid, one);
  const earlier = [...looks.values()].sort((a, b) => a.look.known_at - b.look.known_at);
  const isDeleted = ({ look }: EarlierLook): boolean => !existing.has(look.experiment_uid);
  // Live runs are new evidence, whatever their contents are.
  const known = isLive(first.own)
    ? []
    : earlier.filter(hasSameInputs).filter(({ look }) => look.known_at < first.own.created_at);
  return {
    look: earlier.length + 1,
    reading: formatReading(earlier, earlier.filter(isDeleted).length),
    earlier: earlier.slice(-EARLIER_LOOKS_LISTED_MAX).map((one) => ({
      type: one.look.type,
      experiment_id: one.look.experiment_id,
      deleted: isDeleted(one),
      shared_inputs: one.inputs?.shared ?? 0,
    })),
    changes: listChanges(first.own, known),
    wereResultsKnown: known.length > 0,
  };
}

/** An earlier look whose inputs were compared. */
type ComparedLook = EarlierLook & { inputs: SharedInputs };

const isLive = ({ type }: LookHead): boolean => hasFact(type, 'isLive');

const isCompared = (one: EarlierLook): one is ComparedLook => one.inputs !== undefined;

const hasSameInputs = (one: EarlierLook): one is ComparedLook =>
  isCompared(one) && one.inputs.shared > 0 && one.inputs.shared >= SAME_INPUTS_SHARE * one.inputs.total;

/** Returns what changed since the first look that is known and about the same inputs, and the inputs that are left out. */
function listChanges(own: LookHead, known: readonly ComparedLook[]): string[] {
  const [first] = known;
  if (!first) return [];
  const name = nameLook(first.look);
  const rules = listRuleChanges(parseRules(own), parseRules(first.look), name);
  return [...rules, ...listOmissions(known)];
}

/**
 * Returns which inputs of the earlier look are left out by an experiment that selects from them. Live runs are not chosen, so
 * leaving them out says nothing.
 */
function listOmissions(known: readonly ComparedLook[]): string[] {
  const chosen = known.filter(
    ({ look, inputs }) => !isLive(look) && inputs.shared >= SELECTION_SHARE * inputs.total,
  );
  const [most] = chosen.toSorted((a, b) => countOmitted(b) - countOmitted(a));
  if (!most || countOmitted(most) === 0) return [];
  return [
    `${countOmitted(most)} of the ${most.inputs.earlier} inputs of ${nameLook(most.look)}, whose results were known, ${countOmitted(most) === 1 ? 'is' : 'are'} left out.`,
  ];
}

const countOmitted = ({ inputs }: ComparedLook): number => inputs.earlier - inputs.shared;

const parseRules = parseColumn('question_looks', 'experiment_uid', 'rules', QuestionRules);

const nameLook = ({ type, experiment_id }: LookHead): string =>
  `${EXPERIMENTS[type].noun} ${JSON.stringify(experiment_id)}`;

/** Returns which look this is, also among those on the same inputs, with the earlier one that shares the most inputs. */
function formatReading(earlier: readonly EarlierLook[], deleted: number): string {
  const compared = earlier.filter(isCompared);
  const [most] = compared.toSorted((a, b) => b.inputs.shared - a.inputs.shared);
  if (!most) return 'This is the first look at this question.';
  const same = earlier.filter(hasSameInputs).length;
  const { shared, total } = most.inputs;
  const before =
    shared === 0
      ? `${earlier.length} earlier ${earlier.length === 1 ? 'experiment' : 'experiments'} compared the same versions on other inputs`
      : `${shared} of these ${total} inputs were run with the same versions in ${nameLook(most.look)}`;
  const count = deleted === 0 ? '' : `, ${deleted === 1 ? 'one' : deleted} of them deleted`;
  const sameCount = same === 0 || same === earlier.length ? '' : `, and look ${same + 1} on these inputs`;
  const bound =
    compared.length === earlier.length
      ? ''
      : ` Only the newest ${compared.length} earlier looks are compared.`;
  return `${before}; this is look ${earlier.length + 1}${count}${sameCount}.${bound}`;
}

/**
 * Returns the decision with what is known about its question. A repeat on the same inputs is said. Changed rules and inputs
 * left out exclude yes, and a gate that accepts a verdict of an undecided decision.
 */
export function applyQuestion(decision: Decision, question: RememberedQuestion | undefined): Decision {
  if (!question?.wereResultsKnown) return decision;
  const { reading, changes } = question;
  if (changes.length === 0 || decision.release === 'no')
    return { ...decision, reason: [decision.reason, reading, ...changes].join(' ') };
  return {
    release: 'undecided',
    reason: [...changes, 'Decide by these rules on new inputs.', reading, decision.reason].join(' '),
    because_of: [...decision.because_of, ...changes.map((change) => ({ change }))],
  };
}

/** Returns the question without what is only for the server. */
export function formatQuestion(question: RememberedQuestion | undefined): { question?: Question } {
  if (!question) return {};
  const { wereResultsKnown: _, ...formatted } = question;
  return { question: formatted };
}
