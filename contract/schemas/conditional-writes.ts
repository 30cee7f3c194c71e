/**
 * Conditional writes: the caller names the state that it has read, and a write on any other state is a 409 that changes nothing.
 * Every update of a resource with `updated_at` has the field below, except that of an experiment, which changes by itself. A PUT of an instance may also name the version that it replaces.
 */
import Type, { type TSchema } from 'typebox';
import { nullable, optionalNullable, timestampSchema } from './field-schemas.ts';

/** The field of an update by which it depends on the state that the caller has read. */
export const conditionFields = {
  expected_updated_at: optionalNullable(
    timestampSchema(
      'The `updated_at` that you have read. If the resource has changed since, the response is 409, and nothing changes',
    ),
  ),
};

/** The same field for settings that exist before anybody has set them: their `updated_at` is null then, and null is a condition. */
export const settingConditionFields = {
  expected_updated_at: Type.Optional(
    nullable(
      timestampSchema(
        'The `updated_at` that you have read; null if it was null. If the setting has changed since, the response is 409, and nothing changes. Without this field there is no condition',
      ),
    ),
  ),
};

/** Returns the `updated_at` of a setting. */
export const settingTime = (setting: string) =>
  nullable(timestampSchema(`Time of the last change of ${setting}; null if nobody has changed it`));

/** Returns true for the schema of an update with a condition, whose operation may therefore respond with 409. */
export function hasCondition(schema: TSchema | undefined): boolean {
  return (
    schema !== undefined &&
    'properties' in schema &&
    typeof schema.properties === 'object' &&
    schema.properties !== null &&
    'expected_updated_at' in schema.properties
  );
}
