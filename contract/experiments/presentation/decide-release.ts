/** Decides whether the candidate of an experiment can be released, from the verdicts of its indicators or from its rules. */
import type { MetricResult } from '../acceptance-results.ts';
import type { AcceptanceTest } from '../acceptance-tests.ts';
import type { Decision, DecisionCause } from '../comparisons/decisions.ts';
import type { Question } from '../comparisons/questions.ts';
import type { ComparedGroups, Comparison } from '../experiment-results.ts';
import { listRemaining } from './compared-indicators.ts';
import { type Effect, type MeasuredComparison, readEffect } from './effects.ts';
import { formatRule } from './format-rule.ts';
import { createGroupNamer } from './group-labels.ts';
import { formatHeadline } from './headline.ts';
import { isBoundOpen, isUnreported, rateRule } from './rate-rule.ts';

/** A comparison of any kind of experiment. */
export type DecidingComparison = MeasuredComparison &
  Pick<Comparison, 'indicator' | 'role' | 'objective' | 'verdict' | 'interim' | 'reasons'>;

/** A candidate against its control. */
export interface DecidingSides {
  names: { control: string; candidate: string };
  indicators: readonly DecidingComparison[];
}

/** The indicators that the experiment names and no run reported. */
export type MissingIndicators = readonly { indicator: string; role: 'primary' | 'guardrail' }[];

const RULES_LISTED_MAX = 3;
/** Of hundreds of candidates, a text names only these; each comparison has its verdict. */
const CANDIDATES_LISTED_MAX = 5;

/** Names the decision in the imperative. */
const DECISION_WORDS: Readonly<Record<Decision['release'], string>> = {
  yes: 'Release',
  no: 'Do not release',
  undecided: 'Undecided',
};

/** Returns the decision as one text, such as `Do not release: new is worse than old in late: +32 %.` */
export function formatDecision({ release, reason, because_of }: Decision): string {
  const verdicts = because_of.length < CANDIDATES_LISTED_MAX ? because_of.map(({ verdict }) => verdict) : [];
  const isEqual = verdicts.length > 0 && verdicts.every((one) => one === 'equivalent' || one === 'same');
  return `${release === 'undecided' && isEqual ? 'Equivalent' : DECISION_WORDS[release]}: ${reason}`;
}

/** Returns which look at its question the experiment is, where the decision does not say it; null for the first look. */
export function formatOtherLooks({
  decision,
  question,
}: {
  decision?: Decision | undefined;
  question?: Question | undefined;
}): string | null {
  if (question === undefined || question.look === 1) return null;
  return decision?.reason.includes(question.reading) ? null : question.reading;
}

/** Returns the decision about groups of runs, without those that a race dropped; undefined when nothing is compared. */
export function decideGroups(
  compared: readonly ComparedGroups[],
  listMissing: (compared: ComparedGroups) => MissingIndicators,
): Decision | undefined {
  const nameGroup = createGroupNamer(compared.flatMap(({ control, candidate }) => [control, candidate]));
  const remaining = listRemaining(compared);
  const decisions = remaining.map((one) =>
    decideSides(
      {
        names: { control: nameGroup(one.control), candidate: nameGroup(one.candidate) },
        // The reasons of several candidates are too long for one text; each comparison has its own.
        indicators:
          remaining.length === 1 ? one.indicators : one.indicators.map((view) => ({ ...view, reasons: [] })),
      },
      listMissing(one),
    ),
  );
  return joinDecisions(decisions);
}

