/** What the indicators of an application mean: which one is the objective, and what the others count. */
import Type, { type Static } from 'typebox';
import { METRIC_CHARS_MAX, METRICS_MAX } from '../limits.ts';
import { mapSchema, stringEnum, textSchema } from '../schemas/field-schemas.ts';

const INDICATOR_LABEL_CHARS_MAX = 48;
const INDICATOR_UNIT_CHARS_MAX = 16;
const INDICATOR_ROLES = ['violation', 'cost', 'none'] as const;
const OBJECTIVE_DIRECTIONS = ['minimize', 'maximize'] as const;

export const ApplicationObjective = Type.Object(
  {
    name: textSchema('Name of the indicator, such as `result.value`.', { min: 1, max: METRIC_CHARS_MAX }),
    direction: stringEnum(OBJECTIVE_DIRECTIONS, 'Direction of improvement.'),
  },
  {
    $id: 'ApplicationObjective',
    additionalProperties: false,
    description: 'The indicator by which runs of the application are judged.',
  },
);
export type ApplicationObjective = Static<typeof ApplicationObjective>;

const IndicatorMeaning = Type.Object(
  {
    label: Type.Optional(
      textSchema('Words for people, such as `Late stops`. The default is the name.', {
        min: 1,
        max: INDICATOR_LABEL_CHARS_MAX,
      }),
    ),
    unit: Type.Optional(textSchema('Unit, such as `km`.', { min: 1, max: INDICATOR_UNIT_CHARS_MAX })),
    role: Type.Optional(
      stringEnum(
        INDICATOR_ROLES,
        'violation: a count of broken rules, good at 0; cost: money. The default is none.',
      ),
    ),
    direction: Type.Optional(
      stringEnum(
        [...OBJECTIVE_DIRECTIONS, 'none'],
        'Direction of improvement. The default is minimize for violations and costs, else none.',
      ),
    ),
  },
  { $id: 'IndicatorMeaning', additionalProperties: false, description: 'The meaning of an indicator.' },
);

export const ApplicationIndicators = mapSchema(
  IndicatorMeaning,
  `Meaning of indicators by name. The limit is ${METRICS_MAX} indicators, with names of 1 to ${METRIC_CHARS_MAX} characters.`,
);
export type ApplicationIndicators = Static<typeof ApplicationIndicators>;

/** Returns the sentence about too many indicators or a name of a wrong length; undefined for a valid map. */
export function findIndicatorMistake(indicators: object): string | undefined {
  const names = Object.keys(indicators);
  if (names.length > METRICS_MAX) return `indicators has ${names.length} names; the limit is ${METRICS_MAX}.`;
  const wrong = names.find((name) => name.length === 0 || name.length > METRIC_CHARS_MAX);
  return wrong === undefined
    ? undefined
    : `indicators has a name with ${wrong.length} characters; it must have 1 to ${METRIC_CHARS_MAX}.`;
}
