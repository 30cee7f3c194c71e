/** Every operation of the API, in the order the documentation shows them. */
import { createKey, getAccount, listKeys, revokeKey, updateAccount } from './account.ts';
import { createAccount, deleteAccount, getSignUp, listAccounts } from './accounts.ts';
import {
  createApplication,
  deleteApplication,
  getApplication,
  listApplications,
  updateApplication,
} from './applications.ts';
import { getRunAsset, listRunAssets } from './assets.ts';
import { activateBinary, getBinaryUpload } from './executables.ts';
import { createInput, deleteInput, getInput, listInputs, updateInput } from './inputs.ts';
import { createInstance, deleteInstance, getInstance, listInstances, updateInstance } from './instances.ts';
import {
  acceptInvite,
  deleteMember,
  getMember,
  inviteMember,
  listMembers,
  renewInvite,
  updateMember,
} from './members.ts';
import { getQueue } from './queue.ts';
import { getRunLiveLogs, getRunLogs } from './run-logs.ts';
import {
  cancelRun,
  createRun,
  deleteRun,
  getRun,
  getRunInput,
  getRunMetadata,
  getRunOutput,
  listRuns,
  updateRun,
} from './runs.ts';
import {
  createSecretsCollection,
  deleteSecretsCollection,
  getSecretsCollection,
  listSecretsCollections,
  patchSecretsCollection,
  updateSecretsCollection,
} from './secrets.ts';
import { getHealth, getMetrics, getReadiness } from './service.ts';
import { createRunUpload, getDownload, putUpload } from './uploads.ts';
import { createVersion, deleteVersion, getVersion, listVersions, updateVersion } from './versions.ts';

export const operations = {
  getAccount,
  updateAccount,
  createKey,
  listKeys,
  revokeKey,
  inviteMember,
  listMembers,
  getMember,
  updateMember,
  deleteMember,
  renewInvite,
  acceptInvite,
  getSignUp,
  createAccount,
  listAccounts,
  deleteAccount,
  createApplication,
  listApplications,
  getApplication,
  updateApplication,
  deleteApplication,
  getBinaryUpload,
  activateBinary,
  createVersion,
  listVersions,
  getVersion,
  updateVersion,
  deleteVersion,
  createInstance,
  listInstances,
  getInstance,
  updateInstance,
  deleteInstance,
  createSecretsCollection,
  listSecretsCollections,
  getSecretsCollection,
  updateSecretsCollection,
  patchSecretsCollection,
  deleteSecretsCollection,
  createRun,
  listRuns,
  getRun,
  getRunMetadata,
  getRunInput,
  getRunOutput,
  getRunLogs,
  getRunLiveLogs,
  listRunAssets,
  getRunAsset,
  updateRun,
  cancelRun,
  deleteRun,
  createRunUpload,
  getQueue,
  putUpload,
  getDownload,
  createInput,
  listInputs,
  getInput,
  updateInput,
  deleteInput,
  getHealth,
  getReadiness,
  getMetrics,
} as const;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
