/** Request bodies of workers and worker tokens for tests that change every field. */

const FILE = { bytes: 2, content: 'e30=', file_id: null };
const SERIES_ROW = { seq: 100_000_001, part: { series: [], phases: [] } };

/** For each operation on worker tokens and of the protocol, a body with every field of its schema. */
export const COMPLETE_WORKER_BODIES = {
  createWorkerToken: { name: 'Any name', applications: null, labels: ['gpu'], all_accounts: true },
  registerWorker: {
    version: '1.7.0',
    host: 'node-7',
    folder_id: 'any-folder',
    containment: 'sandbox',
    slots: { shared: 4, per_class: { '8c16gb12h': 1 } },
    resources: { cores: 16, memory_bytes: 64_000_000_000 },
    scratch_bytes: 1_000_000,
    labels: ['gpu'],
    job_id: 'job-7',
  },
  syncWorker: {
    attempts: [{ run_id: 'any', fence: 1, state: 'running' }],
    free: [{ execution_classes: ['8c16gb12h'], slots: 3 }],
    workflow_capacity: [16],
    draining: false,
    stopping: false,
    wait_ms: 0,
  },
  proveAttempt: { endpoint: 'http://127.0.0.1:4747' },
  writeAttemptLog: {
    chunks: [{ seq: 100_000_001, at: 1_763_625_600_000, lines: [[1_763_625_600_000_000, 'solved']] }],
    series: { replacement: SERIES_ROW, addition: SERIES_ROW },
  },
  endAttempt: {
    outcome: {
      kind: 'ended',
      error: '',
      is_host_fault: false,
      unreadable: null,
      app: {
        ...{ succeeded: true, reason: 'exit', exit_code: 0, signal: null, started_at: 1, ended_at: 2 },
        ...{ execution_ms: 1, peak_memory_bytes: 1, containment: 'sandbox', is_log_truncated: false },
        ...{ stdout: FILE, stderr: FILE, solutions: null, statistics: null, metrics: null, assets: null },
      },
    },
    log: { batches: [{ chunks: [], series: { replacement: null, addition: null } }], times: '' },
    limits: { cores: 1, memory_bytes: 1, duration_ms: 1 },
    runtime_version: 'v24.0.0',
    start_conditions: { host: 'any', concurrent_runs: 1, load: 0.5 },
    secret_values: ['any'],
    stopping: false,
  },
};
