import type { Organization } from '@switchyard/contract/account/organizations.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { type Invite, memberCalls } from '../../testing/fixtures/members.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const PATH = '/v1/organization';
const members = memberCalls(() => server);
const create = (admins: string[], token = server.token) =>
  members.request('POST', PATH, token, { name: 'Night shift', admins });

describe('a new organisation', () => {
  test('has every admin as an invited member, and each invite admits its person', async () => {
    const response = await create(['sam@example.com', 'kim@example.com']);
    expectStatus(response, 201);
    const created = response.body as Organization & { members: (Invite & { invite_url: string })[] };
    expect(created).toEqual({
      id: expect.any(String),
      name: 'Night shift',
      members: ['sam@example.com', 'kim@example.com'].map((email) => ({
        email,
        role: 'admin',
        pending_invite: true,
        invite_url: expect.stringContaining('/sign-up?invite='),
      })),
    });
    const invite = new URL(created.members[0]?.invite_url ?? '').searchParams.get('invite') ?? '';
    const accepted = await members.accept(invite);
    expectStatus(accepted, 201);
    const { token } = accepted.body as { token: string };

    const seen = await members.request('GET', `${PATH}/${created.id}`, token);
    expect((seen.body as Organization).members).toEqual(
      expect.arrayContaining([
        { email: 'sam@example.com', role: 'admin', pending_invite: false },
        { email: 'kim@example.com', role: 'admin', pending_invite: true },
      ]),
    );
    // The client sends the whole object back.
    const renamed = await members.request('PUT', `${PATH}/${created.id}`, token, {
      ...(seen.body as Organization),
      name: 'Day shift',
    });
    expect(renamed.body).toEqual({ ...(seen.body as Organization), name: 'Day shift' });
    expectError(await members.request('DELETE', `${PATH}/${created.id}`, token), 403, 'admin');

    expectStatus(await members.request('DELETE', `${PATH}/${created.id}`, server.token), 204);
    expectError(await members.request('GET', `${PATH}/${created.id}`, token), 401);
    expectError(await members.request('GET', `${PATH}/${created.id}`, server.token), 404);
    // The invites of a deleted account admit nobody.
    const other = new URL(created.members[1]?.invite_url ?? '').searchParams.get('invite') ?? '';
    expectError(await members.accept(other), 403);
  });

  test('is refused with one address twice, without an admin, and to a role without the right', async () => {
    const before = (await members.request('GET', '/v1/accounts', server.token)).body;
    expectError(await create(['sam@example.com', 'SAM@example.com']), 400, 'admins has ', 'twice');
    expectError(await create([]), 400, 'admins');
    const { token } = await createOtherAccount(server, 'developer');
    expectError(await create(['sam@example.com'], token), 403, 'developer');
    const after = (await members.request('GET', '/v1/accounts', server.token)).body as unknown[];
    expect(after).toHaveLength((before as unknown[]).length + 1);
  });
});

describe('an organisation', () => {
  test('is found by its own keys and by root, and hidden from every other account', async () => {
    const { id, token } = await createOtherAccount(server, 'admin');
    const other = await createOtherAccount(server, 'admin');
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { name: 'New name' }],
    ] as const) {
      expectStatus(await members.request(method, `${PATH}/${id}`, token, body), 200);
      expectStatus(await members.request(method, `${PATH}/${id}`, server.token, body), 200);
      expectError(await members.request(method, `${PATH}/${id}`, other.token, body), 404, id);
    }
    const { body } = await members.getOwnAccount(server.token);
    const own = `${PATH}/${(body as { id: string }).id}`;
    expectError(await members.request('DELETE', own, server.token), 400, 'organization_id is ');
  });

  test('shows a member with the role unassigned without a role, which the client does not know', async () => {
    const { id, token } = await createOtherAccount(server, 'admin');
    await members.invite(token, 'unassigned', 'new@example.com');
    const { body } = await members.request('GET', `${PATH}/${id}`, token);
    expect((body as Organization).members[0]).toEqual({
      email: 'new@example.com',
      role: null,
      pending_invite: true,
    });
  });
});
