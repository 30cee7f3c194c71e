import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DOCUMENT_NAMES, documentUrl } from '@switchyard/contract/openapi/documents.ts';
import type { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import { UNLISTED_ROUTES } from '../../page-data.ts';
import type { Site } from '../pages/read-site.ts';
import type { PageSection } from '../pages/search-sections.ts';
import { extractSearchText, type OpenApiDocument } from './search-operations.ts';

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
