/** The operations on workers and worker tokens, and those of the protocol of remote workers. */
import { drainWorker, endWorkerDrain, getWorkers } from '../account/workers.ts';
import {
  checkWorkerProtocol,
  endAttempt,
  leaveWorker,
  proveAttempt,
  putAttemptFile,
  registerWorker,
  syncWorker,
  writeAttemptLog,
} from './worker-protocol.ts';
import { createWorkerToken, getWorkerTokens, revokeWorkerToken } from './worker-tokens.ts';

export const workerOperations = {
  getWorkers,
  drainWorker,
  endWorkerDrain,
  createWorkerToken,
  getWorkerTokens,
  revokeWorkerToken,
  checkWorkerProtocol,
  registerWorker,
  syncWorker,
  leaveWorker,
  proveAttempt,
  writeAttemptLog,
  putAttemptFile,
  endAttempt,
} as const;
