import { type ReactNode, useContext } from 'react';
import { InlineScripts } from './inline-scripts.ts';

type TabsProps = { group: string; id: string; labels: string[]; children?: ReactNode };

/**
 * Tabs. Without a script the panels follow one another, each with its label. The inline script right after them runs
 * before the first paint: it turns them into tabs and shows the one the reader chose last.
 */
export function Tabs({ group, id, labels, children }: TabsProps) {
  const { tabs } = useContext(InlineScripts);
  return (
    <>
      <div className="tabs" data-tabs={group} id={id}>
        <div className="tab-list needs-script">
          {labels.map((label) => (
            <button type="button" key={label} data-tab={label}>
              {label}
            </button>
          ))}
        </div>
        {children}
      </div>
      <script dangerouslySetInnerHTML={{ __html: tabs }} />
    </>
  );
}

export function TabPanel({ label, children }: { label: string; children?: ReactNode }) {
  return (
    <div className="tab-panel" data-panel={label}>
      <p className="tab-label">{label}</p>
      {children}
    </div>
  );
}
