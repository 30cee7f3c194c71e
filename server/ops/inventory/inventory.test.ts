/** Things that a member or a key has made end with it: removals, weaker roles, revoked keys, and the choice to keep. */
import {
  INVENTORY_KINDS,
  type InventoryKind,
  listLostKinds,
  type MemberInventory,
  RETAINED_KINDS,
} from '@switchyard/contract/account/inventory.ts';
import type { Application } from '@switchyard/contract/applications/applications.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { hasRight, ROLES, type Role } from '@switchyard/contract/roles.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { memberCalls } from '../../testing/fixtures/members.ts';
import { createApplication, expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let shares: string;
let app: string;
let subscriber: { token: string };
beforeAll(async () => {
  server = await startTestServer();
  const application = await createApplication(server);
  const body = { input: {}, configuration: { run_type: { type: 'external' } } };
  const run = await server.request('POST', `/v1/applications/${application}/runs`, { body });
  expectStatus(run, 202);
  shares = `/v1/applications/${application}/runs/${(run.body as { run_id: string }).run_id}/shares`;
  const { id } = (await server.client.call('getAccount')).body;
  const published = { id: 'planner', ref_app_id: application, title: 'Planner' };
  const path = `/v1/marketplace/partners/${id}/apps`;
  expectStatus(await server.request('POST', path, { body: published }), 201);
  app = `${path}/planner`;
  subscriber = await createOtherAccount(server);
});
afterAll(() => server.close());
const { accept, addMember, createKeyFor, invite, put, remove, request, works } = memberCalls(() => server);

async function readAllowed(): Promise<string[]> {
  const { body } = await request('GET', app, server.token);
  return (body as { worker_tokens: string[] }).worker_tokens;
}

/** Makes one thing of each kind with the token, and returns their ids. */
async function makeAll(token: string, owner = `${uniqueId('service')}@example.com`) {
  const post = async (path: string, body: object) => {
    const response = await request('POST', path, token, body);
    expectStatus(response, 201);
    return response.body as { id: string; token: string };
  };
  const key = await createKeyFor(token, 'operator', owner);
  const worker = await post('/v1/account/worker-tokens', { name: 'Solver nodes' });
  const foreign = await request('POST', '/v1/account/worker-tokens', subscriber.token, { name: 'Nodes' });
  const allowed = foreign.body as { id: string };
  const worker_tokens = [...(await readAllowed()), allowed.id];
  expectStatus(await request('PUT', app, token, { worker_tokens }), 200);
  const trusted = await createApplication(server);
  expectStatus(await request('PUT', `/v1/applications/${trusted}/html-assets-trust`, token), 200);
  const share = await post(shares, { parts: ['summary'] });
  const webhook = await post('/v1/webhooks', {
    id: uniqueId('hook'),
    event_types: ['run.status'],
    endpoint_url: 'https://example.com/hook',
    description: '',
  });
  const invited = await addMember(token, 'operator');
  return { key, worker, allowed, trusted, share, webhook, invited };
}
type Made = Awaited<ReturnType<typeof makeAll>>;

/** Returns the kinds that still give access. */
async function listLive(made: Made): Promise<InventoryKind[]> {
  const { key, worker, allowed, trusted, share, webhook, invited } = made;
  const read = async (path: string) => (await request('GET', path, server.token)).text;
  const hook = (await request('GET', `/v1/webhooks/${webhook.id}`, server.token)).body;
  const isLive: Record<InventoryKind, boolean> = {
    keys_for_others: await works(key.token),
    worker_tokens: (await read('/v1/account/worker-tokens')).includes(worker.id),
    allowed_tokens: (await readAllowed()).includes(allowed.id),
    trusted_assets: (await readApplication(trusted)).html_assets_trusted,
    share_links: (await read(shares)).includes(share.id),
    webhooks: !Object.hasOwn(hook as object, 'disabled_at'),
    invited_keys: await works(invited.token),
  };
  return INVENTORY_KINDS.filter((kind) => isLive[kind]);
}

async function readApplication(id: string): Promise<Application> {
  const response = await request('GET', `/v1/applications/${id}`, server.token);
  expectStatus(response, 200);
  return response.body as Application;
}

async function readInventory(member: string): Promise<MemberInventory> {
  const response = await request('GET', `/v1/account/members/${member}/inventory`, server.token);
  expectStatus(response, 200);
  return response.body as MemberInventory;
}

const makers: Record<InventoryKind, keyof typeof operations> = {
  keys_for_others: 'inviteMember',
  worker_tokens: 'createWorkerToken',
  allowed_tokens: 'updateMarketplaceApp',
  trusted_assets: 'trustHtmlAssets',
  share_links: 'createShare',
  webhooks: 'createWebhook',
  invited_keys: 'inviteMember',
};
test.each(ROLES)(
  'A11: an administrator who becomes %s loses the kinds that this role cannot make',
  (role) => {
    const lost = INVENTORY_KINDS.filter((kind) => !hasRight(role, operations[makers[kind]].right));
    expect(listLostKinds('admin', role)).toEqual(lost);
    expect(listLostKinds('unassigned', role)).toEqual([]);
    expect(listLostKinds(role, null)).toEqual(INVENTORY_KINDS);
  },
);

describe('A11: a removed administrator', () => {
  test('takes everything they made with them, which the inventory showed and the audit log names', async () => {
    const admin = await addMember(server.token, 'admin');
    const made = await makeAll(admin.token);
    const inventory = await readInventory(admin.id);
    expect(inventory.counts).toEqual(Object.fromEntries(INVENTORY_KINDS.map((kind) => [kind, 1])));
    const { key, worker, allowed, trusted, share, webhook, invited } = made;
    const ids = [key.id, worker.id, allowed.id, trusted, share.id, webhook.id, invited.key];
    expect(inventory.items.map(({ id }) => id)).toEqual(ids);
    expect(inventory).toMatchObject({ own_keys: 1, sessions: 0, open_invites: 0 });
    expect(await listLive(made)).toEqual(INVENTORY_KINDS);

    expectStatus(await remove(server.token, admin.id), 204);
    expect(await listLive(made)).toEqual(RETAINED_KINDS);
    const { body } = await server.client.call('listAuditEntries');
    const entries = body.items.filter(
      ({ operation, resource }) => resource.member_id === admin.id && !/Invite|inviteMember/.test(operation),
    );
    expect(entries.every(({ user_email }) => user_email === 'root@localhost')).toBe(true);
    const named = entries.map(({ operation, resource: { member_id: _, change: __, ...rest } }) => [
      operation,
      ...Object.values(rest).slice(-1),
    ]);
    expect(named.toSorted()).toEqual(
      [
        ['deleteMember'],
        ['revokeKey', admin.key],
        ['revokeKey', made.key.id],
        ['revokeWorkerToken', made.worker.id],
        ['updateMarketplaceApp', made.allowed.id],
        ['distrustHtmlAssets', made.trusted],
        ['revokeShare', made.share.id],
        ['updateWebhook', made.webhook.id],
      ].toSorted(),
    );
  });

  test('leaves nothing that they made with a key for another address, or with a key that was revoked before', async () => {
    const admin = await addMember(server.token, 'admin');
    const service = await createKeyFor(admin.token, 'admin', 'service@example.com');
    const byService = await makeAll(service.token);
    const second = await createKeyFor(admin.token, 'admin', admin.email);
    const bySecond = await makeAll(second.token);
    const revoked = await request('DELETE', `/v1/account/keys/${second.id}?cascade=false`, server.token);
    expectStatus(revoked, 204);
    expect(await listLive(bySecond)).toEqual(INVENTORY_KINDS);
    expect((await readInventory(admin.id)).counts).toMatchObject({
      ...{ keys_for_others: 3, worker_tokens: 2, allowed_tokens: 2, trusted_assets: 2, invited_keys: 2 },
    });
    expectStatus(await remove(server.token, admin.id), 204);
    expect(await works(service.token)).toBe(false);
    expect([await listLive(byService), await listLive(bySecond)]).toEqual([RETAINED_KINDS, RETAINED_KINDS]);
  });

  test.each([['keys_for_others'], ['worker_tokens', 'webhooks'], ['all']])(
    'keeps what the request names: %s %s',
    async (...keep) => {
      const admin = await addMember(server.token, 'admin');
      const made = await makeAll(admin.token);
      expectStatus(await remove(server.token, `${admin.id}?keep=${keep.filter(Boolean).join(',')}`), 204);
      const expected = keep[0] === 'all' ? INVENTORY_KINDS : [...keep.filter(Boolean), ...RETAINED_KINDS];
      expect(await listLive(made)).toEqual(expected);
    },
  );

  test('stays, with all they made, when the request keeps a kind that does not exist', async () => {
    const admin = await addMember(server.token, 'admin');
    const made = await makeAll(admin.token);
    expectError(
      await remove(server.token, `${admin.id}?keep=tokens`),
      400,
      'keep is "tokens"',
      'worker_tokens',
    );
    expect(await listLive(made)).toEqual(INVENTORY_KINDS);
    expectStatus(await remove(server.token, `${admin.id}?keep=all`), 204);
  });

  test('stays while the key of the request is one that they created', async () => {
    const admin = await addMember(server.token, 'admin');
    const other = await addMember(server.token, 'admin');
    const minted = await createKeyFor(admin.token, 'admin', other.email);
    expectError(await remove(minted.token, admin.id), 400, 'The key of the request', 'another key');
    expect(await works(admin.token)).toBe(true);
    expectStatus(await remove(other.token, admin.id), 204);
    expect([await works(minted.token), await works(other.token)]).toEqual([false, true]);
  });

  test('leaves the things of others and of other accounts', async () => {
    const [admin, other] = [await addMember(server.token, 'admin'), await addMember(server.token, 'admin')];
    const made = await makeAll(other.token);
    const elsewhere = await createOtherAccount(server);
    const twin = await addMember(elsewhere.token, 'admin', admin.email);
    const minted = await createKeyFor(twin.token, 'viewer', 'service@example.com');
    expectStatus(await remove(server.token, admin.id), 204);
    expect(await listLive(made)).toEqual(INVENTORY_KINDS);
    expect(await works(minted.token)).toBe(true);
    const path = `/v1/account/members/${other.id}/inventory`;
    expectError(await request('GET', path, elsewhere.token), 404);
  });
});

test.each<[Role, InventoryKind[]]>([
  ['developer', ['share_links', 'webhooks', 'invited_keys']],
  ['operator', ['share_links', 'invited_keys']],
  ['viewer', ['invited_keys']],
])('A11: an administrator who becomes %s keeps only what such a member could make', async (role, left) => {
  const admin = await addMember(server.token, 'admin');
  const made = await makeAll(admin.token);
  expectStatus(await put(server.token, admin.id, { role }), 200);
  expect(await listLive(made)).toEqual(left);
});

test('A11: a weaker role leaves the kinds that the request keeps', async () => {
  const admin = await addMember(server.token, 'admin');
  const made = await makeAll(admin.token);
  const keep = ['worker_tokens', 'keys_for_others'];
  const left = ['keys_for_others', 'worker_tokens', 'invited_keys'];
  expectStatus(await put(server.token, admin.id, { role: 'viewer', keep }), 200);
  expect(await listLive(made)).toEqual(left);
  // A stronger role revokes nothing, although it could not make them either.
  expectStatus(await put(server.token, admin.id, { role: 'operator' }), 200);
  expect(await listLive(made)).toEqual(left);
});

test('A11: nothing that an administrator makes while being removed works afterwards', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id, token } = await addMember(server.token, 'admin');
    const hook = uniqueId('hook');
    const webhook = {
      id: hook,
      event_types: ['run.status'],
      endpoint_url: 'https://example.com',
      description: '',
    };
    const late = await createApplication(server);
    const [share, , created] = await Promise.all([
      request('POST', shares, token, { parts: ['summary'] }),
      remove(server.token, id),
      request('POST', '/v1/webhooks', token, webhook),
      request('POST', '/v1/account/worker-tokens', token, { name: `Late ${id}` }),
      request('PUT', `/v1/applications/${late}/html-assets-trust`, token),
    ]);
    expect((await readApplication(late)).html_assets_trusted).toBe(false);
    expect([201, 401]).toContain(share?.status);
    const links = (await request('GET', shares, server.token)).text;
    if (share?.status === 201) expect(links).not.toContain((share.body as { id: string }).id);
    if (created?.status === 201)
      expect((await request('GET', `/v1/webhooks/${hook}`, server.token)).body).toHaveProperty('disabled_at');
    expect((await request('GET', '/v1/account/worker-tokens', server.token)).text).not.toContain(
      `Late ${id}`,
    );
  }
});

