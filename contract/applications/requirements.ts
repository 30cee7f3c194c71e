/** Requirements of runs besides a slot of their execution class: labels of a worker, and licence tokens of the account. */
import Type, { type Static } from 'typebox';
import { LABEL_CHARS_MAX, LABELS_MAX, LICENSE_TOKENS_MAX, LICENSES_MAX } from '../limits.ts';
import { mapSchema, optionalNullable } from '../schemas/field-schemas.ts';

/** A label of a worker: a name, or a name and a value, such as `gpu` or `region=eu`. */
const LABEL_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]*(=[A-Za-z0-9][A-Za-z0-9._-]*)?$';
const LABEL = new RegExp(LABEL_PATTERN);

/** The name of a licence: letters, digits, periods, underscores and hyphens. */
export const LICENSE_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]*$';
const LICENSE_NAME = new RegExp(LICENSE_NAME_PATTERN);

/** The end of the message about a text that is no label. */
export const LABEL_RULE = `a label is a name or a name=value of letters, digits, ".", "_" and "-", at most ${LABEL_CHARS_MAX} characters, such as gpu or region=eu.`;

/** Returns the first text that cannot be a label; undefined when all can. */
export function findInvalidLabel(texts: readonly string[]): string | undefined {
  return texts.find((text) => text.length > LABEL_CHARS_MAX || !LABEL.test(text));
}

/** Returns true for a text that can be the name of a licence. */
export function isLicenseName(text: string): boolean {
  return text.length <= LABEL_CHARS_MAX && LICENSE_NAME.test(text);
}

/** A label of a worker. */
export const labelSchema = Type.String({
  maxLength: LABEL_CHARS_MAX,
  pattern: LABEL_PATTERN,
  description: 'A label, such as `gpu` or `region=eu`.',
});
const tokens = Type.Integer({
  minimum: 1,
  maximum: LICENSE_TOKENS_MAX,
  description: 'Number of tokens that a run occupies from its start to its end.',
});

/** The requirements in the configuration of an instance, as callers send them. */
export const InstanceRequirements = Type.Object(
  {
    labels: optionalNullable(
      Type.Array(labelSchema, {
        maxItems: LABELS_MAX,
        description: 'A run starts only on a worker that has all of these labels.',
      }),
    ),
    licenses: optionalNullable(
      mapSchema(
        tokens,
        `Licence tokens by the name of the licence, at most ${LICENSES_MAX} licences. A run starts only when the account has so many free tokens.`,
      ),
    ),
  },
  {
    $id: 'InstanceRequirements',
    additionalProperties: false,
    description:
      'Requirements of the runs of the instance: labels of workers, and licence tokens of the account.',
  },
);
export type InstanceRequirements = Static<typeof InstanceRequirements>;

/** The requirements of an instance or a run, complete. */
export const Requirements = Type.Object(
  {
    labels: Type.Array(Type.String(), { description: 'Labels that the worker has, sorted.' }),
    licenses: mapSchema(Type.Integer(), 'Licence tokens by the name of the licence.'),
  },
  {
    $id: 'PlacementRequirements',
    description: 'Requirements of a run: labels of its worker, and licence tokens of the account.',
  },
);
export type Requirements = Static<typeof Requirements>;

/** Completes requirements: labels sorted, each of them once, and licences in the order of their names. */
export function completeRequirements(requirements: InstanceRequirements | null | undefined): Requirements {
  return {
    labels: [...new Set(requirements?.labels ?? [])].sort(),
    licenses: Object.fromEntries(
      Object.entries(requirements?.licenses ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
  };
}
