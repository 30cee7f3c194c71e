/**
 * Parses JSON that Switchyard itself wrote: columns of rows, files, and what it signed or encrypted. The schema is checked, so
 * that a damaged value is an error that names its place, and not a wrong value in the code that reads it.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';

/**
 * Checks what the type of a schema promises: names and types. A request has proved the limits when the value was stored, and
 * they may have been others then. As in the validation of requests, the `$id` of a schema is none of Ajv.
 */
const ajv = new Ajv({ strict: false, schemaId: 'id', validateSchema: false, meta: false });
const LIMITS = [
  ...['format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'multipleOf'],
  ...['exclusiveMaximum', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
];
for (const limit of LIMITS) ajv.removeKeyword(limit);

/**
 * Returns a function that parses JSON of the schema. For any other text it throws a TypeError with the place of the value, but
 * without its content: it concerns one value, so a list leaves its row out. The schema is compiled at the first use.
 */
export function createJsonParser<T extends TSchema>(schema: T): (json: string, place: string) => Static<T> {
  let validate: ValidateFunction<Static<T>> | undefined;
  return (json, place) => {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      throw new TypeError(`${place} is not JSON.`);
    }
    validate ??= ajv.compile<Static<T>>(schema);
    if (validate(value)) return value;
    const [error] = validate.errors ?? [];
    throw new TypeError(
      `${place} does not fit its schema: ${error?.instancePath || 'it'} ${error?.message}.`,
    );
  };
}
