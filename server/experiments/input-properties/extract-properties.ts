/** Extracts clusters and features from the JSON of an input. Pure: a thread loads it for large inputs. */
import { hash } from 'node:crypto';
import { decodeUtf8 } from '@switchyard/contract/decode-utf8.ts';
import type { InputProperties } from '../store/input-properties.ts';
import type { FieldSource, FieldSources } from './property-sources.ts';
import { type ContentSketch, sketchContent } from './sketch-content.ts';

/** The properties that come from the content of an input. */
export type ExtractedProperties = Pick<InputProperties, 'clusters' | 'features'> & { sketch?: ContentSketch };

/** A longer text is a description or an id, no category. */
const CATEGORY_CHARS_MAX = 100;
/** Longer labels of clusters become hashes: results only count clusters. */
const LABEL_CHARS_MAX = 64;
const DAY_CHARS = 'YYYY-MM-DD'.length;

/** Returns the properties that the JSON has; text that is no JSON has none. */
export function extractProperties(json: Uint8Array, sources: FieldSources): ExtractedProperties {
  const found: ExtractedProperties = { clusters: {}, features: {} };
  const input = parseJson(json);
  for (const source of sources.clusterings) {
    const value = readField(input, source);
    const label = source.isDay ? readDay(value) : labelCluster(value);
    if (label !== null) found.clusters[source.name] = label;
  }
  for (const source of sources.features) {
    const value = measureFeature(readField(input, source));
    if (value !== null) found.features[source.name] = value;
  }
  return sources.sketch && input !== undefined ? { ...found, sketch: sketchContent(input) } : found;
}

function parseJson(json: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(json));
  } catch {
    return undefined;
  }
}

function readField(input: unknown, { keys }: FieldSource): unknown {
  let value = input;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function labelCluster(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const label = typeof value === 'object' ? hash('sha256', stringify(value), 'hex') : String(value);
  return label.length > LABEL_CHARS_MAX ? hash('sha256', label, 'hex') : label;
}

/** An input can nest deeper than JSON.stringify can follow; such values count as equal. */
function stringify(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

/** Returns the day in UTC of a time in the format of RFC 3339; a time without a zone is one in UTC. */
function readDay(value: unknown): string | null {
  if (typeof value !== 'string' || !STARTS_WITH_DAY.test(value)) return null;
  const at = HAS_OFFSET.test(value) ? Date.parse(value) : Date.parse(value.slice(0, DAY_CHARS));
  return Number.isNaN(at) ? null : new Date(at).toISOString().slice(0, DAY_CHARS);
}

const STARTS_WITH_DAY = /^\d{4}-\d{2}-\d{2}($|[T ])/;
const HAS_OFFSET = /[T ].*([Zz]|[+-]\d{2}:?\d{2})$/;

function measureFeature(value: unknown): number | string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return value.length > CATEGORY_CHARS_MAX ? null : value;
  if (typeof value !== 'object' || value === null) return null;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
