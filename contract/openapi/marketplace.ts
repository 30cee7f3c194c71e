/**
 * The operations for a subscriber of a subscription app: run it on their own inputs and read the results. A subscriber
 * can neither push, version or configure the app nor read its secrets. A separate document lists only these operations.
 */
import type { OperationId } from '../operations.ts';

/** In the order of the whole API. */
export const MARKETPLACE_OPERATIONS = [
  'getAccount',
  'listApplications',
  'getApplication',
  'listInstances',
  'getInstance',
  'createRun',
  'listRuns',
  'getRun',
  'getRunMetadata',
  'getRunInput',
  'getRunOutput',
  'getRunLogs',
  'getRunLiveLogs',
  'listRunAssets',
  'getRunAsset',
  'updateRun',
  'cancelRun',
  'deleteRun',
  'createRunUpload',
  'putUpload',
  'getDownload',
  'createInput',
  'listInputs',
  'getInput',
  'updateInput',
  'deleteInput',
  'getQueue',
] as const satisfies readonly OperationId[];
