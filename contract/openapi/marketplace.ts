/**
 * What a subscriber of a subscription app may call: run it on inputs of their own and read what comes of it, but neither
 * push, version or configure it nor see its secrets. A document of its own shows these operations alone.
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
