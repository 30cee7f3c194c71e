/** The names of input properties, parsed: where the value of each comes from. Pure. */
import type { InputPropertyCreate } from '@switchyard/contract/experiments/input-properties.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';

/** A field of the input, with the keys that lead to it. `isDay`: the day of the time in the field counts. */
export interface FieldSource {
  name: string;
  keys: string[];
  isDay: boolean;
}

/** The fields of an input to read, for the clusterings and for the features. */
export interface FieldSources {
  clusterings: FieldSource[];
  features: FieldSource[];
  /** True: the sketch of the whole content too. */
  sketch?: boolean;
}

type PropertySettings = Pick<ComparisonSettings, 'cluster_by' | 'features'>;

const SOURCE_CLUSTERINGS = ['content', 'caller', 'day'];
const DAY_PREFIX = 'day:';
/** The feature that is the size of the input. */
export const SIZE_FEATURE = 'bytes';

/** Returns the settings as the definition stores them. Throws a 400 that names an unknown or repeated property. */
export function parsePropertySettings({ cluster_by, features }: InputPropertyCreate): PropertySettings {
  for (const [field, names] of [
    ['cluster_by', cluster_by ?? []],
    ['features', features ?? []],
  ] as const)
    for (const [index, name] of names.entries()) {
      checkName(field, index, name);
      const earlier = names.indexOf(name);
      if (earlier < index)
        throw badRequest(
          `${field}.${index} is ${quoteValue(name)}, as ${field}.${earlier} is; name each property once.`,
        );
    }
  return {
    ...(cluster_by && cluster_by.length > 0 ? { cluster_by } : {}),
    ...(features && features.length > 0 ? { features } : {}),
  };
}

/** Throws a 400 that names a clustering that no input can have. */
export function checkClusterings(names: readonly string[]): void {
  for (const [index, name] of names.entries()) checkName('cluster_by', index, name);
}

function checkName(field: 'cluster_by' | 'features', index: number, name: string): void {
  if (field === 'cluster_by' ? SOURCE_CLUSTERINGS.includes(name) : name === SIZE_FEATURE) return;
  const pointer =
    field === 'cluster_by' && name.startsWith(DAY_PREFIX) ? name.slice(DAY_PREFIX.length) : name;
  if (POINTER.test(pointer)) return;
  const allowed =
    field === 'cluster_by'
      ? 'content, caller, day, a JSON Pointer such as "/depot", or "day:" with a pointer'
      : 'bytes or a JSON Pointer such as "/region"';
  throw badRequest(
    `${field}.${index} is ${quoteValue(name)}; it must be ${allowed}. In a pointer, ~ is written ~0 and / is ~1.`,
  );
}

/** RFC 6901, without the pointer to the whole document. */
const POINTER = /^(\/([^~/]|~[01])*)+$/;

/** Returns the fields of the input that the settings name. */
export function listFieldSources({ cluster_by = [], features = [] }: PropertySettings): FieldSources {
  return {
    clusterings: cluster_by.filter((name) => !SOURCE_CLUSTERINGS.includes(name)).map(parseField),
    features: features.filter((name) => name !== SIZE_FEATURE).map(parseField),
  };
}

function parseField(name: string): FieldSource {
  const isDay = name.startsWith(DAY_PREFIX);
  const pointer = isDay ? name.slice(DAY_PREFIX.length) : name;
  const keys = pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { name, keys, isDay };
}
