import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { findClassLimits } from '../../ui/resources/class-limits.ts';
import { RunLink } from '../../ui/run-link.tsx';
import { useRight } from '../../ui/use-right.ts';
import { formatCost } from '../usage/format-measures.ts';
import { usageQuery } from '../usage/queries.ts';
import styles from './run-page.module.css';

/** The facts of a run: its creator, instance, version, times and origin. */
export function RunFacts({ run }: { run: RunInformation }) {
  const { metadata } = run;
  const origin = metadata.tracking?.cloned_run_id;
  return (
    <dl className={styles.facts}>
      <Fact name="Created">
        <RelativeTime at={run.created_at} />
      </Fact>
      {run.user_email !== '' && <Fact name="By">{run.user_email}</Fact>}
      <Fact name="Instance">{run.application_instance_id || 'latest'}</Fact>
      <Fact name="Version">{run.application_version_id || 'latest'}</Fact>
      <Times run={run} />
      <Fact name="Class">{run.execution_class}</Fact>
      {isTerminal(run.status_v2) && run.run_type.type === 'standard' && <Cost run={run} />}
      {run.run_type.type !== 'standard' && (
        <Fact name="Type">
          {run.run_type.type} <EnsembleLink run={run} />
        </Fact>
      )}
      {metadata.experiment_id !== undefined && (
        <Fact name="Experiment">
          <ExperimentLink run={run} experiment={metadata.experiment_id} />
        </Fact>
      )}
      {run.parent_run_id !== undefined && run.parent_application_id !== undefined && (
        <Fact name="Workflow">
          <RunLink application={run.parent_application_id} run={run.parent_run_id}>
            <bdi>{run.workflow_name}</bdi>
          </RunLink>
        </Fact>
      )}
      {origin !== undefined && (
        <Fact name="Repeats">
          <RunLink application={run.application_id} run={origin}>
            {origin}
          </RunLink>
        </Fact>
      )}
    </dl>
  );
}

/** The time that the app took, and the time in the queue. */
function Times({ run: { metadata, duration } }: { run: RunInformation }) {
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + duration);
  return (
    <>
      {ran !== null && <Fact name="Run time">{formatDuration(ran)}</Fact>}
      {waited !== null && <Fact name="Waited">{formatDuration(waited)}</Fact>}
    </>
  );
}

const SECOND_MS = 1_000;
const HOUR_S = 3_600;

/** The core time that the run has reserved, and its price for the administrators, who may know the rate. */
function Cost({ run: { metadata } }: { run: RunInformation }) {
  const { data } = useQuery({ ...usageQuery(1, 'day'), enabled: useRight('account'), staleTime: Infinity });
  const { cores = 0 } = findClassLimits(metadata.execution_class) ?? {};
  const coreMs = metadata.execution_duration * cores;
  const rate = data?.cost_rate ?? null;
  const cost = rate && (coreMs / SECOND_MS / HOUR_S) * rate.per_core_hour;
  return (
    <Fact name="Cost">
      {cost !== null && `${formatCost(cost, rate)} · `}
      {formatDuration(coreMs)} of core time
    </Fact>
  );
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

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}
