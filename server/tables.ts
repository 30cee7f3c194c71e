/** Every table of the database, by room; the columns of each are in the `schema.ts` of its folder. */

import type { Generated } from 'kysely';
import type {
  AccountsTable,
  InstallationTable,
  KeysTable,
  MembersTable,
  RemovedMembersTable,
} from './accounts/account/schema.ts';
import type { AuditEntriesTable, AuditHeadTable } from './accounts/audit/schema.ts';
import type { DeviceAuthorizationsTable } from './accounts/device-authorizations/schema.ts';
import type { SessionsTable, SignInTicketsTable } from './accounts/sessions/schema.ts';
import type { SsoIdentitiesTable, SsoUsedStatesTable } from './accounts/sso/schema.ts';
import type {
  AccountLicensesTable,
  AccountQuotasTable,
  ApplicationQuotasTable,
  CostRatesTable,
  SlotMinutesTable,
  UsageDaysTable,
  UsageRecordsTable,
} from './accounts/usage/schema.ts';
import type { ApplicationsTable, ExecutablesTable } from './apps/applications/schema.ts';
import type { InstancesTable } from './apps/instances/schema.ts';
import type {
  AllowedWorkerTokensTable,
  MarketplaceAppsTable,
  MarketplaceVersionsTable,
  SubscriptionsTable,
} from './apps/marketplace/schema.ts';
import type { SecretsCollectionsTable } from './apps/secrets/schema.ts';
import type { UploadPartsTable, UploadsTable } from './apps/uploads/schema.ts';
import type { VersionsTable } from './apps/versions/schema.ts';
import type { EnsemblesTable, PlannedEnsemblesTable } from './experiments/ensembles/schema.ts';
import type { QuestionLooksTable } from './experiments/questions/schema.ts';
import type { AcceptanceTestsTable } from './experiments/store/acceptance-schema.ts';
import type {
  ExperimentEventsTable,
  ExperimentInputPropertiesTable,
  ExperimentInputsTable,
  ExperimentResultsTable,
  ExperimentsTable,
  SwitchbackDrawsTable,
  UnsettledExperimentsTable,
} from './experiments/store/schema.ts';
import type { BackupsTable } from './ops/health/schema.ts';
import type { RetentionPoliciesTable } from './ops/retention/schema.ts';
import type { QueueProblemsTable } from './ops/webhooks/queue-problems/schema.ts';
import type {
  WebhookConversationsTable,
  WebhookDeliveriesTable,
  WebhookEventsTable,
  WebhooksTable,
} from './ops/webhooks/schema.ts';
import type { BackupHoldsTable, ContentsTable, IdentityTable } from './platform/blobs/schema.ts';
import type { LeasesTable } from './platform/database/lease.ts';
import type { StoredResponsesTable } from './platform/http/handlers/idempotency.ts';
import type { InputSetInputsTable, InputSetsTable } from './runs/input-sets/schema.ts';
import type { InputsTable } from './runs/inputs/schema.ts';
import type { LogTimesTable } from './runs/logs/log-times.ts';
import type { ProvisionerStateTable, WorkerJobsTable } from './runs/provisioner/schema.ts';
import type { SeriesRow } from './runs/series/series-rows.ts';
import type { RunSharesTable } from './runs/shares/schema.ts';
import type {
  AssetsTable,
  CapturedRunsTable,
  DeletedExperimentRunsTable,
  DeletedUnitRunsTable,
  LogChunksTable,
  PlannedRunsTable,
  RunEventsTable,
  RunListenersTable,
  RunReplaysTable,
  RunRoutesTable,
  RunsTable,
  RunTagsTable,
} from './runs/store/schema.ts';
import type { RunValuesTable } from './runs/values/schema.ts';
import type { RunViewsTable } from './runs/views/schema.ts';
import type {
  LostWorkersTable,
  RegisteredJobsTable,
  WorkersTable,
  WorkerTokensTable,
} from './runs/workers/schema.ts';
import type { RunChildrenTable, RunFlowsTable } from './runs/workflows/schema.ts';

