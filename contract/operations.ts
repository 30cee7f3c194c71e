/** Every operation of the API, in the order the documentation shows them. */
import { createKey, getAccount, listKeys, revokeKey, updateAccount } from './account/account.ts';
import { streamAccountEvents } from './account/account-streams.ts';
import { createAccount, deleteAccount, getSignUp, listAccounts } from './account/accounts.ts';
import { getAuditHead, listAuditEntries } from './account/audit.ts';
import { getBackups } from './account/backups.ts';
import { getMemberInventory } from './account/inventory.ts';
import {
  acceptInvite,
  deleteMember,
  getMember,
  inviteMember,
  listMembers,
  renewInvite,
  updateMember,
} from './account/members.ts';
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  updateOrganization,
} from './account/organizations.ts';
import { getApplicationQuotas, getQuotas, setApplicationQuotas, setQuotas } from './account/quotas.ts';
import { getHealth, getMetrics, getReadiness } from './account/service.ts';
import { createSession, createSignInLink, endSession, listSessions } from './account/sessions.ts';
import {
  createShare,
  getSharedContent,
  getSharedRun,
  listAccountShares,
  listShares,
  revokeShare,
} from './account/share-links.ts';
import { signInOperations } from './account/sign-in/sign-in-operations.ts';
import { deleteCostRate, getUsage, setCostRate } from './account/usage.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  getWebhookConversation,
  getWebhookSecret,
  listWebhookConversations,
  listWebhooks,
  replayWebhookConversation,
  rotateWebhookSecret,
  triggerEvent,
  updateWebhook,
} from './account/webhooks.ts';
import {
  createApplication,
  deleteApplication,
  distrustHtmlAssets,
  getApplication,
  listApplications,
  trustHtmlAssets,
  updateApplication,
} from './applications/applications.ts';
import {
  activateBinary,
  getBinaryUpload,
  getExecutableFile,
  listExecutableFiles,
} from './applications/executables.ts';
import {
  createInputSet,
  deleteInputSet,
  getInputSet,
  listInputSets,
  updateInputSet,
} from './applications/input-sets.ts';
import { createInput, deleteInput, getInput, listInputs, updateInput } from './applications/inputs.ts';
import {
  createInstance,
  deleteInstance,
  getInstance,
  listInstances,
  setInstanceLock,
  updateInstance,
} from './applications/instances.ts';
import { getRetention, getStorage, previewRetention, setRetention } from './applications/retention.ts';
import {
  createSecretsCollection,
  deleteSecretsCollection,
  getSecretsCollection,
  listSecretsCollections,
  patchSecretsCollection,
  updateSecretsCollection,
} from './applications/secrets.ts';
import { appendUpload, createRunUpload, getDownload, getUpload, putUpload } from './applications/uploads.ts';
import {
  createVersion,
  deleteVersion,
  getVersion,
  listVersions,
  updateVersion,
} from './applications/versions.ts';
import { acceptanceOperations } from './experiments/acceptance-tests.ts';
import { batchOperations } from './experiments/batch-experiments.ts';
import { bisectOperations } from './experiments/bisect/bisect-experiments.ts';
import { planBisectExperiment } from './experiments/bisect/bisect-plans.ts';
import { planExperiment } from './experiments/experiment-plans.ts';
import { listExperimentSummaries } from './experiments/experiment-summaries.ts';
import { shadowOperations } from './experiments/shadow-tests.ts';
import { switchbackOperations } from './experiments/switchback-tests.ts';
import { getLicenses, setLicenses } from './licenses.ts';
import { getCommunityFile } from './marketplace/community.ts';
import {
  createMarketplaceApp,
  createMarketplaceVersion,
  getMarketplaceApp,
  getMarketplaceVersion,
  listMarketplaceApps,
  listMarketplaceVersions,
  listPartnerApps,
  updateMarketplaceApp,
  updateMarketplaceVersion,
} from './marketplace/marketplace-apps.ts';
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  listSubscriptions,
} from './marketplace/subscriptions.ts';
import { getRunAsset, listRunAssets } from './runs/assets.ts';
import {
  createEnsemble,
  deleteEnsemble,
  getEnsemble,
  getRunEnsemble,
  listEnsembles,
  updateEnsemble,
} from './runs/ensembles.ts';
import { getRunFlow, updateRunFlow } from './runs/flow.ts';
import { getRunLogTimes, searchLogs, searchRunLog } from './runs/logs/log-search.ts';
import { getQueue } from './runs/queue.ts';
import { listRunReplays, replayRun } from './runs/replays.ts';
import { countRuns, listApplicationSummaries } from './runs/run-counts.ts';
import { getRunLiveLogs, getRunLogs } from './runs/run-logs.ts';
import { getRunSeries } from './runs/run-series.ts';
import { streamRunEvents } from './runs/run-streams.ts';
import { getRunTags, listTags, setRunTags } from './runs/run-tags.ts';
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
} from './runs/runs.ts';
import { createRunView, deleteRunView, listRunViews, updateRunView } from './runs/views/run-views.ts';
import { getProvisioner } from './workers/provisioner.ts';
import { workerOperations } from './workers/worker-operations.ts';

