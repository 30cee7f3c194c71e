/** An option that is hidden from a role is none of its columns: not for filters, orders, views and page tokens. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const APP = { main: '#!/bin/sh\necho infeasible >&2\necho "{}"\n' };
const ui = { hidden_from: ['viewer' as const] };
const path = '/v1/applications/routing';
const secrets = ['alpha', 'omega', 'beta'];

let server: TestServer;
let viewer: string;
/** The runs, newest first. */
let runs: string[];
beforeAll(async () => {
  server = await startTestServer();
  const items = [{ name: 'open' }, { name: 'secret', ui }];
  const requirements = {
    executable_type: 'binary' as const,
    entrypoint: 'main',
    options: { strict: false, items },
  };
  await pushApp(server, 'routing', APP, requirements);
  const created: string[] = [];
  for (const secret of secrets) {
    const body = { options: { secret, open: 'yes' } };
    created.push((await createRunAndWait(server, 'routing', { input: {}, body })).id);
  }
  // A later executable shows the option to everybody; the runs of the earlier one still hide it.
  await pushApp(server, 'routing', APP, {
    ...requirements,
    options: { strict: false, items: [{ name: 'secret' }] },
  });
  runs = created.reverse();
  viewer = (await server.createKey('viewer')).token;
});
afterAll(() => server.close());

interface Listed {
  runs: { id: string }[];
  next_page_token?: string;
}
const list = async (query: string, token: string): Promise<Listed> => {
  const response = await server.request('GET', `${path}/runs?${query}`, { token });
  expectStatus(response, 200);
  return response.body as Listed;
};
const listIds = async (query: string, token: string): Promise<string[]> =>
  (await list(query, token)).runs.map(({ id }) => id);

describe('A8: a role that an option is hidden from', () => {
  test.each(['secret:alpha', 'secret:other', 'secret:a..z', 'nothing:alpha'])(
    'finds no run by option=%s, as by an option that no run has',
    async (option) => {
      for (const rest of ['', '&limit=1', '&sort=-option.open&limit=2'])
        expect(await list(`option=${option}${rest}`, viewer)).toEqual({ runs: [] });
    },
  );

  test.each(['option.secret', '-option.secret', 'option.nothing', '-option.nothing'])(
    'lists by sort=%s as by an option that no run has',
    async (sort) => {
      expect(await listIds(`sort=${sort}`, viewer)).toEqual(runs);
      const pages: string[] = [];
      let token: string | undefined = '';
      while (token !== undefined) {
        const page: Listed = await list(`sort=${sort}&limit=1${token && `&pagetoken=${token}`}`, viewer);
        pages.push(...page.runs.map(({ id }) => id));
        token = page.next_page_token;
        expect(Buffer.from(token ?? '', 'base64url').toString('latin1')).not.toMatch(/alpha|omega|beta|run-/);
      }
      expect(pages).toEqual(runs);
    },
  );

  test('cannot continue the list of a role that sees the option', async () => {
    const query = 'sort=option.secret&limit=1';
    const { next_page_token: token } = await list(query, server.token);
    const next = `${path}/runs?${query}&pagetoken=${token}`;
    expectStatus(await server.request('GET', next), 200);
    // The position is that of the run with the first value.
    expectError(await server.request('GET', next, { token: viewer }), 400, 'pagetoken');
  });

  test('does not see the shared views that filter or sort by it', async () => {
    const tables = [
      { filters: { option: 'secret:alpha' } },
      { sort: 'option.secret' },
      { sort: 'option.open' },
    ];
    for (const [index, table] of tables.entries()) {
      const body = { name: `View ${index}`, is_shared: true, table };
      expectStatus(await server.request('POST', `${path}/views`, { body }), 201);
    }
    const listNames = async (token: string) => {
      const { body } = await server.request('GET', `${path}/views`, { token });
      return (body as { items: { name: string }[] }).items.map(({ name }) => name);
    };
    expect(await listNames(viewer)).toEqual(['View 2']);
    expect(await listNames(server.token)).toEqual(['View 0', 'View 1', 'View 2']);
  });

  test('and every other role keep what they may see', async () => {
    const [beta, omega, alpha] = runs;
    expect(await listIds('sort=option.secret', server.token)).toEqual([alpha, beta, omega]);
    expect(await listIds('option=secret:omega', server.token)).toEqual([omega]);
    expect(await listIds('option=open:yes', viewer)).toEqual(runs);
  });
});
