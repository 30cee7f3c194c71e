import { writeStorage } from '../storage.ts';

const STORED = 'tabs:';

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

/** Chooses a label for all groups of its name, and keeps the pressed tab where it is on the screen. */
function choose(button: HTMLElement): void {
  const { tab: label } = button.dataset;
  const name = button.closest<HTMLElement>('[data-tabs]')?.dataset.tabs;
  if (label === undefined || name === undefined) return;
  const before = button.getBoundingClientRect().top;
  selectAll(name, label);
  scrollBy({ top: button.getBoundingClientRect().top - before, behavior: 'instant' });
  writeStorage(`${STORED}${name}`, label);
}

/** Tabs by pointer and by arrow keys, as the tab pattern of the ARIA guide has them. */
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
  // What is chosen in another window of the site holds here too.
  addEventListener('storage', ({ key, newValue }) => {
    if (key?.startsWith(STORED) && newValue !== null) selectAll(key.slice(STORED.length), newValue);
  });
}
