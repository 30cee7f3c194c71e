import { formatBytes, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { listFacts } from '@switchyard/contract/views/facts.ts';
import { EXECUTION_FACTS } from '@switchyard/contract/views/run-facts.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FactList } from '../../ui/facts.tsx';
import { findClassLimits } from '../../ui/resources/class-limits.ts';
import { RunLink } from '../../ui/run-link.tsx';
import { useRight } from '../../ui/use-right.ts';
import { formatCost } from '../usage/format-measures.ts';
import { findRange, usageQuery } from '../usage/queries.ts';
import { findLimit } from './progress/find-limit.ts';

/** The facts of a run: its origin, its class and cost, its limits and what it used. */
export function RunFacts({ run }: { run: RunInformation }) {
  const { metadata } = run;
  const origin = metadata.tracking?.cloned_run_id;
  const cost = useCost(run);
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">Facts</h2>
      <FactList
        layout="rows"
        facts={[
          [
            'Type',
            run.run_type.type !== 'standard' && (
              <span key="type">
                {run.run_type.type} <EnsembleLink run={run} />
              </span>
            ),
          ],
          [
            'Experiment',
            metadata.experiment_id !== undefined && (
              <ExperimentLink key="experiment" run={run} experiment={metadata.experiment_id} />
            ),
          ],
          [
            'Workflow',
            run.parent_run_id !== undefined && run.parent_application_id !== undefined && (
              <RunLink key="workflow" application={run.parent_application_id} run={run.parent_run_id}>
                {run.workflow_name}
              </RunLink>
            ),
          ],
          [
            'Repeats',
            origin !== undefined && (
              <RunLink key="origin" application={run.application_id} run={origin}>
                {origin}
              </RunLink>
            ),
          ],
          ['Class', formatClass(run)],
          ['Cost', cost],
          ['Started', metadata.initiated_at && <ExactTime key="started" at={metadata.initiated_at} />],
          ['Ends at latest', findLatestEnd(run)],
          ['Ended', metadata.finished_at && <ExactTime key="ended" at={metadata.finished_at} />],
          ...listFacts(EXECUTION_FACTS, run).filter(([label]) => !SHOWN_ELSEWHERE.includes(label)),
        ]}
      />
    </section>
  );
}

const HOUR_MS = 3_600_000;

/** The answer, the timeline, the class and the parts of the run say these. */
const SHOWN_ELSEWHERE = ['Time limit', 'Cores', 'Memory limit', 'Peak memory', 'Input', 'Output'];

/** Returns the class with what the run had of it. */
function formatClass({ execution_class, metadata: { limits } }: RunInformation): string {
  if (!limits) return execution_class;
  const cores = `${formatNumber(limits.cores)} ${limits.cores === 1 ? 'core' : 'cores'}`;
  return `${execution_class}: ${cores}, ${formatBytes(limits.memory_bytes)}`;
}

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'long' });

function ExactTime({ at }: { at: string }) {
  return <time dateTime={at}>{exact.format(Date.parse(at))}</time>;
}

/** Returns when an active run reaches its limit. */
function findLatestEnd(run: RunInformation): ReactNode {
  const [limit, start] = [findLimit(run)?.ms, run.metadata.initiated_at];
  if (run.status_v2 !== 'running' || limit === undefined || start === undefined) return undefined;
  return <ExactTime key="latest" at={new Date(Date.parse(start) + limit).toISOString()} />;
}

/** Returns the price of an ended run by the cores of its class, as usage counts it, for those who may know the rate. */
function useCost({ metadata, status_v2, run_type }: RunInformation): string | undefined {
  const { data } = useQuery({
    ...usageQuery(findRange(1), 'day'),
    enabled: useRight('account'),
    staleTime: Infinity,
  });
  const { cores = 0 } = findClassLimits(metadata.execution_class) ?? {};
  const rate = data?.cost_rate ?? null;
  if (!rate || !isTerminal(status_v2) || run_type.type !== 'standard') return undefined;
  const hours = metadata.execution_duration / HOUR_MS;
  return `${formatCost(hours * cores * rate.per_core_hour, rate)} for ${formatNumber(cores)} reserved cores`;
}

/** A link to the result of the experiment that created the run. */
function ExperimentLink({ run, experiment }: { run: RunInformation; experiment: string }) {
  const { experiment_type: type } = run.metadata;
  if (type === undefined) return experiment;
  return (
    <Link
      to="/apps/$application/experiments/$type/$id"
      params={{ application: run.application_id, type, id: experiment }}
    >
      {experiment}
    </Link>
  );
}

/** A link to the child runs and decisions of an ensemble run. */
function EnsembleLink({ run }: { run: RunInformation }) {
  const ensemble = run.run_type.type === 'ensemble' ? run.run_type.definition_id : null;
  if (ensemble === null) return null;
  return (
    <Link
      to="/apps/$application/ensembles/$ensemble/runs/$run"
      params={{ application: run.application_id, ensemble, run: run.id }}
    >
      {ensemble}
    </Link>
  );
}