export const operations = {
  getAccount,
  updateAccount,
  streamAccountEvents,
  createKey,
  listKeys,
  revokeKey,
  inviteMember,
  listMembers,
  getMember,
  getMemberInventory,
  updateMember,
  deleteMember,
  renewInvite,
  acceptInvite,
  listAuditEntries,
  getAuditHead,
  getUsage,
  setCostRate,
  deleteCostRate,
  getQuotas,
  setQuotas,
  getApplicationQuotas,
  setApplicationQuotas,
  getLicenses,
  setLicenses,
  getBackups,
  getSignUp,
  createAccount,
  listAccounts,
  deleteAccount,
  createOrganization,
  getOrganization,
  updateOrganization,
  deleteOrganization,
  createSignInLink,
  createSession,
  listSessions,
  endSession,
  ...signInOperations,
  createApplication,
  listApplications,
  listApplicationSummaries,
  getApplication,
  updateApplication,
  trustHtmlAssets,
  distrustHtmlAssets,
  deleteApplication,
  getBinaryUpload,
  activateBinary,
  listExecutableFiles,
  getExecutableFile,
  createVersion,
  listVersions,
  getVersion,
  updateVersion,
  deleteVersion,
  createInstance,
  listInstances,
  getInstance,
  updateInstance,
  setInstanceLock,
  deleteInstance,
  createSecretsCollection,
  listSecretsCollections,
  getSecretsCollection,
  updateSecretsCollection,
  patchSecretsCollection,
  deleteSecretsCollection,
  getRetention,
  setRetention,
  previewRetention,
  getStorage,
  createRun,
  listRuns,
  countRuns,
  getRun,
  getRunMetadata,
  getRunInput,
  getRunOutput,
  getRunLogs,
  getRunLiveLogs,
  searchRunLog,
  getRunLogTimes,
  searchLogs,
  getRunSeries,
  streamRunEvents,
  listRunAssets,
  getRunAsset,
  replayRun,
  listRunReplays,
  updateRun,
  cancelRun,
  deleteRun,
  getRunFlow,
  updateRunFlow,
  getRunTags,
  setRunTags,
  listTags,
  listRunViews,
  createRunView,
  updateRunView,
  deleteRunView,
  createShare,
  listAccountShares,
  listShares,
  revokeShare,
  getSharedRun,
  getSharedContent,
  createRunUpload,
  getQueue,
  getProvisioner,
  ...workerOperations,
  putUpload,
  getUpload,
  appendUpload,
  getDownload,
  createInput,
  listInputs,
  getInput,
  updateInput,
  deleteInput,
  createInputSet,
  listInputSets,
  getInputSet,
  updateInputSet,
  deleteInputSet,
  createEnsemble,
  listEnsembles,
  getEnsemble,
  updateEnsemble,
  deleteEnsemble,
  getRunEnsemble,
  ...shadowOperations,
  ...switchbackOperations,
  ...batchOperations,
  ...acceptanceOperations,
  planExperiment,
  listExperimentSummaries,
  planBisectExperiment,
  ...bisectOperations,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  getWebhookSecret,
  rotateWebhookSecret,
  listWebhookConversations,
  getWebhookConversation,
  replayWebhookConversation,
  triggerEvent,
  listMarketplaceApps,
  listPartnerApps,
  createMarketplaceApp,
  getMarketplaceApp,
  updateMarketplaceApp,
  listMarketplaceVersions,
  createMarketplaceVersion,
  getMarketplaceVersion,
  updateMarketplaceVersion,
  createSubscription,
  listSubscriptions,
  getSubscription,
  deleteSubscription,
  getCommunityFile,
  getHealth,
  getReadiness,
  getMetrics,
} as const;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