/** Returns the decision about one candidate. */
export function decideSides({ names, indicators }: DecidingSides, missing: MissingIndicators = []): Decision {
  const describe = (one: DecidingComparison): string => {
    const effect = readEffect(one);
    const headline = formatHeadline({ ...names, indicator: one.indicator, verdict: one.verdict, effect });
    return [headline, ...explainOtherSupport(one, effect)].join(' ');
  };
  const name = ({ indicator, role, verdict }: DecidingComparison): DecisionCause => ({
    candidate: names.candidate,
    ...{ indicator, role, verdict },
  });
  const primary = listPrimary(indicators);
  const guardrails = indicators.filter(({ role }) => role === 'guardrail');
  const worse = [...primary, ...guardrails].filter(({ verdict }) => verdict === 'worse');
  if (worse.length > 0) {
    const better = primary.filter(({ verdict }) => verdict === 'better');
    return {
      release: 'no',
      reason: [
        ...worse.flatMap((one) => [describe(one), ...explainRole(one)]),
        ...better.map(describe),
        ...explainInterim(worse),
      ].join(' '),
      because_of: worse.map(name),
    };
  }
  if (primary.length === 0 || missing.length > 0) return explainMissing(names, missing);
  const isBetter = primary.some(({ verdict }) => verdict === 'better');
  const open = primary.filter(
    ({ verdict }) => verdict !== 'better' && !(isBetter && verdict === 'equivalent'),
  );
  if (open.length > 0)
    return {
      release: 'undecided',
      reason: open.flatMap((one) => [describe(one), ...explainOpen(one)]).join(' '),
      because_of: open.map(name),
    };
  return {
    release: 'yes',
    reason: [...primary.map(describe), ...describeGuardrails(guardrails), ...explainInterim(primary)].join(
      ' ',
    ),
    because_of: primary.map(name),
  };
}

/** Without a primary indicator, the first one counts, unless it has a direction: then the named primary is missing. */
function listPrimary(indicators: readonly DecidingComparison[]): readonly DecidingComparison[] {
  const primary = indicators.filter(({ role }) => role === 'primary');
  return primary.length > 0
    ? primary
    : indicators.slice(0, 1).filter(({ objective }) => objective === 'none');
}

/** Says what decided where the interval does not: the failures, or evidence before the end. */
function explainOtherSupport(
  { verdict, objective, reasons }: DecidingComparison,
  { low, high }: Effect,
): readonly string[] {
  if (verdict !== 'better' && verdict !== 'worse') return [];
  const isSupported =
    (verdict === 'better') === (objective === 'maximize')
      ? low !== null && low > 0
      : high !== null && high < 0;
  return isSupported ? [] : reasons.slice(0, 1);
}

function explainRole({ indicator, role }: DecidingComparison): string[] {
  return role === 'guardrail' ? [`${indicator} is a guardrail, which must not get worse.`] : [];
}

function explainInterim(deciding: readonly DecidingComparison[]): string[] {
  if (!deciding.some(({ interim }) => interim)) return [];
  return ['The experiment was not at its planned end, where the decision may differ.'];
}

function explainMissing(
  { candidate, control }: DecidingSides['names'],
  missing: MissingIndicators,
): Decision {
  const [first] = missing;
  return {
    release: 'undecided',
    reason:
      first === undefined
        ? `No indicator of ${candidate} and ${control} can be compared.`
        : missing
            .map(
              ({ indicator, role }) =>
                `No run of ${candidate} or ${control} reported ${indicator}, ${role === 'primary' ? 'the primary indicator' : 'a guardrail'}.`,
            )
            .join(' '),
    because_of: missing.map((one) => ({ candidate, ...one })),
  };
}

function explainOpen({ indicator, verdict, objective, reasons }: DecidingComparison): readonly string[] {
  if (verdict === 'undecided') return reasons;
  if (objective === 'none')
    return [`${indicator} has no direction in \`objectives\`, so it cannot be better.`];
  return [`Only a gate whose \`verdicts\` accept \`${verdict}\` releases it.`];
}

/** Says that no guardrail is worse, and names those for which that is not known. */
function describeGuardrails(guardrails: readonly DecidingComparison[]): string[] {
  const open = guardrails.filter(({ verdict }) => verdict === 'undecided').map(({ indicator }) => indicator);
  if (guardrails.length === 0) return [];
  if (open.length === 0) return ['No guardrail is worse.'];
  return [`No guardrail is known to be worse; undecided: ${open.join(', ')}.`];
}

