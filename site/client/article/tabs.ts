import { writeStorage } from '../storage.ts';

const STORAGE_PREFIX = 'tabs:';

function select(group: HTMLElement, label: string): void {
  for (const button of group.querySelectorAll<HTMLElement>('[data-tab]')) {
    const selected = button.dataset.tab === label;
    button.ariaSelected = String(selected);
    button.tabIndex = selected ? 0 : -1;
  }
  for (const panel of group.querySelectorAll<HTMLElement>('[data-panel]')) {
    panel.hidden = panel.dataset.panel !== label;
  }
}

/** Shows a label in every tab group of one name that has it. */
function selectAll(name: string, label: string): void {
  for (const group of document.querySelectorAll<HTMLElement>(`[data-tabs="${CSS.escape(name)}"]`)) {
    if (group.querySelector(`[data-tab="${CSS.escape(label)}"]`)) select(group, label);
  }
}

/** Chooses a label for all groups of its name. Scrolls so that the pressed tab stays in its place on the screen. */
function choose(button: HTMLElement): void {
  const { tab: label } = button.dataset;
  const name = button.closest<HTMLElement>('[data-tabs]')?.dataset.tabs;
  if (label === undefined || name === undefined) return;
  const before = button.getBoundingClientRect().top;
  selectAll(name, label);
  scrollBy({ top: button.getBoundingClientRect().top - before, behavior: 'instant' });
  writeStorage(`${STORAGE_PREFIX}${name}`, label);
}

/** Makes tabs work by pointer and arrow keys: https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
export function startTabs(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-tab]') : null;
    if (button) choose(button);
  });
  document.addEventListener('keydown', (event) => {
    const button = event.target instanceof HTMLElement ? event.target : null;
    if (button?.dataset.tab === undefined) return;
    const all = [...(button.parentElement?.querySelectorAll<HTMLElement>('[data-tab]') ?? [])];
    const index = all.indexOf(button);
    const moves: Record<string, number> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 };
    const move = moves[event.key];
    const next = move === undefined ? undefined : all.at(move % all.length);
    if (!next) return;
    event.preventDefault();
    choose(next);
    next.focus();
  });
  // A choice in another window of the site applies here too.
  addEventListener('storage', ({ key, newValue }) => {
    if (key?.startsWith(STORAGE_PREFIX) && newValue !== null)
      selectAll(key.slice(STORAGE_PREFIX.length), newValue);
  });
}
