/**
 * The search box in use: a combobox whose list shows the places that answer. Its state is the question the list answers,
 * the hits, and which of them the keyboard is on. A question is asked when the typing rests, and the one before it is
 * given up. An empty box shows the places opened from it before.
 */
import './search-combobox.css';
import { type SearchHit, type SearchResponse, splitAtMarks } from '@switchyard/contract/site/search.ts';
import { readRecentHits, saveRecentHit } from './recent-hits.ts';

const REST_MS = 120;
const SLOW_MS = 800;
const QUERY_CHARS_MIN = 2;
const ANSWERS_KEPT = 50;

type Shown = { query: string; options: HTMLAnchorElement[] };

export function startSearchCombobox(form: HTMLFormElement, input: HTMLInputElement): void {
  const list = document.createElement('div');
  list.id = 'search-results';
  list.className = 'search-results';
  list.role = 'listbox';
  list.ariaLabel = 'Search results';
  list.hidden = true;
  // Always in the document, because only a change of what is already there is spoken.
  const status = document.createElement('p');
  status.className = 'search-status';
  status.role = 'status';
  form.append(list, status);
  input.role = 'combobox';
  input.setAttribute('aria-controls', list.id);
  input.setAttribute('aria-autocomplete', 'list');
  input.ariaExpanded = 'false';

  const answers = new Map<string, SearchResponse>();
  const hitOf = new WeakMap<HTMLAnchorElement, SearchHit>();
  let shown: Shown | null = null;
  let active = -1;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  const question = () => input.value.trim().replace(/\s+/g, ' ');

  const choose = (index: number) => {
    shown?.options[active]?.setAttribute('aria-selected', 'false');
    active = index;
    const option = shown?.options[active];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  };
  const setOpen = (open: boolean) => {
    list.hidden = !open;
    input.ariaExpanded = String(open);
    if (!open) choose(-1);
  };
  const say = (words: string, visible: boolean) => {
    status.textContent = words;
    status.toggleAttribute('data-visible', visible);
  };
  const clear = () => {
    clearTimeout(timer);
    asking?.abort();
    setOpen(false);
    shown = null;
    list.replaceChildren();
    say('', false);
  };
  const fill = (query: string, hits: readonly SearchHit[], marks: readonly string[]) => {
    const options = hits.flatMap((hit, index) => {
      const option = optionOf(hit, marks, index);
      if (option) hitOf.set(option, hit);
      return option ?? [];
    });
    shown = { query, options };
    list.ariaLabel = query === '' ? 'Recently opened' : 'Search results';
    list.replaceChildren(...options);
    list.scrollTop = 0;
    return options;
  };
  const show = ({ query, hits, marks }: SearchResponse) => {
    const options = fill(query, hits, marks ?? []);
    if (options.length === 0) {
      setOpen(false);
      return say(`No results for ${query}`, true);
    }
    say(options.length === 1 ? '1 result' : `${options.length} results`, false);
    setOpen(true);
    choose(0);
  };
  /** None of them is chosen, so that Enter in the empty box still does what it does without them. */
  const showRecent = () => {
    clear();
    const options = fill('', readRecentHits(), []);
    if (options.length === 0) return;
    say(options.length === 1 ? '1 place opened before' : `${options.length} places opened before`, false);
    setOpen(true);
  };

  const ask = async (query: string) => {
    const known = answers.get(query);
    if (known) return show(known);
    asking = new AbortController();
    const { signal } = asking;
    timer = setTimeout(() => {
      if (list.hidden) say('Searching …', true);
    }, SLOW_MS);
    try {
      const answer = await fetchAnswer(query, signal);
      if (signal.aborted) return;
      clearTimeout(timer);
      show(answer);
      if (answers.size >= ANSWERS_KEPT) answers.clear();
      answers.set(query, answer);
    } catch {
      if (signal.aborted) return;
      clear();
      say('The search does not answer. Press Enter to try again.', true);
    }
  };
  const update = () => {
    const query = question();
    clearTimeout(timer);
    asking?.abort();
    if (query === '') return showRecent();
    if (query.length < QUERY_CHARS_MIN) return clear();
    if (shown?.query === query) return show(answers.get(query) ?? { query, hits: [], marks: [] });
    timer = setTimeout(() => void ask(query), answers.has(query) ? 0 : REST_MS);
  };

  input.addEventListener('input', (event) => {
    // What an input method has not finished is no word yet.
    if (!(event instanceof InputEvent && event.isComposing)) update();
  });
  input.addEventListener('compositionend', update);
  input.addEventListener('focus', update);
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && form.contains(relatedTarget)) return;
    clear();
  });
  // The focus stays in the box while the list is used with a pointer.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('mousemove', ({ target }) => {
    const index = shown?.options.findIndex((one) => target instanceof Node && one.contains(target)) ?? -1;
    if (index >= 0 && index !== active) choose(index);
  });
  list.addEventListener('click', (event) => {
    const option = shown?.options.find((one) => event.target instanceof Node && one.contains(event.target));
    const hit = option && hitOf.get(option);
    if (hit) saveRecentHit(hit);
    // A hit on this page moves the reader only; the list must not stay above it.
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) input.blur();
  });
  input.addEventListener('keydown', (event) => {
    // Safari has ended a composition when it tells of the key that ended it, under this number.
    const isComposing = event.isComposing || event.keyCode === 229;
    if (isComposing || shown === null || shown.options.length === 0 || list.hidden) return;
    const { length } = shown.options;
    const moves: Record<string, number> = {
      ArrowDown: (active + 1) % length,
      ArrowUp: (Math.max(active, 0) - 1 + length) % length,
    };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      return choose(move);
    }
    // A question that has changed since is answered by the page of results.
    if (event.key !== 'Enter' || shown.query !== question()) return;
    const option = shown.options[active];
    if (!option) return;
    event.preventDefault();
    option.click();
  });
  update();
}

async function fetchAnswer(query: string, signal: AbortSignal): Promise<SearchResponse> {
  const address = new URL(document.body.dataset.search ?? '', location.href);
  address.searchParams.set('q', query);
  const response = await fetch(address, { signal, headers: { accept: 'application/json' } });
  const answer: Partial<SearchResponse> = await response.json();
  if (!response.ok || !Array.isArray(answer.hits)) throw new Error(`The search answered ${response.status}.`);
  return { query, hits: answer.hits, marks: answer.marks ?? [] };
}

/** undefined for a hit that leads out of the site, which only another search than ours could give. */
function optionOf(hit: SearchHit, marks: readonly string[], index: number): HTMLAnchorElement | undefined {
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
  const way = [meta.pageSection, sectionHeader === '' ? '' : meta.pageTitle].filter(Boolean).join(' / ');
  const lines = {
    'result-way': way,
    'result-title': sectionHeader || meta.pageTitle,
    'result-text': content,
  };
  for (const [name, text] of Object.entries(lines)) {
    if (text === '') continue;
    const line = document.createElement('span');
    line.className = name;
    for (const part of splitAtMarks(text, marks)) {
      const element = part.marked ? document.createElement('mark') : document.createTextNode('');
      element.textContent = part.text;
      line.append(element);
    }
    // Between two lines that are read as one, there is a space.
    option.append(line, ' ');
  }
  return option;
}
