import { type KeyboardEvent, type ReactNode, useId } from 'react';
import styles from './tabs.module.css';

interface TabItem<Id extends string> {
  id: Id;
  label: string;
  /** What the part holds, such as its size. */
  detail?: string;
  content: ReactNode;
}

interface TabsProps<Id extends string> {
  /** Name of the list of tabs for screen readers. */
  label: string;
  tabs: readonly TabItem<Id>[];
  /** The search parameter of the page. */
  selected: Id;
  /** Writes the search parameter. */
  onSelect: (id: Id) => void;
}

/** Returns the index that a key leads to from the tab at `index`, around the ends; undefined for any other key. */
function moveBy(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (index + 1) % count;
  if (key === 'ArrowLeft') return (index + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

/** Tabs whose state is a search parameter of the page. Only the panel of the selected tab is rendered. */
export function Tabs<Id extends string>({ label, tabs, selected, onSelect }: TabsProps<Id>) {
  const id = useId();
  const index = tabs.findIndex((tab) => tab.id === selected);
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const next = moveBy(event.key, index, tabs.length);
    const tab = next === undefined ? undefined : tabs[next];
    if (!tab || next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
    if (tab.id !== selected) onSelect(tab.id);
  };
  return (
    <div className={styles.tabs}>
      <div role="tablist" aria-label={label} className={styles.list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === selected}
            aria-controls={tab.id === selected ? `${id}-panel` : undefined}
            tabIndex={tab.id === selected ? 0 : -1}
            className={styles.tab}
            onClick={() => tab.id !== selected && onSelect(tab.id)}
          >
            {tab.label}
            {tab.detail && <span className={styles.detail}> {tab.detail}</span>}
          </button>
        ))}
      </div>
      <div
        key={selected}
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${selected}`}
        tabIndex={-1}
        className={styles.panel}
      >
        {tabs[index]?.content}
      </div>
    </div>
  );
}
