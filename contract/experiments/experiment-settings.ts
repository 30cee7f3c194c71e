/** Settings that decide how an experiment compares its sides: directions, measures, margins and the family of tests. */
import Type, { type Static } from 'typebox';
import { LARGEST_LOSS_MAX, METRIC_CHARS_MAX, METRICS_MAX } from '../limits.ts';
import { mapSchema, optionalNullable, stringEnum, textSchema } from '../schemas/field-schemas.ts';

export const DIRECTIONS = ['minimize', 'maximize', 'none'] as const;
const directionSchema = stringEnum(
  DIRECTIONS,
  'Direction of improvement; `none` gives the verdicts higher and lower instead of worse and better.',
);

/** The equivalence margin of an indicator. */
export const Margin = Type.Object(
  {
    type: stringEnum(
      ['absolute', 'relative'],
      'relative: a share of the control; absolute: in the unit of the indicator.',
    ),
    value: Type.Number({
      minimum: 0,
      description: 'Largest difference that counts as equivalent, 0 or more.',
    }),
  },
  { additionalProperties: false, description: 'Equivalence margin. The default is 1 % of the control.' },
);
export type Margin = Static<typeof Margin>;

const MEASURES = ['relative', 'absolute', 'auto'] as const;

const ObjectiveSettings = Type.Object(
  {
    direction: optionalNullable(directionSchema),
    measure: optionalNullable(
      stringEnum(
        MEASURES,
        'relative compares ratios, so that every input has the same weight; absolute compares differences. The default, auto, is relative if every value is above 0.',
      ),
    ),
    margin: optionalNullable(Margin),
    tie_tolerance: optionalNullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Two values tie when they differ by at most this share of the larger magnitude; at most a relative margin. The default is 1e-9. A switchback test compares means of units, which have no ties.',
      }),
    ),
    shift: optionalNullable(
      Type.Number({
        minimum: 0,
        description:
          'Added to every value before a ratio is taken, such as 10 for solution times in seconds. The default is 0.',
      }),
    ),
    largest_loss: optionalNullable(
      Type.Number({
        minimum: 0,
        maximum: LARGEST_LOSS_MAX,
        description:
          'Largest change of one input that can occur, above 0, as a share of the control: 0.5 is 50 %. It gives an interval where most inputs tie. A larger change refuses it. Not for switchback tests.',
      }),
    ),
    failure_margin: optionalNullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Largest share of inputs that the candidate may lose more than the control and still be better or equivalent. The default is none: it may lose no more inputs than the control.',
      }),
    ),
    failure_value: optionalNullable(
      Type.Number({
        description:
          'Value of a failed run in `with_failures`: for a time, ten times its limit gives the PAR10 score. It changes no verdict. Not for switchback tests.',
      }),
    ),
  },
  {
    $id: 'ObjectiveSettings',
    additionalProperties: false,
    description: 'Settings of one indicator. A direction alone can be given as a string.',
  },
);
export type ObjectiveSettings = Static<typeof ObjectiveSettings>;

/** The objective of one indicator: a direction, or settings with one. */
const Objective = Type.Union([directionSchema, ObjectiveSettings], {
  description: 'A direction of improvement, or settings.',
});
export type Objective = Static<typeof Objective>;

export const Objectives = mapSchema(
  Objective,
  `Direction of improvement by indicator: minimize, maximize or none, or an object with more settings. The limit is ${METRICS_MAX} indicators, with names of 1 to ${METRIC_CHARS_MAX} characters. An indicator without an entry has no direction. The default is the objective of the application. Beyond the specification.`,
);
export type Objectives = Static<typeof Objectives>;

const indicatorName = textSchema('Name of an indicator.', { min: 1, max: METRIC_CHARS_MAX });

const guardrailsDescription =
  'Indicators that must not get worse; they share 15 % of the error rate. Beyond the specification.';
const primaryDescription =
  'The indicator that decides. It has 80 % of the error rate, or all of it without other indicators. The default is every indicator of `objectives`. Beyond the specification.';

/** Fields of every request that creates an experiment with comparisons. */
export const comparisonSettingsFields = {
  objectives: optionalNullable(Objectives),
  primary: optionalNullable(textSchema(primaryDescription, { min: 1, max: METRIC_CHARS_MAX })),
  guardrails: optionalNullable(
    Type.Array(indicatorName, {
      maxItems: METRICS_MAX,
      description: guardrailsDescription,
    }),
  ),
};
const ComparisonSettingsCreate = Type.Object(comparisonSettingsFields);
export type ComparisonSettingsCreate = Static<typeof ComparisonSettingsCreate>;

/** The same settings in responses. */
export const comparisonSettingsResponse = {
  primary: Type.Optional(Type.String({ description: primaryDescription })),
  guardrails: Type.Optional(Type.Array(Type.String(), { description: guardrailsDescription })),
};