test('A11: who enables a webhook of a removed member again answers for it', async () => {
  const [first, second] = [await addMember(server.token, 'admin'), await addMember(server.token, 'admin')];
  const made = await makeAll(first.token);
  expectStatus(await remove(server.token, first.id), 204);
  expectStatus(await request('PUT', `/v1/webhooks/${made.webhook.id}`, second.token, {}), 204);
  expect(await listLive(made)).toEqual(['webhooks', 'invited_keys']);
  expect((await readInventory(second.id)).counts.webhooks).toBe(1);
  expectStatus(await remove(server.token, second.id), 204);
  expect(await listLive(made)).toEqual(RETAINED_KINDS);
});

describe('A11: a key through an invite', () => {
  /** Renews the invite of a member as another, and accepts it. */
  async function impersonate(token: string, member: string) {
    const renewed = await request('POST', `/v1/account/members/${member}/invite`, token);
    expectStatus(renewed, 201);
    const accepted = await accept((renewed.body as { invite: string }).invite);
    expectStatus(accepted, 201);
    return accepted.body as { token: string; key: { id: string } };
  }

  test('of a member who had joined ends with the inviter, who is named in the key, the inventory and the audit log', async () => {
    const [colleague, admin] = [
      await addMember(server.token, 'admin'),
      await addMember(server.token, 'admin'),
    ];
    const { token, key } = await impersonate(admin.token, colleague.id);
    const created_by = { key_id: admin.key, user_email: admin.email, invite: 'additional' };
    expect(key).toMatchObject({ user_email: colleague.email, created_by });
    const [entry] = (await server.client.call('listAuditEntries')).body.items;
    expect(entry).toMatchObject({
      operation: 'acceptInvite',
      resource: { key_id: key.id, invited_by: admin.email, invited_by_key_id: admin.key },
    });
    const second = await createKeyFor(token, 'admin', colleague.email);
    const made = await makeAll(second.token);
    const { items } = await readInventory(admin.id);
    const keys = items.filter(({ kind }) => kind === 'keys_for_others').map(({ id }) => id);
    expect(keys.toSorted()).toEqual([key.id, second.id, made.key.id].toSorted());
    expectStatus(await remove(server.token, admin.id), 204);
    expect([await works(token), await works(colleague.token)]).toEqual([false, true]);
    expect(await listLive(made)).toEqual(RETAINED_KINDS);
  });

  test('of a new member stays by default, and ends with all that it made when the removal says so', async () => {
    const admin = await addMember(server.token, 'admin');
    const [left, revoked] = [await addMember(admin.token, 'admin'), await addMember(admin.token, 'admin')];
    const made = await makeAll(revoked.token);
    const { counts, items } = await readInventory(admin.id);
    expect(counts).toMatchObject({ keys_for_others: 0, worker_tokens: 0, invited_keys: 4 });
    expect(items.find(({ id }) => id === left.key)).toMatchObject({
      detail: `admin key of ${left.email}, through an invite`,
    });
    expectStatus(await remove(server.token, `${left.id}`), 204);
    expectStatus(await remove(server.token, `${admin.id}?revoke=invited_keys`), 204);
    expect(await works(revoked.token)).toBe(false);
    expect(await listLive(made)).toEqual([]);
    // The member stays, and joins again with a new invite.
    expect(await works((await impersonate(server.token, revoked.id)).token)).toBe(true);
  });

  test('ends with a revoked key that made the invite, and open invites of the key are withdrawn', async () => {
    const colleague = await addMember(server.token, 'admin');
    const leaked = await createKeyFor(server.token, 'admin', 'leaked@example.com');
    const child = await createKeyFor(leaked.token, 'admin', 'child@example.com');
    const { token } = await impersonate(child.token, colleague.id);
    const joined = await addMember(leaked.token, 'admin');
    const open = [await invite(leaked.token, 'admin'), await invite(child.token, 'admin')];
    const path = `/v1/account/keys/${leaked.id}?revoke=invited_keys`;
    expectStatus(await request('DELETE', path, server.token), 204);
    expect([await works(token), await works(joined.token)]).toEqual([false, false]);
    for (const one of open) expectError(await accept(one.invite), 403, 'withdrawn');
  });

  test('belongs to the parent of a key that was revoked before the invite was accepted', async () => {
    const parent = await createKeyFor(server.token, 'admin', 'parent@example.com');
    const child = await createKeyFor(parent.token, 'admin', 'parent@example.com');
    const colleague = await addMember(server.token, 'admin');
    const renewed = await request('POST', `/v1/account/members/${colleague.id}/invite`, child.token);
    expectStatus(await request('DELETE', `/v1/account/keys/${child.id}?cascade=false`, server.token), 204);
    const accepted = await accept((renewed.body as { invite: string }).invite);
    expectStatus(accepted, 201);
    expectStatus(await request('DELETE', `/v1/account/keys/${parent.id}`, server.token), 204);
    expect(await works((accepted.body as { token: string }).token)).toBe(false);
  });
});

