import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
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

/** Tabs whose state is a search parameter of the page. Only the panel of the selected tab is rendered. */
export function Tabs<Id extends string>({ label, tabs, selected, onSelect }: TabsProps<Id>) {
  const select = (key: unknown) => {
    const tab = tabs.find(({ id }) => id === key);
    if (tab && tab.id !== selected) onSelect(tab.id);
  };
  return (
    <AriaTabs selectedKey={selected} onSelectionChange={select} className={styles.tabs ?? ''}>
      <TabList aria-label={label} className={styles.list ?? ''}>
        {tabs.map((tab) => (
          <Tab key={tab.id} id={tab.id} className={styles.tab ?? ''}>
            {tab.label}
            {tab.detail && <span className={styles.detail}> {tab.detail}</span>}
          </Tab>
        ))}
      </TabList>
      {tabs.map((tab) => (
        <TabPanel key={tab.id} id={tab.id} className={styles.panel ?? ''}>
          {tab.content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
