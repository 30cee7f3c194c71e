/** Extracts the texts of an operation for the search: its summary, description, parameter and property names. */
import type { DisplayedOperation } from '../pages/search-sections.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** An OpenAPI document, as far as the search reads it. */
export type OpenApiDocument = { paths?: Record<string, Record<string, JsonObject>> } & JsonObject;

export type OperationSearchText = { summary: string; content: string; names: string };

/** Returns undefined when the document has no such operation; the page that names it reports that. */
export function extractSearchText(
  document: OpenApiDocument | undefined,
  { method, path }: DisplayedOperation,
): OperationSearchText | undefined {
  const operation = document?.paths?.[path]?.[method.toLowerCase()];
  if (document === undefined || operation === undefined) return undefined;
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  const summary = text(operation.summary) || text(operation.operationId);
  // Descriptions have no other Markdown than marks around code.
  const description = text(operation.description).replaceAll('`', '').replace(/\s+/g, ' ').trim();
  const names = new Set<string>([text(operation.operationId)]);
  collectNames({ document, names, seen: new Set() }, operation);
  return {
    summary,
    content: `${method.toUpperCase()} ${path} ${description}`.trim(),
    names: [...names].join(' '),
  };
}

type Walk = { document: OpenApiDocument; names: Set<string>; seen: Set<string> };

/** Collects names of parameters and properties through references; follows each reference once. */
function collectNames(walk: Walk, value: Json | undefined): void {
  if (Array.isArray(value)) {
    for (const one of value) collectNames(walk, one);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { $ref: reference, properties, name } = value;
  if (typeof reference === 'string') {
    if (walk.seen.has(reference)) return;
    walk.seen.add(reference);
    collectNames(walk, resolve(walk.document, reference));
    return;
  }
  if (typeof name === 'string' && typeof value.in === 'string') walk.names.add(name);
  if (typeof properties === 'object' && properties !== null && !Array.isArray(properties)) {
    for (const property of Object.keys(properties)) walk.names.add(property);
  }
  for (const [key, child] of Object.entries(value)) {
    // Examples repeat the names, and nobody searches for their values.
    if (key !== 'example' && key !== 'examples') collectNames(walk, child);
  }
}

function resolve(document: OpenApiDocument, reference: string): Json | undefined {
  let at: Json | undefined = document;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null && !Array.isArray(at) ? at[name] : undefined;
  }
  return at;
}
