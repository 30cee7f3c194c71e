/** Request bodies for tests that expect each operation to succeed. */
import type { OperationId } from '@switchyard/contract/operations.ts';
import { ENSEMBLE } from './experiments.ts';

export const SECRET = { type: 'env', location: 'KEY', value: 'treasure' } as const;

/** For operations with a body, one that they accept. */
export const VALID_BODIES: Partial<Record<OperationId, unknown>> = {
  planExperiment: { difference: { type: 'relative', value: 0.05 }, within_input: 0.1 },
  createKey: { name: 'Any name', role: 'viewer' },
  updateAccount: { name: 'New name' },
  setRetention: { keep_days: 30 },
  createShare: { parts: ['output'] },
  setRunTags: { tags: ['a'] },
  createRunView: { name: 'Any name', table: {} },
  updateRunView: { name: 'New name' },
  setQuotas: { concurrent_runs: 100, core_hours_per_month: 1000 },
  setApplicationQuotas: { concurrent_runs: 100, core_hours_per_month: 1000 },
  setCostRate: { currency: 'EUR', per_core_hour: 0.05 },
  createSession: {},
  updateMember: { name: 'New name' },
  createAccount: { name: 'Any name', email: 'eve@example.com' },
  createApplication: { name: 'Any name' },
  updateApplication: { name: 'New name' },
  activateBinary: { requirements: { executable_type: 'node', runtime: 'node' } },
  createVersion: { name: 'Any name' },
  updateVersion: { name: 'New name' },
  createInstance: { name: 'Any name', version_id: 'v1' },
  updateInstance: { name: 'New name' },
  setInstanceLock: { locked: false },
  createSecretsCollection: { name: 'Any name', secrets: [SECRET] },
  updateSecretsCollection: { secrets: [SECRET] },
  patchSecretsCollection: { operations: [{ op: 'update', ...SECRET }] },
  createRun: { input: {} },
  updateRun: { name: 'New name' },
  updateInput: { name: 'New name' },
  updateInputSet: { name: 'New name' },
  createEnsemble: { id: 'better', ...ENSEMBLE },
  updateEnsemble: { name: 'New name' },
  updateShadowTest: { name: 'New name' },
  updateSwitchbackTest: { name: 'New name' },
  stopShadowTest: { intent: 'complete' },
  createBatchExperiment: { id: 'another', name: 'Any name', input_set_id: 'peaks', instance_ids: ['i1'] },
  updateBatchExperiment: { name: 'New name' },
  updateBisectExperiment: { name: 'New name' },
  updateAcceptanceTest: { name: 'New name' },
  updateWebhook: { description: 'New' },
  triggerEvent: { event_type: 'run.status' },
};
