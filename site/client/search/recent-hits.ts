/** The hits that a reader opened from the search, last first. They never leave the browser. */
import type { SearchHit } from '@switchyard/contract/site/search-records.ts';
import { readStorage, writeStorage } from '../storage.ts';

const KEY = 'recent';
const HITS_MAX = 5;

/** Returns at most HITS_MAX hits. Skips invalid ones, which another version of the site may have stored. */
export function readRecentHits(): SearchHit[] {
  try {
    const stored: unknown = JSON.parse(readStorage(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isHit).slice(0, HITS_MAX) : [];
  } catch {
    return [];
  }
}

/** Stores the hit as the first one. */
export function saveRecentHit(hit: SearchHit): void {
  const others = readRecentHits().filter(
    ({ slug, sectionId }) => slug !== hit.slug || sectionId !== hit.sectionId,
  );
  // The passage belongs to a query that is over.
  writeStorage(KEY, JSON.stringify([{ ...hit, content: '' }, ...others].slice(0, HITS_MAX)));
}

function isHit(value: unknown): value is SearchHit {
  if (typeof value !== 'object' || value === null) return false;
  const { slug, sectionId, sectionHeader, content, meta }: Partial<SearchHit> = value;
  const texts = [slug, sectionId, sectionHeader, content, meta?.pageSection, meta?.pageTitle];
  return texts.every((text) => typeof text === 'string') && URL.canParse(String(slug), location.origin);
}
