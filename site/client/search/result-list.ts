import { splitAtMarks } from '@switchyard/contract/site/search.ts';
import type { SearchHit } from '@switchyard/contract/site/search-records.ts';
import { saveRecentHit } from './recent-hits.ts';

/** The list of a combobox: its options, the active one, and whether it is open. The input keeps the focus. */
export class ResultList {
  readonly element = document.createElement('div');
  readonly #input: HTMLInputElement;
  readonly #hits = new WeakMap<HTMLAnchorElement, SearchHit>();
  #options: HTMLAnchorElement[] = [];
  #active = -1;

  constructor(input: HTMLInputElement) {
    this.#input = input;
    this.element.id = 'search-results';
    this.element.className = 'search-results';
    this.element.role = 'listbox';
    this.element.ariaLabel = 'Search results';
    this.element.hidden = true;
    input.role = 'combobox';
    input.setAttribute('aria-controls', this.element.id);
    input.setAttribute('aria-autocomplete', 'list');
    input.ariaExpanded = 'false';
    this.#listenToPointer();
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** Replaces the options, none of which is active; returns their number. */
  fill(label: string, hits: readonly SearchHit[], marks: readonly string[]): number {
    this.#options = hits.flatMap((hit, index) => {
      const option = renderOption(hit, marks, index);
      if (option) this.#hits.set(option, hit);
      return option ?? [];
    });
    this.element.ariaLabel = label;
    this.element.replaceChildren(...this.#options);
    this.element.scrollTop = 0;
    return this.#options.length;
  }

  open(): void {
    this.#setOpen(true);
  }

  close(): void {
    this.#setOpen(false);
    this.activate(-1);
  }

  /** Makes the option with the index active; -1 for none. */
  activate(index: number): void {
    this.#options[this.#active]?.setAttribute('aria-selected', 'false');
    this.#active = index;
    const option = this.#options[index];
    if (!option) {
      this.#input.removeAttribute('aria-activedescendant');
      return;
    }
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    this.#input.setAttribute('aria-activedescendant', option.id);
  }

  /** Makes the next or previous option active, from the last to the first and back. */
  move(key: 'ArrowDown' | 'ArrowUp'): void {
    const { length } = this.#options;
    this.activate(
      key === 'ArrowDown' ? (this.#active + 1) % length : (Math.max(this.#active, 0) - 1 + length) % length,
    );
  }

  /** Follows the link of the active option; returns false when there is none. */
  followActive(): boolean {
    const option = this.#options[this.#active];
    option?.click();
    return option !== undefined;
  }

  #setOpen(isOpen: boolean): void {
    this.element.hidden = !isOpen;
    this.#input.ariaExpanded = String(isOpen);
  }

  #findIndex(target: EventTarget | null): number {
    return this.#options.findIndex((option) => target instanceof Node && option.contains(target));
  }

  #listenToPointer(): void {
    // The focus stays in the input while the reader uses the list with a pointer.
    this.element.addEventListener('mousedown', (event) => event.preventDefault());
    this.element.addEventListener('mousemove', ({ target }) => {
      const index = this.#findIndex(target);
      if (index >= 0 && index !== this.#active) this.activate(index);
    });
    this.element.addEventListener('click', (event) => {
      const option = this.#options[this.#findIndex(event.target)];
      const hit = option && this.#hits.get(option);
      if (hit) saveRecentHit(hit);
      // A hit on this page only scrolls; the list must not stay above it.
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) this.#input.blur();
    });
  }
}

/**
 * Returns a link with the path, title and passage of the hit, and the words `marks` highlighted. Returns undefined for a hit
 * outside the site, which a foreign search service may return.
 */
function renderOption(
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
