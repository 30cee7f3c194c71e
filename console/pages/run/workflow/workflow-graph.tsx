/** Draws the steps of a workflow as boxes in columns, with lines from each step to its successors. */
import { StatusBadge } from '../../../ui/status-badge.tsx';
import type { PlacedGraph, PlacedStep } from './layout-graph.ts';
import styles from './workflow-tab.module.css';

/** Sizes in rem; the lines are drawn on the same grid. */
const BOX_WIDTH = 12;
const BOX_HEIGHT = 5;
const COLUMN_GAP = 3;
const ROW_GAP = 1;

const computeX = ({ column }: PlacedStep): number => column * (BOX_WIDTH + COLUMN_GAP);
const computeY = ({ row }: PlacedStep): number => row * (BOX_HEIGHT + ROW_GAP);

export function WorkflowGraph({ graph }: { graph: PlacedGraph }) {
  const width = graph.columns * (BOX_WIDTH + COLUMN_GAP) - COLUMN_GAP;
  const height = graph.rows * (BOX_HEIGHT + ROW_GAP) - ROW_GAP;
  if (graph.steps.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a graph that is wider than the page scrolls by the keyboard too.
    <section className={styles.scroll} aria-label="Graph of the workflow" tabIndex={0}>
      <div className={styles.graph} style={{ width: `${width}rem`, height: `${height}rem` }}>
        <svg className={styles.lines} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {graph.edges.map(({ from, to }) => (
            <path key={`${from.id} ${to.id}`} d={drawLine(from, to)} />
          ))}
        </svg>
        <ol className={styles.steps}>
          {graph.steps.map((step) => (
            <li
              key={step.id}
              className={styles.step}
              data-status={step.status}
              style={{
                insetInlineStart: `${computeX(step)}rem`,
                top: `${computeY(step)}rem`,
                width: `${BOX_WIDTH}rem`,
                height: `${BOX_HEIGHT}rem`,
              }}
              title={step.docs}
            >
              <bdi className={styles.name}>{step.id}</bdi>
              <StatusBadge status={step.status} />
              <span className={styles.detail}>{describeStep(step)}</span>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** A curve from the right edge of a box to the left edge of another. */
function drawLine(from: PlacedStep, to: PlacedStep): string {
  const [x1, y1] = [computeX(from) + BOX_WIDTH, computeY(from) + BOX_HEIGHT / 2];
  const [x2, y2] = [computeX(to), computeY(to) + BOX_HEIGHT / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function describeStep({ application, nodes, doneCount }: PlacedStep): string {
  const parts = [
    ...(application === '' ? [] : [`runs ${application}`]),
    ...(nodes.length > 1 ? [`${doneCount} of ${nodes.length}`] : []),
  ];
  return parts.join(', ');
}
