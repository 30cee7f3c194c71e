/** Checks each role against each operation, by the table of rights in the specification. */
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { ROLES, type Role } from '@switchyard/contract/roles.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';

/** The roles that have each right. */
const ROWS = {
  server: ['root'],
  account: ['root', 'admin'],
  ownKeys: ['root', 'admin', 'developer', 'operator', 'viewer'],
  ownViews: ['root', 'admin', 'developer', 'operator', 'viewer'],
  read: ['root', 'admin', 'developer', 'operator', 'viewer'],
  run: ['root', 'admin', 'developer', 'operator'],
  experiment: ['root', 'admin', 'developer', 'operator'],
  write: ['root', 'admin', 'developer'],
  readSecrets: ['root', 'admin', 'developer'],
  work: [],
} as const satisfies Record<string, readonly Role[]>;

/**
 * The right that each operation needs. `public` operations carry their credential in the request or need none. `visitor`
 * operations need no token, but validate one that is sent.
 */
const RIGHTS: Record<OperationId, keyof typeof ROWS | 'public' | 'visitor'> = {
  getAccount: 'read',
  updateAccount: 'account',
  streamAccountEvents: 'read',
  createKey: 'ownKeys',
  listKeys: 'ownKeys',
  revokeKey: 'ownKeys',
  inviteMember: 'account',
  listMembers: 'read',
  getMember: 'read',
  getMemberInventory: 'account',
  updateMember: 'account',
  deleteMember: 'account',
  renewInvite: 'account',
  acceptInvite: 'public',
  listAuditEntries: 'account',
  getAuditHead: 'account',
  getUsage: 'account',
  setCostRate: 'account',
  deleteCostRate: 'account',
  getQuotas: 'read',
  setQuotas: 'account',
  getApplicationQuotas: 'read',
  setApplicationQuotas: 'account',
  getLicenses: 'read',
  setLicenses: 'account',
  getBackups: 'account',
  getSignUp: 'public',
  createAccount: 'visitor',
  listAccounts: 'server',
  deleteAccount: 'server',
  listMarketplaceApps: 'read',
  listPartnerApps: 'read',
  createMarketplaceApp: 'account',
  getMarketplaceApp: 'read',
  updateMarketplaceApp: 'account',
  listMarketplaceVersions: 'read',
  createMarketplaceVersion: 'account',
  getMarketplaceVersion: 'read',
  updateMarketplaceVersion: 'account',
  createSubscription: 'write',
  listSubscriptions: 'read',
  getSubscription: 'read',
  deleteSubscription: 'write',
  getCommunityFile: 'read',
  createOrganization: 'account',
  getOrganization: 'read',
  updateOrganization: 'account',
  deleteOrganization: 'server',
  createSignInLink: 'ownKeys',
  createSession: 'visitor',
  listSessions: 'ownKeys',
  endSession: 'ownKeys',
  startDeviceAuthorization: 'public',
  getDeviceAuthorizationStatus: 'public',
  redeemDeviceAuthorization: 'public',
  getDeviceAuthorization: 'ownKeys',
  approveDeviceAuthorization: 'ownKeys',
  denyDeviceAuthorization: 'ownKeys',
  getSingleSignOn: 'public',
  startSingleSignOn: 'public',
  getSsoDomain: 'public',
  listOwnOrganizations: 'read',
  createApplication: 'write',
  listApplications: 'read',
  listApplicationSummaries: 'read',
  listExperimentSummaries: 'read',
  getApplication: 'read',
  updateApplication: 'write',
  trustHtmlAssets: 'account',
  distrustHtmlAssets: 'account',
  deleteApplication: 'write',
  getBinaryUpload: 'write',
  activateBinary: 'write',
  listExecutableFiles: 'write',
  getExecutableFile: 'write',
  createVersion: 'write',
  listVersions: 'read',
  getVersion: 'read',
  updateVersion: 'write',
  deleteVersion: 'write',
  createInstance: 'write',
  listInstances: 'read',
  getInstance: 'read',
  updateInstance: 'write',
  setInstanceLock: 'write',
  deleteInstance: 'write',
  createSecretsCollection: 'write',
  listSecretsCollections: 'read',
  getSecretsCollection: 'readSecrets',
  updateSecretsCollection: 'write',
  patchSecretsCollection: 'write',
  deleteSecretsCollection: 'write',
  getRetention: 'read',
  setRetention: 'account',
  previewRetention: 'account',
  getStorage: 'account',
  getRunFlow: 'read',
  updateRunFlow: 'run',
  getRunTags: 'read',
  setRunTags: 'run',
  listTags: 'read',
  listRunViews: 'read',
  createRunView: 'ownViews',
  updateRunView: 'ownViews',
  deleteRunView: 'ownViews',
  createShare: 'run',
  listShares: 'run',
  listAccountShares: 'account',
  revokeShare: 'run',
  getSharedRun: 'public',
  getSharedContent: 'public',
  createRun: 'run',
  listRuns: 'read',
  countRuns: 'read',
  getRun: 'read',
  getRunMetadata: 'read',
  getRunInput: 'read',
  getRunOutput: 'read',
  getRunLogs: 'read',
  getRunLiveLogs: 'read',
  searchRunLog: 'read',
  getRunLogTimes: 'read',
  searchLogs: 'read',
  getRunSeries: 'read',
  streamRunEvents: 'read',
  listRunAssets: 'read',
  getRunAsset: 'read',
  replayRun: 'run',
  listRunReplays: 'read',
  updateRun: 'run',
  cancelRun: 'run',
  deleteRun: 'run',
  createRunUpload: 'run',
  getQueue: 'read',
  getWorkers: 'read',
  getProvisioner: 'read',
  drainWorker: 'run',
  createWorkerToken: 'account',
  getWorkerTokens: 'account',
  revokeWorkerToken: 'account',
  checkWorkerProtocol: 'work',
  registerWorker: 'work',
  syncWorker: 'work',
  leaveWorker: 'work',
  proveAttempt: 'work',
  writeAttemptLog: 'work',
  putAttemptFile: 'work',
  endAttempt: 'work',
  endWorkerDrain: 'run',
  putUpload: 'public',
  getUpload: 'public',
  appendUpload: 'public',
  getDownload: 'public',
  createInput: 'experiment',
  listInputs: 'read',
  getInput: 'read',
  updateInput: 'experiment',
  deleteInput: 'experiment',
  createInputSet: 'experiment',
  listInputSets: 'read',
  getInputSet: 'read',
  updateInputSet: 'experiment',
  deleteInputSet: 'experiment',
  createEnsemble: 'experiment',
  listEnsembles: 'read',
  getEnsemble: 'read',
  updateEnsemble: 'experiment',
  deleteEnsemble: 'experiment',
  getRunEnsemble: 'read',
  createShadowTest: 'experiment',
  listShadowTests: 'read',
  getShadowTest: 'read',
  updateShadowTest: 'experiment',
  deleteShadowTest: 'experiment',
  startShadowTest: 'experiment',
  stopShadowTest: 'experiment',
  listShadowTestRuns: 'read',
  getShadowTestMetadata: 'read',
  createSwitchbackTest: 'experiment',
  listSwitchbackTests: 'read',
  getSwitchbackTest: 'read',
  updateSwitchbackTest: 'experiment',
  deleteSwitchbackTest: 'experiment',
  startSwitchbackTest: 'experiment',
  stopSwitchbackTest: 'experiment',
  listSwitchbackTestRuns: 'read',
  getSwitchbackTestMetadata: 'read',
  createBatchExperiment: 'experiment',
  listBatchExperiments: 'read',
  getBatchExperiment: 'read',
  updateBatchExperiment: 'experiment',
  deleteBatchExperiment: 'experiment',
  listBatchExperimentRuns: 'read',
  getBatchExperimentMetadata: 'read',
  createAcceptanceTest: 'experiment',
  listAcceptanceTests: 'read',
  getAcceptanceTest: 'read',
  updateAcceptanceTest: 'experiment',
  deleteAcceptanceTest: 'experiment',
  planExperiment: 'read',
  planBisectExperiment: 'read',
  createBisectExperiment: 'experiment',
  listBisectExperiments: 'read',
  getBisectExperiment: 'read',
  getBisectExperimentMetadata: 'read',
  updateBisectExperiment: 'experiment',
  listBisectExperimentRuns: 'read',
  stopBisectExperiment: 'experiment',
  deleteBisectExperiment: 'experiment',
  createWebhook: 'write',
  listWebhooks: 'read',
  getWebhook: 'read',
  updateWebhook: 'write',
  deleteWebhook: 'write',
  getWebhookSecret: 'readSecrets',
  rotateWebhookSecret: 'write',
  listWebhookConversations: 'read',
  getWebhookConversation: 'read',
  replayWebhookConversation: 'write',
  triggerEvent: 'write',
  getHealth: 'public',
  getReadiness: 'public',
  getMetrics: 'visitor',
};

