/** `nextmv configuration create`, `nextmv auth login` and `nextmv cloud` of the published client with an identity provider. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkAddress } from '../../server/platform/http/listen.ts';
import {
  CLI_CLIENT_ID,
  ssoSettings,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../server/testing/http/identity-provider.ts';
import { startTestServer, type TestServer } from '../../server/testing/servers/test-server.ts';
import { type ClientSession, openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['planners'] };
/** The client listens on it during a sign-in. It is among those that the system gives to connections. */
const CLIENT_PORT = 56_734;
/** Follows redirects and keeps cookies, as a browser does. */
const BROWSER = "curl --silent --location --cookie '' --output /dev/null %s";

// Skipped where the client cannot be installed.
describe.skipIf(typeof client === 'string')('the published command line', () => {
  let provider: TestIdentityProvider;
  let server: TestServer;
  let session: ClientSession;
  beforeAll(async () => {
    if (typeof client === 'string') return;
    provider = await startIdentityProvider();
    provider.person = ADA;
    const env = { ...ssoSettings(provider), SWITCHYARD_OIDC_ROLES: 'planners=operator' };
    server = await startTestServer({ env });
    session = client.startSession(server);
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    await server?.close();
    await provider?.close();
  });
  const run = (args: readonly string[], profile?: string) =>
    session.runCommand(args, undefined, {
      keepsSettings: true,
      env: { BROWSER, ...(profile === undefined ? {} : { NEXTMV_PROFILE: profile }) },
    });

  /** Runs a command that waits for the browser on the client's port, once no connection of another test has the port. */
  async function runWithPort(args: readonly string[]) {
    const isFree = (): Promise<boolean> =>
      checkAddress({ host: '127.0.0.1', port: CLIENT_PORT }).then(
        () => true,
        () => false,
      );
    await expect.poll(isFree).toBe(true);
    return run(args);
  }

  test('creates a profile by a sign-in in the browser, logs in, and acts as the person', async () => {
    const created = await runWithPort([
      ...['configuration', 'create', '--profile', 'work', '--auth-type', 'pkce', '--auth-session', 'work'],
      ...['--endpoint', await session.readEndpoint(), '--team', 'Main account', '--email', ADA.email],
      ...['--oidc-discovery-url', `${provider.issuer}/.well-known/openid-configuration`],
      ...['--client-id', CLI_CLIENT_ID],
    ]);
    expect(created.exitCode, created.stdout + created.stderr).toBe(0);
    const login = await runWithPort(['auth', 'login', '--profile', 'work']);
    expect(login.exitCode, login.stdout + login.stderr).toBe(0);

    const listed = await run(['cloud', 'app', 'list'], 'work');
    expect(listed.exitCode, listed.stdout + listed.stderr).toBe(0);
    const { body } = await server.request('GET', '/v1/account/members');
    const member = (body as { id: string; email: string }[]).find(({ email }) => email === ADA.email);
    expect(member).toMatchObject({ name: 'Ada', role: 'operator', pending_invite: false });

    expect((await server.request('DELETE', `/v1/account/members/${member?.id}`)).status).toBe(204);
    const refused = await run(['cloud', 'app', 'list'], 'work');
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain('not authorized');
  });
});
