/** The query parameters that filter and sort a list of runs. */
import Type from 'typebox';
import {
  EMAIL_CHARS_MAX,
  ID_CHARS_MAX,
  RUN_CONDITION_CHARS_MAX,
  RUN_CONDITIONS_MAX,
  RUN_FILTER_VALUES_MAX,
  RUN_NAME_CHARS_MAX,
  RUN_TAG_CHARS_MAX,
} from '../limits.ts';
import { textSchema, timestampSchema } from '../schemas/field-schemas.ts';
import { RUN_STATUSES_V2 } from '../states.ts';
import { RUN_TYPES } from './run-schemas.ts';

/** The columns by which a list of runs can be sorted, besides indicators and options. */
export const RUN_SORT_COLUMNS = [
  'created_at',
  'name',
  'status',
  'instance_id',
  'version_id',
  'user_email',
  'run_type',
] as const;

const named = (noun: string, example: string) =>
  Type.Optional(
    textSchema(
      `Only runs with these values of ${noun}: \`NAME:MIN..MAX\` with either end missing, or \`NAME:VALUE\`, as in \`${example}\`. Separate several conditions with commas. Put a backslash before a comma or colon in a name or value.`,
      { min: 1, max: RUN_CONDITION_CHARS_MAX },
    ),
  );

/** The filters with few allowed values, and these values. */
export const RUN_FILTER_CHOICES = { status: RUN_STATUSES_V2, run_type: RUN_TYPES } as const;

/** Returns a schema for one value or several of at most `chars` characters, separated by commas. */
const several = (description: string, chars: number) =>
  Type.Optional(
    textSchema(`${description} Separate up to ${RUN_FILTER_VALUES_MAX} with commas.`, {
      max: (chars + 1) * RUN_FILTER_VALUES_MAX,
    }),
  );

const list = (values: readonly string[]): string => values.map((value) => `\`${value}\``).join(', ');

export const RunFilterQuery = {
  status: several(`Only runs with one of these statuses: ${list(RUN_STATUSES_V2)}.`, ID_CHARS_MAX),
  instance_id: several('Only runs of these instances.', ID_CHARS_MAX),
  version_id: several('Only runs of these versions; empty for `latest`.', ID_CHARS_MAX),
  user_email: several('Only runs of these callers.', EMAIL_CHARS_MAX),
  ensemble_id: several('Only ensemble runs of these ensembles, not their child runs.', ID_CHARS_MAX),
  run_type: several(`Only runs of these types: ${list(RUN_TYPES)}.`, ID_CHARS_MAX),
  tag: Type.Optional(
    textSchema(
      `Only runs with one of these tags. Separate up to ${RUN_FILTER_VALUES_MAX} with commas, and put a backslash before a comma in a tag.`,
      { min: 1, max: (2 * RUN_TAG_CHARS_MAX + 1) * RUN_FILTER_VALUES_MAX },
    ),
  ),
  name: Type.Optional(textSchema('Only runs with exactly this name.', { min: 1, max: RUN_NAME_CHARS_MAX })),
  text: Type.Optional(
    textSchema(
      'Only runs whose id, name and description contain, for each word given here, a word that begins with it. Case does not matter.',
      { min: 1, max: RUN_NAME_CHARS_MAX },
    ),
  ),
  created_after: Type.Optional(timestampSchema('The same as `start`; the later of both counts')),
  created_before: Type.Optional(timestampSchema('The same as `end`; the earlier of both counts')),
  indicator: named('indicators', 'result.value:..1000'),
  option: named('options', 'solver:highs'),
  sort: Type.Optional(
    textSchema(
      `Order of the runs: ${RUN_SORT_COLUMNS.join(', ')}, indicator.NAME or option.NAME, with \`-\` before it for descending order. The default is \`-created_at\`. Runs without the value, and queued and running runs, come last, newest first.`,
      { min: 1, max: RUN_CONDITION_CHARS_MAX },
    ),
  ),
};

/** Leaves the runs of experiments out of a list. */
export const ProductionQuery = {
  production: Type.Optional(
    Type.Boolean({
      description:
        'true: only runs that no experiment created, neither itself nor through the runs of an ensemble or a workflow. Runs that a switchback test sends to one of its instances belong to production.',
    }),
  ),
};

/** Describes the limits of a filter, for the description of the operation. */
export const FILTER_LIMITS = `A query has at most ${RUN_CONDITIONS_MAX} conditions, and a run must satisfy all. The first 100 indicators, options and words of a run count. With a filter a page can have fewer runs than \`limit\`, even none: follow \`next_page_token\` until it is absent.`;