let server: TestServer;
const tokens = new Map<Role, string>();
beforeAll(async () => {
  server = await startTestServer();
  for (const role of ROLES) tokens.set(role, (await server.createKey(role)).token);
});
afterAll(() => server.close());

/** Calls the operation on missing resources: any status except 401 and 403 means that the role has the right. */
function call(operation: Operation, token: string | null) {
  const body = operation.id === 'createKey' ? { name: 'Any name', role: 'unassigned' } : undefined;
  return server.request(operation.method, operation.path.replaceAll(/\{\w+\}/g, 'missing'), { token, body });
}

describe.each(Object.values(operations) as Operation[])('$method $path', (operation) => {
  const row = RIGHTS[operation.id as OperationId];

  test('is in the table of rights', () => {
    expect(row, `${operation.id} has no row in the table of this test`).toBeDefined();
    expect(operation.right === 'public').toBe(row === 'public' || row === 'visitor');
    expect(operation.optionalToken === true).toBe(row === 'visitor');
  });

  if (row === 'visitor') {
    test('accepts no token and any role, but not an unknown token', async () => {
      const responses = [await call(operation, null)];
      for (const role of ROLES) responses.push(await call(operation, tokens.get(role) ?? ''));
      for (const response of responses) expect([401, 403], response.text).not.toContain(response.status);
      expect((await call(operation, 'rubbish')).status).toBe(401);
    });
    return;
  }

  if (row === 'public') {
    test('responds the same with and without a token', async () => {
      const without = await call(operation, null);
      expect((await call(operation, server.token)).status).toBe(without.status);
      expect((await call(operation, 'rubbish')).status).toBe(without.status);
    });
    return;
  }

  test('401 without a valid token, before any other check', async () => {
    for (const token of [null, 'rubbish']) {
      const response = await call(operation, token);
      expect(response.status).toBe(401);
      expect(response.body).toEqual({ message: expect.any(String), code: 'unauthorized' });
    }
  });

  test.each(ROLES)('%s is allowed or refused as the table says', async (role) => {
    const response = await call(operation, tokens.get(role) ?? '');
    if ((ROWS[row] as readonly Role[]).includes(role)) {
      expect([401, 403], response.text).not.toContain(response.status);
    } else {
      expect(response.status).toBe(403);
      expect(response.body).toEqual({ message: expect.stringContaining(role), code: 'forbidden' });
    }
  });
});
