import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useState } from 'react';
import { SingleTable } from '../content/data-table.tsx';
import { ShapeMap } from '../maps/shape-map.tsx';
import { Notice } from '../notice.tsx';
import { Segments } from '../options/segments.tsx';
import type { SolutionViewData, SolutionViews } from './find-views.ts';
import { GanttChart } from './gantt-chart.tsx';
import { RouteView } from './route-view.tsx';
import styles from './solution-view.module.css';

interface SolutionViewProps {
  found: SolutionViews;
  /** Name of downloaded files, without an ending. */
  fileName: string;
  /** The heading above the views. */
  title?: string;
}

/** The views of an output or input: maps, routes, schedules and tables, one at a time. */
export function SolutionView({ found: { views, problems }, fileName, title }: SolutionViewProps) {
  const [chosen, setChosen] = useState(0);
  const view = views[chosen] ?? views[0];
  return (
    <div className={styles.views}>
      {problems.map((problem) => (
        <Notice key={problem} kind="warning">
          {problem}
        </Notice>
      ))}
      <div className={styles.head}>
        {title !== undefined && <h2>{title}</h2>}
        {views.length > 1 && (
          <Segments
            label="View of the solution"
            options={views.map((one) => [one, <bdi key="label">{escapeInvisible(one.label)}</bdi>])}
            chosen={view}
            onChoose={(one) => setChosen(views.indexOf(one))}
          />
        )}
      </div>
      {view && <View key={views.indexOf(view)} view={view} fileName={fileName} />}
    </div>
  );
}

function View({ view, fileName }: { view: SolutionViewData; fileName: string }) {
  const label = escapeInvisible(view.label);
  switch (view.kind) {
    case 'routes':
      return <RouteView routes={view.routes} label={label} />;
    case 'map':
      return <ShapeMap data={view.data} label={label} />;
    case 'gantt':
      return <GanttChart schedule={view.schedule} label={label} />;
    case 'table':
      return <SingleTable data={view.table} fileName={fileName} />;
  }
}