declare module './platform/database/database.ts' {
  interface Tables {
    // platform
    contents: ContentsTable;
    backup_holds: BackupHoldsTable;
    installation_identity: IdentityTable;
    leases: LeasesTable;
    answers: StoredResponsesTable;

    // accounts
    accounts: AccountsTable;
    keys: KeysTable;
    members: MembersTable;
    removed_members: RemovedMembersTable;
    installation: InstallationTable;
    audit_entries: AuditEntriesTable;
    audit_head: AuditHeadTable;
    device_authorizations: DeviceAuthorizationsTable;
    sessions: SessionsTable;
    sign_in_tickets: SignInTicketsTable;
    sso_identities: SsoIdentitiesTable;
    sso_used_states: SsoUsedStatesTable;
    usage_records: UsageRecordsTable;
    usage_days: UsageDaysTable;
    slot_minutes: SlotMinutesTable;
    cost_rates: CostRatesTable;
    account_quotas: AccountQuotasTable;
    account_licenses: AccountLicensesTable;
    application_quotas: ApplicationQuotasTable;

    // apps
    applications: ApplicationsTable;
    executables: ExecutablesTable;
    instances: InstancesTable;
    allowed_worker_tokens: AllowedWorkerTokensTable;
    marketplace_apps: MarketplaceAppsTable;
    marketplace_versions: MarketplaceVersionsTable;
    subscriptions: SubscriptionsTable;
    secrets_collections: SecretsCollectionsTable;
    uploads: UploadsTable;
    upload_parts: UploadPartsTable;
    versions: VersionsTable;

    // runs
    input_sets: InputSetsTable;
    input_set_inputs: InputSetInputsTable;
    inputs: InputsTable;
    run_log_times: LogTimesTable;
    worker_jobs: WorkerJobsTable;
    provisioner_state: ProvisionerStateTable;
    run_series: SeriesRow;
    run_shares: RunSharesTable;
    runs: RunsTable;
    run_replays: RunReplaysTable;
    run_tags: RunTagsTable;
    planned_runs: PlannedRunsTable;
    run_routes: RunRoutesTable;
    captured_runs: CapturedRunsTable;
    deleted_unit_runs: DeletedUnitRunsTable;
    deleted_experiment_runs: DeletedExperimentRunsTable;
    run_events: Omit<RunEventsTable, 'seq'> & { seq: Generated<number> };
    run_listeners: RunListenersTable;
    log_chunks: LogChunksTable;
    assets: AssetsTable;
    run_values: RunValuesTable;
    run_views: RunViewsTable;
    registered_jobs: RegisteredJobsTable;
    worker_tokens: WorkerTokensTable;
    workers: WorkersTable;
    lost_workers: LostWorkersTable;
    run_children: RunChildrenTable;
    run_flows: RunFlowsTable;

    // experiments
    ensembles: EnsemblesTable;
    planned_ensembles: PlannedEnsemblesTable;
    question_looks: QuestionLooksTable;
    acceptance_tests: AcceptanceTestsTable;
    experiment_events: Omit<ExperimentEventsTable, 'seq'> & { seq: Generated<number> };
    experiments: ExperimentsTable;
    experiment_inputs: ExperimentInputsTable;
    experiment_input_properties: ExperimentInputPropertiesTable;
    experiment_results: ExperimentResultsTable;
    unsettled_experiments: UnsettledExperimentsTable;
    switchback_draws: SwitchbackDrawsTable;

    // ops
    backups: BackupsTable;
    retention_policies: RetentionPoliciesTable;
    queue_problems: QueueProblemsTable;
    webhooks: WebhooksTable;
    webhook_events: WebhookEventsTable;
    webhook_deliveries: WebhookDeliveriesTable;
    webhook_conversations: WebhookConversationsTable;
  }
}
