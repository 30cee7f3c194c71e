/** Tables of runs, their events, log chunks, assets, plans and routes. The queue is the table of runs: no status is stored twice. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { RunOwnerType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { STATISTICS_STATUSES } from '@switchyard/contract/runs/run-reports.ts';
import type { RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type {
  AccountId,
  ApplicationId,
  AssetId,
  ExecutableId,
  ExperimentId,
  InputId,
  KeyId,
  RunId,
  SecretsCollectionId,
} from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';

export const QUEUED = sql.lit<'queued'>('queued');
export const RUNNING = sql.lit<'running'>('running');

export interface RunsTable {
  id: RunId;
  application_uid: string;
  account_id: AccountId;
  application_id: ApplicationId;
  instance_id: string;
  /** Empty for `latest`. */
  version_id: string;
  /** Empty for an external run of an application without an executable. */
  executable_id: ExecutableId;
  user_email: string;
  /** The key that requested it, or the workflow, ensemble or experiment above it; null when it is unknown. */
  created_by_key: KeyId | null;
  name: string;
  description: string;
  status: RunStatusV2;
  created_at: number;
  run_type: RunTypeName;
  definition_id: string | null;
  reference_id: string | null;
  execution_class: ExecutionClass;
  /** In seconds; null for that of the execution class. */
  max_duration: number | null;
  priority: number;
  queuing_disabled: 0 | 1;
  runtime: string;
  input_format: FormatType;
  output_format: FormatType;
  input_content_id: string;
  input_bytes: number;
  /** The run whose output the app starts from, which may be deleted; null for none. */
  previous_run_id: RunId | null;
  /** That output, under an id of this run. */
  previous_content_id: string | null;
  previous_format: FormatType | null;
  /** `[{name, value, source}]` in JSON: every option of the app. */
  options_summary: string;
  /** The options of the request, in JSON. */
  request_options: string;
  network: 0 | 1;
  /** Its secrets are read when the app is started; null for none. */
  secrets_collection_id: SecretsCollectionId | null;
  /** The managed input whose content it shares; it may be deleted. */
  input_id: InputId | null;
  /** As the request gave it. */
  cloned_run_id: string | null;
  /** The experiment of the run, by its key and by its id in the API; null for none. */
  experiment_uid: string | null;
  experiment_id: ExperimentId | null;
  experiment_type: RunOwnerType | null;
  /** 1 for a child run of an experiment's run, at any depth, which is no run of the experiment itself. */
  child_of_experiment: 1 | null;
  /** The unit of the switchback test that sent the run to its instance. */
  plan_unit_index: number | null;
  /** The ensemble run of a child run, the original of a shadow copy, or the run whose app created it. */
  parent_run_id: RunId | null;
  /** The ids of the applications that its app can reach through the API, in JSON; null without access. */
  api_access: string | null;
  /** The labels that its worker must have (queue/run-requirements.ts); null for none. */
  required_labels: string | null;
  /** The licence tokens that it occupies while a worker holds its lease, by the name of the licence, in JSON; null for none. */
  required_licenses: string | null;
  /** The number of runs above it: the one that created it, the one that created that one, and so on. */
  workflow_depth: number;
  /** The WorkflowName of the run whose app created it, in JSON; null for any other run. */
  workflow: string | null;
  /** The labels of its owner (labels.ts), in JSON. */
  labels: string | null;
  /** Of an ensemble run: its run groups and rules, and the evaluation of the rules; in JSON. */
  ensemble: string | null;
  rules_result: string | null;
  /** The span that created it (trace-context.ts); null when no caller sent one and the server exports none. */
  trace_context: string | null;

  /** The number of attempts that count. */
  attempt: number;
  /** The number of attempts that faults of the host ended; they do not count. */
  host_faults: number;
  /** The earliest time of the next claim; null for any time. */
  retry_at: number | null;
  /** When it was queued again; null before its second attempt. */
  requeued_at: number | null;
  /** Its lost attempts (leases.ts); null without any. */
  lost_attempts: string | null;
  /** The last fault of the host; null when there was none. */
  host_fault: string | null;
  /** The fencing token: it grows with every claim, and a worker with an older one may not write. */
  fence: number;
  worker_id: string | null;
  cancel_requested_at: number | null;
  /** When this attempt gave up its slot, because its app had created a run to wait for; null while it holds one. */
  slot_released_at: number | null;

  initiated_at: number | null;
  finished_at: number | null;
  execution_ms: number | null;
  output_content_id: string | null;
  output_bytes: number;
  error: string;
  /** App output on stdout, when that is not the output of the run. */
  stdout_content_id: string | null;
  log_content_id: string | null;
  statistics_status: (typeof STATISTICS_STATUSES)[number];
  statistics_error: string;
  /** `[{name, value}]` in JSON. */
  indicators: string;
  /** The statistics block, in JSON. */
  statistics: string | null;
  metrics: string | null;
  /** The error that kept `metrics` from producing indicators; empty when there was none, null without metrics. */
  metrics_error: string | null;
  /** The reason why assets were omitted; null when none was. */
  assets_error: string | null;
  containment: '' | 'sandbox' | 'limits';
  /** `{cores, memory_bytes, duration_ms}` in JSON, from the start of the app on. */
  limits: string | null;
  /** The version of Node, Python or Java that executed it, once the run has ended. */
  runtime_version: string | null;
  /** The StartConditions (start-conditions.ts) of a run of an experiment in JSON, once it has ended; else null. */
  start_conditions: string | null;
  peak_memory_bytes: number | null;
}

