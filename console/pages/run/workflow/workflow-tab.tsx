/** The workflow of a run: its steps as a graph, and every node with its run. */
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { operationQuery } from '../../../client/queries.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import table from '../../../ui/table.module.css';
import { getRunParams, type RunAddress } from '../queries.ts';
import { layoutGraph, type PlacedStep, readNodeStatus } from './layout-graph.ts';
import { WorkflowGraph } from './workflow-graph.tsx';
import styles from './workflow-tab.module.css';

const REFRESH_MS = 1_000;

interface WorkflowTabProps {
  address: RunAddress;
  run: RunInformation;
}

export function WorkflowTab({ address, run }: WorkflowTabProps) {
  const hasEnded = isTerminal(run.status_v2);
  const { data, isPending, refetch } = useQuery({
    ...operationQuery('getRunFlow', { params: getRunParams(address) }),
    refetchInterval: hasEnded ? false : REFRESH_MS,
  });
  // A workflow sends its last graph just before its end.
  useEffect(() => {
    if (hasEnded) void refetch({ cancelRefetch: false });
  }, [hasEnded, refetch]);
  if (isPending) return null;
  if (!data) return <p className="soft">The app has sent no graph{hasEnded ? '' : ' yet'}.</p>;
  const graph = layoutGraph(data.pipeline_graph, hasEnded);
  return (
    <div className={styles.tab}>
      <WorkflowGraph graph={graph} />
      <div className={table.scroll}>
        <table className={table.table} aria-label="Nodes of the workflow">
          <TableHead texts={['Step', 'Node', 'Status', 'Application', 'Run']} />
          <tbody>
            {graph.steps.map((step) => (
              <NodeRows key={step.id} step={step} hasEnded={hasEnded} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function NodeRows({ step, hasEnded }: { step: PlacedStep; hasEnded: boolean }) {
  return step.nodes.map((node) => (
    <tr key={node.id}>
      <td className="anywhere">
        <bdi>{step.id}</bdi>
      </td>
      <td className="anywhere">
        <bdi>{node.id}</bdi>
      </td>
      <td>
        <StatusBadge status={readNodeStatus(node, hasEnded)} />
      </td>
      <td className="anywhere">
        <bdi>{step.application}</bdi>
      </td>
      <td className="anywhere">
        {node.run_id && step.application !== '' && (
          <RunLink application={step.application} run={node.run_id}>
            {node.run_id}
          </RunLink>
        )}
      </td>
    </tr>
  ));
}
