/** The columns of execution and results of a run that has not started. */
export const NOT_STARTED = {
  attempt: 0,
  host_faults: 0,
  retry_at: null,
  host_fault: null,
  fence: 0,
  worker_id: null,
  cancel_requested_at: null,
  slot_released_at: null,
  initiated_at: null,
  finished_at: null,
  execution_ms: null,
  output_content_id: null,
  output_bytes: 0,
  error: '',
  stdout_content_id: null,
  log_content_id: null,
  statistics_status: 'none',
  statistics_error: '',
  indicators: '[]',
  statistics: null,
  metrics: null,
  metrics_error: null,
  assets_error: null,
  containment: '',
  limits: null,
  runtime_version: null,
  start_conditions: null,
  peak_memory_bytes: null,
} as const;

/** The columns of a run that no worker executes: what its app would get or need. */
export const NOT_EXECUTED = {
  api_access: null,
  secrets_collection_id: null,
  required_labels: null,
  required_licenses: null,
} as const;