/** A status transition of a run, inserted in the transaction of the transition. */
export interface RunEventsTable {
  seq: number;
  run_id: RunId;
  application_uid: string;
  status: RunStatusV2;
  at: number;
  /** 1 until the event is fanned out to the listeners of the account; see RunListenersTable. */
  pending: 0 | 1;
}

/** Accounts with listeners to run events. An event of another account costs one lookup in this table. */
export interface RunListenersTable {
  account_id: AccountId;
}

/** Log lines in the order of their arrival, several to a row. */
export interface LogChunksTable {
  run_id: RunId;
  /** Grows within a run, also from one attempt to the next. */
  seq: number;
  at: number;
  /** `[[microseconds since the epoch, text], …]` in JSON. */
  lines: string;
  /** Lines and characters of the attempt up to the end of this chunk. */
  lines_so_far: number;
  chars_so_far: number;
}

/** Assets that an app stored with its solution. */
export interface AssetsTable {
  run_id: RunId;
  id: AssetId;
  /** Position in the list of the app. */
  position: number;
  name: string;
  description: string;
  /** Its visualization in JSON. */
  visual: string | null;
  bytes: number;
  content_id: string;
  created_at: number;
}

/** A planned run: see planned-runs.ts. */
export interface PlannedRunsTable {
  /** The experiment, or the ensemble run, that owns it. */
  owner_uid: string;
  /** Its position among the planned runs of its owner. */
  position: number;
  application_uid: string;
  planned_at: number;
  user_email: string;
  created_by_key: KeyId | null;
  name: string;
  /** Empty for a run that names only a version. */
  instance_id: string;
  version_id: string;
  /** The ensemble whose run it is to be; null for a standard run. */
  definition_id: string | null;
  /** The options of the run, in JSON. */
  options: string;
  priority: number | null;
  /** In seconds. */
  max_duration: number | null;
  content_id: string;
  input_format: FormatType;
  input_id: InputId | null;
  experiment_uid: string | null;
  experiment_id: ExperimentId | null;
  experiment_type: RunOwnerType | null;
  parent_run_id: RunId | null;
  labels: string | null;
  /** The error that prevents its run; empty when it is to be submitted. */
  error: string;
}

/** The rule of a started test for the runs of an instance: see routes.ts. */
export interface RunRoutesTable {
  application_uid: string;
  /** `latest` under its one name. */
  instance_id: string;
  kind: 'shadow' | 'switchback';
  experiment_uid: string;
  experiment_id: string;
  /** A ShadowRoute or SwitchbackRoute, in JSON. */
  rule: string;
}

/** A run that a shadow test is to copy, inserted in the transaction of the run. */
export interface CapturedRunsTable {
  experiment_uid: string;
  run_id: RunId;
  application_uid: string;
  at: number;
}

/** The number of deleted runs of a unit of a switchback test: without it, a deleted run would leave no trace. */
export interface DeletedUnitRunsTable {
  experiment_uid: string;
  plan_unit_index: number;
  runs: number;
}

/** A deleted run of a batch or a bisect experiment, as far as the results read it: its pair has no outcome. */
export interface DeletedExperimentRunsTable
  extends Pick<RunsTable, 'instance_id' | 'version_id' | 'definition_id' | 'input_id' | 'labels'> {
  experiment_uid: string;
  run_id: RunId;
}

/** A run that repeats another run of the application. */
export interface RunReplaysTable {
  /** The replay. */
  run_id: RunId;
  application_uid: string;
  original_run_id: RunId;
  created_at: number;
  /** A ReplayComparison in JSON; null until the replay has ended and is compared. */
  comparison: string | null;
}

/** A tag of a run. */
export interface RunTagsTable {
  run_id: RunId;
  tag: string;
}
