/** Parses the assets of an output. Pure, because read-results-thread.ts calls it too. */
import { formatExactJson } from '@switchyard/contract/exact-json.ts';
import {
  ASSET_DESCRIPTION_CHARS_MAX,
  ASSET_NAME_CHARS_MAX,
  ASSET_VISUAL_CHARS_MAX,
  ASSETS_MAX,
} from '@switchyard/contract/limits.ts';
import { isObject, replaceNul } from './json-values.ts';

export interface ParsedAsset {
  name: string;
  description: string;
  /** The visualisation as JSON text; null when the app provides none. */
  visual: string | null;
  /** The content as JSON text. */
  content: string;
}

export interface ParsedAssets {
  assets: ParsedAsset[];
  /** The error message about the first omitted asset; empty when all conform. */
  error: string;
}

/** Parses a list of assets and omits those that do not conform. An absent, null or empty object is an empty list. */
export function parseAssets(value: unknown): ParsedAssets {
  if (value === undefined || value === null) return { assets: [], error: '' };
  if (!Array.isArray(value)) {
    const isEmpty = typeof value === 'object' && Object.keys(value).length === 0;
    return { assets: [], error: isEmpty ? '' : 'assets is not a list.' };
  }
  const assets: ParsedAsset[] = [];
  let error =
    value.length > ASSETS_MAX ? `assets has ${value.length} items; the first ${ASSETS_MAX} are kept.` : '';
  for (const [index, item] of value.slice(0, ASSETS_MAX).entries()) {
    const asset = parseAsset(item, `assets[${index}]`);
    if (typeof asset === 'string') error ||= asset;
    else assets.push(asset);
  }
  return { assets, error };
}

/** Returns the asset, or the error message for one that does not conform. */
function parseAsset(value: unknown, field: string): ParsedAsset | string {
  if (!isObject(value)) return `${field} is not an object.`;
  const { name, description, content, content_type, visual } = value;
  if (typeof name !== 'string' || name === '') return `${field}.name is ${excerpt(name)}; it must be text.`;
  if (name.length > ASSET_NAME_CHARS_MAX)
    return `${field}.name is ${name.length} characters long; it may have ${ASSET_NAME_CHARS_MAX}.`;
  if (content === undefined) return `${field}.content is missing; it may be any JSON value.`;
  if (content_type !== undefined && content_type !== null && content_type !== 'json')
    return `${field}.content_type is ${excerpt(content_type)}; it must be "json".`;
  if (visual !== undefined && visual !== null && !isObject(visual))
    return `${field}.visual is ${excerpt(visual)}; it must be an object.`;
  const descriptionText = typeof description === 'string' ? description : '';
  if (descriptionText.length > ASSET_DESCRIPTION_CHARS_MAX)
    return `${field}.description is ${descriptionText.length} characters long; it may have ${ASSET_DESCRIPTION_CHARS_MAX}.`;
  const visualJson = isObject(visual) ? formatExactJson(visual) : null;
  if (visualJson !== null && visualJson.length > ASSET_VISUAL_CHARS_MAX)
    return `${field}.visual is ${visualJson.length} characters long, written as JSON; it may have ${ASSET_VISUAL_CHARS_MAX}. Put the data of the chart into the content.`;
  return {
    name: replaceNul(name),
    description: replaceNul(descriptionText),
    visual: visualJson,
    content: formatExactJson(content),
  };
}

function excerpt(value: unknown): string {
  return value === undefined ? 'missing' : formatExactJson(value).slice(0, 80);
}
