/** Properties of the inputs of an experiment: clusters of inputs that resemble each other, and features. */
import Type, { type Static } from 'typebox';
import { CLUSTERINGS_MAX, FEATURES_MAX, FIELD_INPUT_BYTES_MAX, INPUT_PROPERTY_CHARS_MAX } from '../limits.ts';
import { optionalNullable, textSchema } from '../schemas/field-schemas.ts';

const FIELD_MEGABYTES = FIELD_INPUT_BYTES_MAX / 1024 ** 2;

const createClusterBySchema = (unit: 'input' | 'original', source: string, rules: string) =>
  Type.Array(
    textSchema(
      `content; caller or day: of ${source}; a JSON Pointer (RFC 6901) such as \`/depot\`: the value of that field of the input; \`day:\` with a pointer, such as \`day:/departure\`: the day in UTC of a time in that field.`,
      { min: 1, max: INPUT_PROPERTY_CHARS_MAX },
    ),
    {
      maxItems: CLUSTERINGS_MAX,
      description: `Groups of ${unit}s that may resemble each other, at most ${CLUSTERINGS_MAX}. From five groups on, tests and intervals are by group; with fewer, groups that may differ exclude a verdict. ${rules} Beyond the specification.`,
    },
  );

const clusterBySchema = createClusterBySchema(
  'input',
  'the run that the input comes from',
  'Inputs without the value form one group. Inputs of equal content always count as one: the default is `content`.',
);

/** The clusterings of a shadow test, whose inputs come from runs that do not exist when it is created. */
export const originalClusterBySchema = createClusterBySchema(
  'original',
  'the original run',
  `Fields are read from JSON inputs of at most ${FIELD_MEGABYTES} MB. Originals without the value form one group. Originals of equal content always count as one. The default is \`caller\`.`,
);

const featuresSchema = Type.Array(
  textSchema(
    'bytes: the size of the input; or a JSON Pointer (RFC 6901) such as `/region` to a number, a text or a flag of the input. Of an array or object, the number of its entries counts.',
    { min: 1, max: INPUT_PROPERTY_CHARS_MAX },
  ),
  {
    maxItems: FEATURES_MAX,
    description: `Features of the inputs by which the results show the effect, at most ${FEATURES_MAX}. Exploratory: they never change a verdict. Fields are read from JSON inputs of at most ${FIELD_MEGABYTES} MB, when the experiment is created. Beyond the specification.`,
  },
);

/** Fields of the requests that create a batch. */
export const inputPropertyFields = {
  cluster_by: optionalNullable(clusterBySchema),
  features: optionalNullable(featuresSchema),
};
const InputPropertyCreate = Type.Object(inputPropertyFields);
export type InputPropertyCreate = Static<typeof InputPropertyCreate>;

/** The same fields in responses. */
export const inputPropertyResponse = {
  cluster_by: Type.Optional(clusterBySchema),
  features: Type.Optional(featuresSchema),
};
