/** The run, the experiment and the problem in test events. */

import type {
  ExperimentInfo,
  QueueProblemInfo,
  RunInfo,
} from '@switchyard/contract/account/webhook-schemas.ts';
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';

const EXAMPLE_RUN_ID = 'run-example' as RunId;

/** Returns a succeeded run that does not exist, in the form in which events contain runs. */
export function createExampleRun(email: string, at: number): RunInfo {
  return {
    id: EXAMPLE_RUN_ID,
    user_email: email,
    name: 'An example',
    description: 'Made up to try a webhook; there is no such run.',
    status: 'succeeded',
    status_v2: 'succeeded',
    created_at: formatRfc3339(at),
    application_id: 'application-example',
    application_instance_id: 'latest',
    application_version_id: '',
    run_type: { type: 'standard', definition_id: null, reference_id: null },
    execution_class: EXECUTION_CLASS_DEFAULT,
    runtime: 'node',
    queuing_priority: PRIORITY_DEFAULT,
    queuing_disabled: false,
    statistics: { status: 'success', error: '', indicators: [{ name: 'result.value', value: 42 }] },
  };
}

/** Returns a completed experiment that does not exist, in the form in which events contain experiments. */
export function createExampleExperiment(email: string, at: number): ExperimentInfo {
  return {
    id: 'experiment-example',
    application_id: 'application-example',
    type: 'batch',
    name: 'An example',
    description: 'Made up to try a webhook; there is no such experiment.',
    status: 'completed',
    user_email: email,
    created_at: formatRfc3339(at),
    updated_at: formatRfc3339(at),
  };
}

/** Returns a problem that does not exist, in the form in which events contain it. */
export function createExampleProblem(publicUrl: string, at: number): QueueProblemInfo {
  return {
    id: 'problem-example',
    kind: 'run_waiting',
    status: 'begun',
    message: 'Made up to try a webhook; no run waits.',
    remedy: 'Nothing to do.',
    since: formatRfc3339(at),
    count: 1,
    run_ids: [EXAMPLE_RUN_ID],
    worker_ids: [],
    console_url: `${publicUrl}/console/queue`,
  };
}
