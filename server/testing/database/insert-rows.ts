/**
 * Rows for tests below HTTP. Each function inserts one row whose columns have the values of a fresh one, unless `columns` says
 * otherwise, and returns its key.
 */
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type {
  AccountId,
  ApplicationId,
  ExecutableId,
  ExperimentId,
  RunId,
  WebhookId,
} from '@switchyard/contract/schemas/ids.ts';
import type { Insertable } from 'kysely';
import { NO_TRUST } from '../../apps/applications/html-trust.ts';
import type { Tables, Writer } from '../../platform/database/database.ts';
import { NOT_STARTED } from '../../runs/submit/not-started.ts';

type Columns<T extends keyof Tables> = Partial<Insertable<Tables[T]>>;

/** 15 January 2027, 08:00 UTC. */
const CREATED_AT = 1_800_000_000_000;
const ACCOUNT = 'account' as AccountId;

let rows = 0;

/** Returns a key that no other row of this process has. */
function nextKey(table: string): string {
  rows += 1;
  return `${table}-${rows}`;
}

/** Inserts an application; returns its uid. */
export async function insertApplication(tx: Writer, columns: Columns<'applications'> = {}): Promise<string> {
  const uid = columns.uid ?? nextKey('application');
  await tx
    .insertInto('applications')
    .values({
      account_id: ACCOUNT,
      id: 'app' as ApplicationId,
      name: 'app',
      description: '',
      type: 'custom',
      subscription_id: null,
      default_instance: 'latest',
      default_experiment_instance: 'latest',
      objective: null,
      indicators: null,
      baseline_run_id: null,
      active_executable_id: null,
      ...NO_TRUST,
      deleted_at: null,
      created_at: CREATED_AT,
      updated_at: CREATED_AT,
      ...columns,
      uid,
    })
    .execute();
  return uid;
}

/** Inserts a queued run; returns its id. */
export async function insertQueuedRun(tx: Writer, columns: Columns<'runs'> = {}): Promise<RunId> {
  const id = columns.id ?? (nextKey('run') as RunId);
  const application = 'app' as ApplicationId;
  await tx
    .insertInto('runs')
    .values({
      ...{ application_uid: 'application', account_id: ACCOUNT, application_id: application },
      ...{ instance_id: 'latest', version_id: '', executable_id: '' as ExecutableId, runtime: 'binary' },
      ...{ user_email: 'a@example.com', name: '', description: '', run_type: 'standard' },
      ...{ created_at: CREATED_AT, execution_class: EXECUTION_CLASS_DEFAULT, priority: PRIORITY_DEFAULT },
      ...{ queuing_disabled: 0, network: 0, workflow_depth: 0, input_format: 'json', output_format: 'json' },
      ...{ input_content_id: '', input_bytes: 0, options_summary: '[]', request_options: '{}' },
      ...NOT_STARTED,
      ...columns,
      ...{ id, status: 'queued' },
    })
    .execute();
  return id;
}

/** Inserts a webhook of every event; returns its uid. */
export async function insertWebhook(tx: Writer, columns: Columns<'webhooks'> = {}): Promise<string> {
  const uid = columns.uid ?? nextKey('webhook');
  await tx
    .insertInto('webhooks')
    .values({
      account_id: ACCOUNT,
      id: 'webhook' as WebhookId,
      event_types: '["run.status"]',
      endpoint_url: 'https://example.com/',
      given_locally: 0,
      description: '',
      secret: new Uint8Array(32),
      previous_secret: null,
      previous_until: null,
      disabled_at: null,
      created_by: '',
      created_by_key: null,
      created_at: CREATED_AT,
      updated_at: CREATED_AT,
      ...columns,
      uid,
    })
    .execute();
  return uid;
}

/** Inserts a status change of a run that no webhook knows of yet; returns the id of the run. */
export async function insertRunEvent(
  tx: Writer,
  columns: Columns<'run_events'> & Pick<Insertable<Tables['run_events']>, 'application_uid'>,
): Promise<RunId> {
  const run_id = columns.run_id ?? (nextKey('run') as RunId);
  await tx
    .insertInto('run_events')
    .values({ status: 'succeeded', at: CREATED_AT, pending: 1, ...columns, run_id })
    .execute();
  return run_id;
}

/** Inserts one event with each number, of the run whose id is `run-` and the number. */
export async function insertNumberedEvents(
  tx: Writer,
  application_uid: string,
  numbers: readonly number[],
): Promise<void> {
  const event = { application_uid, status: 'queued', at: 1, pending: 0 } as const;
  const rows = numbers.map((seq) => ({ ...event, seq, run_id: `run-${seq}` as RunId }));
  await tx.insertInto('run_events').values(rows).execute();
}

/** Inserts a started batch experiment without runs; returns its uid. */
export async function insertBatchExperiment(
  tx: Writer,
  columns: Columns<'experiments'> = {},
): Promise<string> {
  const uid = columns.uid ?? nextKey('experiment');
  await tx
    .insertInto('experiments')
    .values({
      ...{ application_uid: 'application', application_id: 'app' as ApplicationId, account_id: ACCOUNT },
      ...{ kind: 'batch', id: uid as ExperimentId, type: 'batch', name: '', description: '' },
      ...{ status: 'started', user_email: 'a@example.com', definition: '{}', requested: 1 },
      ...{ created_at: CREATED_AT, updated_at: CREATED_AT, started_at: CREATED_AT },
      ...{ completed_at: null, deleted_at: null },
      ...columns,
      uid,
    })
    .execute();
  return uid;
}
