/** Assets as an output lists them. Pure, because it also works in a thread. */
import {
  ASSET_DESCRIPTION_CHARS_MAX,
  ASSET_NAME_CHARS_MAX,
  ASSET_VISUAL_CHARS_MAX,
  ASSETS_MAX,
} from '@switchyard/contract/limits.ts';

export interface ParsedAsset {
  name: string;
  description: string;
  /** Its visualization in JSON; null where the app gives none. */
  visual: string | null;
  /** The content in JSON. */
  content: string;
}

export interface ParsedAssets {
  assets: ParsedAsset[];
  /** Why some were left out, as a sentence about the first of them; empty when none was. */
  error: string;
}

/** Reads a list of assets; those that do not conform are left out. Absent, null and an empty object are no assets. */
export function parseAssets(value: unknown): ParsedAssets {
  if (value === undefined || value === null) return { assets: [], error: '' };
  if (!Array.isArray(value)) {
    const empty = typeof value === 'object' && Object.keys(value).length === 0;
    return { assets: [], error: empty ? '' : 'assets is not a list.' };
  }
  const assets: ParsedAsset[] = [];
  let error =
    value.length > ASSETS_MAX ? `assets has ${value.length} items; the first ${ASSETS_MAX} are kept.` : '';
  for (const [index, one] of value.slice(0, ASSETS_MAX).entries()) {
    const read = readAsset(one, `assets[${index}]`);
    if (typeof read === 'string') error ||= read;
    else assets.push(read);
  }
  return { assets, error };
}

function readAsset(value: unknown, field: string): ParsedAsset | string {
  if (!isObject(value)) return `${field} is not an object.`;
  const { name, description, content, content_type, visual } = value;
  if (typeof name !== 'string' || name === '') return `${field}.name is ${shown(name)}; it must be text.`;
  if (name.length > ASSET_NAME_CHARS_MAX)
    return `${field}.name is ${name.length} characters long; it may have ${ASSET_NAME_CHARS_MAX}.`;
  if (content === undefined) return `${field}.content is missing; it may be any JSON value.`;
  if (content_type !== undefined && content_type !== null && content_type !== 'json')
    return `${field}.content_type is ${shown(content_type)}; it must be "json".`;
  if (visual !== undefined && visual !== null && !isObject(visual))
    return `${field}.visual is ${shown(visual)}; it must be an object.`;
  const told = typeof description === 'string' ? description : '';
  if (told.length > ASSET_DESCRIPTION_CHARS_MAX)
    return `${field}.description is ${told.length} characters long; it may have ${ASSET_DESCRIPTION_CHARS_MAX}.`;
  const drawn = isObject(visual) ? JSON.stringify(visual) : null;
  if (drawn !== null && drawn.length > ASSET_VISUAL_CHARS_MAX)
    return `${field}.visual is ${drawn.length} characters long, written as JSON; it may have ${ASSET_VISUAL_CHARS_MAX}. What is to be drawn belongs in the content.`;
  return {
    name: withoutNul(name),
    description: withoutNul(told),
    visual: drawn,
    content: JSON.stringify(content),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
}

/** Text columns of PostgreSQL cannot hold a NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}