describe('A9: a revoked key', () => {
  test('ends with everything that was made with it, at every depth, and the audit log names it', async () => {
    const parent = await createKeyFor(server.token, 'admin', 'first@example.com');
    const made = await makeAll(parent.token);
    const child = await createKeyFor(parent.token, 'admin', 'second@example.com');
    const byChild = await makeAll(child.token);
    expectStatus(await request('DELETE', `/v1/account/keys/${parent.id}`, server.token), 204);
    expect(await Promise.all([parent, child].map(({ token }) => works(token)))).toEqual([false, false]);
    expect([await listLive(made), await listLive(byChild)]).toEqual([RETAINED_KINDS, RETAINED_KINDS]);
    const { body } = await server.client.call('listAuditEntries');
    const named = body.items.filter(({ resource }) => resource.ancestor_key_id === parent.id);
    const counts = Map.groupBy(named, ({ operation }) => operation);
    expect([...counts].map(([operation, { length }]) => `${operation} ${length}`).sort()).toEqual([
      'distrustHtmlAssets 2',
      'revokeKey 3',
      'revokeShare 2',
      'revokeWorkerToken 2',
      'updateMarketplaceApp 2',
      'updateWebhook 2',
    ]);
  });

  test('leaves what was made with it when the request says so', async () => {
    const parent = await createKeyFor(server.token, 'admin', 'first@example.com');
    const made = await makeAll(parent.token);
    expectStatus(await request('DELETE', `/v1/account/keys/${parent.id}?cascade=false`, server.token), 204);
    expect(await listLive(made)).toEqual(INVENTORY_KINDS);
  });

  test('stays while the key of the request is one that it created', async () => {
    const parent = await createKeyFor(server.token, 'admin', 'first@example.com');
    const next = await createKeyFor(parent.token, 'admin', 'first@example.com');
    const path = `/v1/account/keys/${parent.id}`;
    expectError(await request('DELETE', path, next.token), 400, 'The key of the request');
    expect(await works(parent.token)).toBe(true);
    expectStatus(await request('DELETE', `${path}?cascade=false`, next.token), 204);
    expect([await works(parent.token), await works(next.token)]).toEqual([false, true]);
  });
});
