/** Validates an `app.yaml` wherever it is read: by a push, by `dev`, by the server and by the console. */
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { findMistake, listUnknownFields } from '../../presentation/check-value.ts';
import { formatNumber } from '../../presentation/format-quantity.ts';
import { isDeeper, LEVELS_MAX } from '../../schemas/is-deeper.ts';
import { isRecord } from '../../schemas/is-record.ts';
import { findIndicatorMistake } from '../indicators.ts';
import { MANIFEST_NAME } from './manifest.ts';

/** Their validation takes 0.2 s. An app with 5,000 options has 25,000. */
const VALUES_MAX = 100_000;

/** A valid manifest without its nulls, which mean absent fields, and a sentence for each field that has no effect. */
interface CheckedManifest<T extends TSchema> {
  manifest: Static<T>;
  warnings: string[];
}

/** Returns the manifest, or the sentence about its first mistake. `name` names the file in the sentences. */
export function checkManifest<T extends TSchema>(
  schema: T,
  value: unknown,
  name: string = MANIFEST_NAME,
): CheckedManifest<T> | { error: string } {
  if (!isRecord(value)) return { error: `${name} must be a map of fields.` };
  if (isDeeper(value)) return { error: `${name} is nested deeper than ${LEVELS_MAX} levels.` };
  if (hasMoreValues(value, VALUES_MAX))
    return { error: `${name} has more than ${formatNumber(VALUES_MAX)} values.` };
  const manifest = dropNulls(value);
  if (!Check(schema, manifest)) return { error: `${name}: ${findMistake(schema, manifest)}` };
  const { indicators } = value;
  const mistake = isRecord(indicators) ? findIndicatorMistake(indicators) : undefined;
  if (mistake) return { error: `${name}: ${mistake}` };
  return {
    manifest,
    warnings: listUnknownFields(schema, manifest).map(
      ({ field, nearest }) =>
        `${name}: ${field} is not a field of the manifest and has no effect; did you mean ${nearest}?`,
    ),
  };
}

/** Returns true for a value with more than so many items and fields, in all lists and maps within it. */
function hasMoreValues(value: object, max: number): boolean {
  const unread: object[] = [value];
  let count = 0;
  for (let next = unread.pop(); next && count <= max; next = unread.pop()) {
    const values: unknown[] = Object.values(next);
    count += values.length;
    for (const one of values) if (typeof one === 'object' && one !== null) unread.push(one);
  }
  return count > max;
}

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isRecord(value)) return value;
  const present = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(present.map(([name, field]) => [name, dropNulls(field)]));
}