/** Joins the decisions about several candidates: yes if one can be released, no if none can, and undecided otherwise. */
function joinDecisions(decisions: readonly Decision[]): Decision | undefined {
  const [only, ...others] = decisions;
  if (!only || others.length === 0) return only;
  const released = decisions.filter(({ release }) => release === 'yes');
  const open = decisions.filter(({ release }) => release === 'undecided');
  const deciding = [released, open].find(({ length }) => length > 0) ?? decisions;
  const listed = deciding.slice(0, CANDIDATES_LISTED_MAX);
  const rest = deciding.length - listed.length;
  return {
    release: deciding[0]?.release ?? 'undecided',
    reason: [
      ...listed.map(({ reason }) => reason),
      ...(rest === 0 ? [] : [`The same holds for ${rest} more candidates.`]),
    ].join(' '),
    because_of: listed.flatMap(({ because_of }) => because_of),
  };
}

type NumberedRule = MetricResult & { rule: number };

const listRules = (rules: readonly MetricResult[]): string =>
  listFirst(rules.map(({ metric }) => formatRule(metric)));

/** Returns the decision of an acceptance test; undefined until its results exist. */
export function decideRules({
  results,
  candidate,
  rules_before_results,
}: Pick<AcceptanceTest, 'results' | 'candidate' | 'rules_before_results'>): Decision | undefined {
  if (!results) return undefined;
  if (results.error !== undefined) return { release: 'undecided', reason: results.error, because_of: [] };
  const rules = (results.metric_results ?? []).map((one, rule) => ({ ...one, rule }));
  const failed = rules.filter(({ passed }) => !passed);
  const name = candidate.ensemble_id ?? candidate.instance_id;
  const met = `${name} meets ${rules.length - failed.length} of ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
  const listCauses = (causes: readonly NumberedRule[]) =>
    causes.map(({ metric, rule }) => ({ candidate: name, indicator: metric.field, rule }));
  const open = explainOpenRules(rules);
  if (open.causes.length > 0 && failed.every((one) => rateRule(one) === 'cannot say'))
    return {
      release: 'undecided',
      reason: [...open.reasons, `${met}.`].join(' '),
      because_of: listCauses(open.causes),
    };
  if (!results.passed)
    return {
      release: 'no',
      reason: `${met}. Not met: ${listRules(failed)}.`,
      because_of: listCauses(failed),
    };
  const doubts = [
    ...(rules.some(({ warnings }) => warnings.length > 0)
      ? ['This holds for these inputs; see the warnings of the rules.']
      : []),
    // The published client creates the test after its batch, whose first run can have ended: no reason to refuse.
    ...(!rules_before_results
      ? ['The rules came after a result, so somebody may have fitted them to it.']
      : []),
  ];
  return { release: 'yes', reason: [`${met}.`, ...doubts].join(' '), because_of: listCauses(rules) };
}

/** Returns the rules about which the data cannot say, and why. Inputs that tie leave a rule open that is met, too. */
function explainOpenRules(rules: readonly NumberedRule[]): { causes: NumberedRule[]; reasons: string[] } {
  const unreported = rules.filter((one) => !one.passed && isUnreported(one));
  const tied = rules.filter((one) => one.tied && !unreported.includes(one));
  const bounded = rules.filter((one) => isBoundOpen(one) && ![...unreported, ...tied].includes(one));
  const fields = listFirst([...new Set(unreported.map(({ metric }) => metric.field))]);
  return {
    causes: [...unreported, ...tied, ...bounded],
    reasons: [
      unreported.length > 0 && `No run reported ${fields}.`,
      tied.length > 0 &&
        `Inputs tie, and others may not: ${listRules(tied)}. Add inputs, or \`accept_same: true\` to the rule.`,
      bounded.length > 0 && `The bound is not within its limit yet: ${listRules(bounded)}. Add inputs.`,
    ].filter((reason) => reason !== false),
  };
}

/** Lists the first texts, and how many more there are. */
function listFirst(texts: readonly string[]): string {
  const rest = texts.length - RULES_LISTED_MAX;
  return [...texts.slice(0, RULES_LISTED_MAX), ...(rest > 0 ? [`${rest} more`] : [])].join('; ');
}
