/** The operations on workers and worker tokens, and those of the protocol of remote workers. */
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
import { drainWorker, endWorkerDrain, getWorkers } from './workers.ts';

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
