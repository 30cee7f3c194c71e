/** The rules by which an experiment answers a question, and the sentences that say what differs from an earlier one. Pure. */
import Type, { type Static } from 'typebox';
import { objectSchema } from '../../schemas/field-schemas.ts';
import { createJsonParser } from '../../schemas/json-parser.ts';
import { DIRECTIONS } from '../experiment-settings.ts';

/** How the effect of one indicator is judged. */
const IndicatorRule = Type.Object({
  direction: Type.Enum([...DIRECTIONS]),
  /** The margin in words, such as "1 %". */
  margin: Type.String(),
  /** The other settings, in JSON. */
  settings: Type.String(),
});
export type IndicatorRule = Static<typeof IndicatorRule>;

/** The rules of an experiment. Acceptance tests have `rules`, the others have indicators with margins. */
export const QuestionRules = Type.Object({
  primary: Type.Array(Type.String()),
  guardrails: Type.Array(Type.String()),
  indicators: Type.Record(Type.String(), IndicatorRule),
  /** The rules of an acceptance test as formulas, with its margin for failures. */
  rules: Type.Optional(Type.Array(Type.String())),
});
export type QuestionRules = Static<typeof QuestionRules>;

const DIRECTION_WORDS = {
  minimize: 'minimised',
  maximize: 'maximised',
  none: 'without a direction',
} as const;

/** Returns sentences about what the rules change against those of an earlier experiment. `name` is that of the earlier one. */
export function listRuleChanges(own: QuestionRules, earlier: QuestionRules, name: string): string[] {
  const turned = Object.entries(own.indicators).flatMap(([indicator, { direction }]) => {
    const before = earlier.indicators[indicator]?.direction ?? 'none';
    return direction === before || direction === 'none' || before === 'none'
      ? []
      : [
          `${indicator} is ${DIRECTION_WORDS[direction]} here, and was ${DIRECTION_WORDS[before]} in ${name}.`,
        ];
  });
  // A batch with objectives and an acceptance test with rules have only directions in common.
  if ((own.rules === undefined) !== (earlier.rules === undefined)) return turned;
  if (own.rules && earlier.rules) return [...turned, ...listChangedRules(own.rules, earlier.rules, name)];
  return [
    ...turned,
    ...listChangedRoles(own, earlier, name),
    ...[...own.primary, ...own.guardrails].flatMap((indicator) =>
      listChangedSettings(indicator, own.indicators[indicator], earlier.indicators[indicator], name),
    ),
  ];
}

function listChangedRules(own: readonly string[], earlier: readonly string[], name: string): string[] {
  const added = own.filter((rule) => !earlier.includes(rule));
  const removed = earlier.filter((rule) => !own.includes(rule));
  const [firstAdded] = added;
  const [firstRemoved] = removed;
  const count = (rules: readonly string[]): string =>
    rules.length === 1 ? '' : ` and ${rules.length - 1} more`;
  return [
    ...(firstAdded === undefined
      ? []
      : [`The rule ${firstAdded}${count(added)} is new: ${name} did not have it.`]),
    ...(firstRemoved === undefined
      ? []
      : [`The rule ${firstRemoved}${count(removed)} of ${name} is missing here.`]),
  ];
}

function listChangedRoles(own: QuestionRules, earlier: QuestionRules, name: string): string[] {
  const formatNames = (names: readonly string[]): string => names.join(' and ') || 'none';
  const dropped = earlier.guardrails.filter((one) => !own.guardrails.includes(one));
  return [
    ...(formatNames(own.primary) === formatNames(earlier.primary)
      ? []
      : [
          `The primary indicator is ${formatNames(own.primary)} here, and was ${formatNames(earlier.primary)} in ${name}.`,
        ]),
    ...dropped.map((indicator) => `${indicator} was a guardrail in ${name}, and is none here.`),
  ];
}

function listChangedSettings(
  indicator: string,
  own: IndicatorRule | undefined,
  earlier: IndicatorRule | undefined,
  name: string,
): string[] {
  if (own === undefined || earlier === undefined) return [];
  const different = listDifferentSettings(own, earlier);
  return [
    ...(own.margin === earlier.margin
      ? []
      : [`The margin of ${indicator} is ${own.margin} here, and was ${earlier.margin} in ${name}.`]),
    ...(different.length === 0
      ? []
      : [
          `${different.join(', ').replace(/, ([^,]*)$/, ' and $1')} of ${indicator} ${different.length === 1 ? 'differs from that' : 'differ from those'} in ${name}.`,
        ]),
  ];
}

const parseSettings = createJsonParser(objectSchema('The settings of an indicator.'));

/** Returns the names of the settings that differ, as the API calls them. */
function listDifferentSettings(own: IndicatorRule, earlier: IndicatorRule): string[] {
  const settings = parseSettings(own.settings, 'question_looks.rules');
  const before = parseSettings(earlier.settings, 'question_looks.rules');
  return [...new Set([...Object.keys(settings), ...Object.keys(before)])].filter(
    (key) => JSON.stringify(settings[key]) !== JSON.stringify(before[key]),
  );
}
