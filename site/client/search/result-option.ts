/** Renders a hit of the search as an option of the list. */
import { splitAtMarks } from '@switchyard/contract/site/search.ts';
import type { SearchHit } from '@switchyard/contract/site/search-records.ts';

/**
 * Returns a link with the path, title and passage of the hit, and the words `marks` highlighted. Returns undefined for a hit
 * outside the site, which a foreign search service may return.
 */
export function renderOption(
  hit: SearchHit,
  marks: readonly string[],
  index: number,
): HTMLAnchorElement | undefined {
  const { slug, sectionId, sectionHeader, content, meta } = hit;
  const address = new URL(slug, location.origin);
  if (address.origin !== location.origin) return undefined;
  address.hash = sectionId;
  const option = document.createElement('a');
  option.id = `search-result-${index}`;
  option.className = 'result';
  option.href = address.href;
  option.role = 'option';
  option.tabIndex = -1;
  option.setAttribute('aria-selected', 'false');
  const path = [meta.pageSection, sectionHeader === '' ? '' : meta.pageTitle].filter(Boolean).join(' / ');
  const lines = {
    'result-way': path,
    'result-title': sectionHeader || meta.pageTitle,
    'result-text': content,
  };
  for (const [name, text] of Object.entries(lines)) {
    // The space separates two lines that screen readers read as one.
    if (text !== '') option.append(renderLine(name, text, marks), ' ');
  }
  return option;
}

function renderLine(className: string, text: string, marks: readonly string[]): HTMLElement {
  const line = document.createElement('span');
  line.className = className;
  for (const part of splitAtMarks(text, marks)) {
    const element = part.marked ? document.createElement('mark') : document.createTextNode('');
    element.textContent = part.text;
    line.append(element);
  }
  return line;
}
