import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DOCUMENT_NAMES, documentUrl } from '@switchyard/contract/openapi/documents.ts';
import type { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import { UNLISTED_ROUTES } from '../../page-data.ts';
import type { Site } from '../pages/read-site.ts';
import type { DisplayedOperation, PageSection } from '../pages/search-sections.ts';

type Place = {
  keywords: string;
  slug: string;
  meta: SearchRecord['meta'];
  intro: string;
  sections: PageSection[];
};

/** `npm run documents` has written the document. */
function readDocument(path: string): OpenApiDocument {
  const document: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return document as OpenApiDocument;
}

/** Builds the records of the search: the sections of every page, and each operation with the page that shows it. */
export function buildSearchRecords(site: Site): SearchRecord[] {
  const documents = new Map<string, OpenApiDocument>(
    DOCUMENT_NAMES.map((name) => [name, readDocument(fileURLToPath(documentUrl(name)))]),
  );
  return listPlaces(site).flatMap(({ slug, meta, intro, keywords, sections }) =>
    sections.flatMap(({ id, header, text, code, operations }, index): SearchRecord[] => {
      const first = index === 0;
      const content = [first ? intro : '', text].filter(Boolean).join(' ');
      const place = { slug, sectionId: id, sectionHeader: header, meta, keywords: first ? keywords : '' };
      const operationRecords = operations.flatMap((operation): SearchRecord[] => {
        const words = extractSearchText(documents.get(operation.spec), operation);
        if (words === undefined) return [];
        const { summary, ...texts } = words;
        return [{ ...place, ...texts, sectionId: operation.id, sectionHeader: summary, type: 'operation' }];
      });
      return [
        { ...place, content, names: code.trim(), type: first ? 'page' : 'section' },
        ...operationRecords,
      ];
    }),
  );
}

function listPlaces({ docs, plain, sections }: Site): Place[] {
  const of = (route: string) => sections.get(route) ?? [];
  return [
    ...docs.map(({ route, section, title, intro, keywords = '' }) => ({
      slug: route,
      meta: {
        pageNavLabel: title,
        pageSection: section.map(({ label: folder }) => folder).join(' / '),
        pageTitle: title,
      },
      intro,
      keywords,
      sections: of(route),
    })),
    ...plain
      .filter(({ route }) => !UNLISTED_ROUTES.has(route))
      .map(({ route, title, intro }) => ({
        slug: route,
        meta: { pageNavLabel: title, pageSection: '', pageTitle: title },
        intro,
        keywords: '',
        sections: of(route),
      })),
  ];
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** An OpenAPI document, as far as the search reads it. */
type OpenApiDocument = { paths?: Record<string, Record<string, JsonObject>> } & JsonObject;

type OperationSearchText = { summary: string; content: string; names: string };

/** Returns undefined when the document has no such operation; the page that names it reports that. */
function extractSearchText(
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
