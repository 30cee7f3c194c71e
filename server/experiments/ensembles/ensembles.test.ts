/** Definitions of ensembles through the API: creation, validation, change, lists, hidden options. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const clock = createManualClock(Date.parse('2026-11-20T08:00:00Z'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'), {
    options: {
      items: [{ name: 'seed' }, { name: 'secret', ui: { hidden_from: ['operator' as const] } }],
    },
  });
  const params = { application_id: 'app' };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
  await server.client.call('createInstance', { params, body: { id: 'i1', name: 'First', version_id: 'v1' } });
});
afterAll(() => server.close());

const PATH = '/v1/applications/app/ensembles';
const group = { id: 'fast', instance_id: 'i1' };
const rule = { id: 'cost', statistics_path: 'result.value', objective: 'minimize', index: 0 };
const definition = (id: string, more: object = {}) => ({
  id,
  name: 'Any name',
  run_groups: [group],
  rules: [rule],
  ...more,
});
const create = (body: object, options = {}) => server.request('POST', PATH, { body, ...options });
const errorMessage = ({ body }: { body: unknown }) => (body as { error: string }).error;

test('a definition is returned as created, with default values filled in', async () => {
  const response = await create(
    definition('whole', {
      description: 'Told.',
      run_groups: [
        { id: 'Fast_1.a', instance_id: 'i1', options: { seed: 1, on: true }, repetitions: 3 },
        { id: 'b', instance_id: 'latest' },
      ],
      rules: [
        {
          ...rule,
          statistics_path: '$.result.value',
          tolerance: { type: 'relative', value: 0.05 },
          index: 4,
        },
        { ...rule, id: 'time', objective: 'maximize', index: 2 },
      ],
    }),
  );
  expect(response.status).toBe(201);
  const created = {
    id: 'whole',
    application_id: 'app',
    name: 'Any name',
    description: 'Told.',
    run_groups: [
      { id: 'Fast_1.a', instance_id: 'i1', options: { seed: '1', on: 'true' }, repetitions: 3 },
      { id: 'b', instance_id: 'latest', options: {}, repetitions: 1 },
    ],
    rules: [
      {
        id: 'cost',
        statistics_path: '$.result.value',
        objective: 'minimize',
        tolerance: { type: 'relative', value: 0.05 },
        index: 4,
      },
      {
        id: 'time',
        statistics_path: 'result.value',
        objective: 'maximize',
        tolerance: { type: 'absolute', value: 0 },
        index: 2,
      },
    ],
    created_at: '2026-11-20T08:00:00.000Z',
    updated_at: '2026-11-20T08:00:00.000Z',
  };
  expect(response.body).toEqual(created);
  expect((await server.request('GET', `${PATH}/whole`)).body).toEqual(created);

  clock.advance(60_000);
  const changed = await server.request('PATCH', `${PATH}/whole`, {
    body: { ...created, name: 'Other name', rules: null },
  });
  const then = { ...created, name: 'Other name', updated_at: '2026-11-20T08:01:00.000Z' };
  expect([changed.status, changed.body]).toEqual([200, then]);
  expect((await server.request('PATCH', `${PATH}/whole`, { body: {} })).body).toEqual(then);

  expect((await server.request('DELETE', `${PATH}/whole`)).status).toBe(204);
  for (const method of ['GET', 'DELETE', 'PATCH'])
    expect(
      (
        await server.request(
          method,
          `${PATH}/whole`,
          method === 'PATCH' ? { body: { name: 'New name' } } : {},
        )
      ).status,
    ).toBe(404);
});

test('a definition can have twenty rules and a hundred runs', async () => {
  const rules = Array.from({ length: 20 }, (_, index) => ({ ...rule, id: `r${index}`, index }));
  const run_groups = [
    { ...group, repetitions: 60 },
    { ...group, id: 'more', repetitions: 40 },
  ];
  const response = await create(definition('largest', { rules, run_groups }));
  expect([response.status, response.body]).toMatchObject([201, { rules, run_groups }]);
  expect((await server.request('DELETE', `${PATH}/largest`)).status).toBe(204);
});

describe('the server rejects a definition', () => {
  const groups = (...ones: object[]) => ({ run_groups: ones.map((one) => ({ ...group, ...one })) });
  const rules = (...ones: object[]) => ({ rules: ones.map((one) => ({ ...rule, ...one })) });
  const many = Array.from({ length: 21 }, (_, index) => ({ id: `r${index}`, index }));
  const cases: [string, object, string | RegExp][] = [
    ['with an empty list of groups', { run_groups: [] }, /run_groups/],
    ['with an empty list of rules', { rules: [] }, /rules/],
    [
      'with two groups of one id',
      groups({}, {}),
      'run_groups.1.id is "fast", which run_groups.0 also has; each must have its own.',
    ],
    [
      'with two rules of one id',
      rules({}, { index: 1 }),
      'rules.1.id is "cost", which rules.0 also has; each must have its own.',
    ],
    [
      'with two rules of one index',
      rules({}, { id: 'b' }),
      'rules.1.index is 0, which rules.0 also has; each must have its own.',
    ],
    [
      'on an unknown instance',
      groups({ instance_id: 'nowhere' }),
      'run_groups.0.instance_id is "nowhere"; it must be an instance of the application "app", or latest.',
    ],
    [
      'with an invalid name of an option',
      groups({ options: { 'a b': 1 } }),
      'run_groups.0.options has the option "a b", which the app does not declare; undeclared names of options may contain letters, digits and periods. The app declares seed, secret.',
    ],
    [
      'with too many runs',
      groups({ repetitions: 60 }, { id: 'b', repetitions: 41 }),
      'run_groups request 101 runs, the sum of all repetitions; request at most 100.',
    ],
    [
      'with too many options',
      groups(...Array.from({ length: 9 }, (_, at) => ({ id: `g${at}`, options: { a: 'x'.repeat(8000) } }))),
      `run_groups have options of ${9 * (8000 + '{"a":""},'.length) + 1} characters as JSON, and the limit for all groups together is 65536; shorten them.`,
    ],
    ['with 0 repetitions', groups({ repetitions: 0 }), /run_groups\.0\.repetitions/],
    [
      'with a negative tolerance',
      rules({ tolerance: { type: 'absolute', value: -1 } }),
      /rules\.0\.tolerance\.value/,
    ],
    [
      'with an unknown type of tolerance',
      rules({ tolerance: { type: 'some', value: 1 } }),
      /rules\.0\.tolerance\.type/,
    ],
    [
      'with text for a tolerance',
      rules({ tolerance: { type: 'absolute', value: 'NaN' } }),
      /rules\.0\.tolerance\.value/,
    ],
    ['with an index that is not an integer', rules({ index: 0.5 }), /rules\.0\.index/],
    ['with an unknown objective', rules({ objective: 'best' }), /rules\.0\.objective/],
    [
      'with an empty path',
      rules({ statistics_path: '$.' }),
      'rules.0.statistics_path is "$."; it must name an indicator, such as "result.value".',
    ],
    ['with too many rules', rules(...many), /rules/],
    [
      'with a group that is an ensemble',
      groups({ run_type: { type: 'ensemble', definition_id: 'x' } }),
      /run_groups\.0.*run_type/,
    ],
    ['with a group that names a definition', groups({ definition_id: 'x' }), /run_groups\.0.*definition_id/],
    ['without an id', { id: undefined }, /^id is missing/],
    ['without a name', { name: undefined }, /^name is missing/],
    ['without the field run_groups', { run_groups: undefined }, /^run_groups is missing/],
    ['without the field rules', { rules: undefined }, /^rules is missing/],
    ['with a group without an id', groups({ id: undefined }), /^run_groups\.0\.id is missing/],
    [
      'with a group without an instance',
      groups({ instance_id: undefined }),
      /^run_groups\.0\.instance_id is missing/,
    ],
    ...(['id', 'statistics_path', 'objective', 'index'] as const).map((field): [string, object, RegExp] => [
      `with a rule without ${field}`,
      rules({ [field]: undefined }),
      new RegExp(`^rules\\.0\\.${field} is missing`),
    ]),
    ['with a short name', { name: 'ab' }, /^name is "ab"/],
    ['with a long name', { name: 'x'.repeat(49) }, /^name .*48/],
    ['with a long description', { description: 'x'.repeat(129) }, /^description .*128/],
    ['with a long id', { id: 'x'.repeat(65) }, /^id is "x/],
    ['with an id in capitals', { id: 'Upper' }, /^id is "Upper"/],
    ['with an unknown field', { rule: [] }, /rules/],
  ];
  test.each(cases)('%s', async (_, more, expected) => {
    const response = await create(definition('refused', more));
    expect(response.status).toBe(400);
    if (typeof expected === 'string') expect(errorMessage(response)).toBe(expected);
    else expect(errorMessage(response)).toMatch(expected);
    expect((await server.request('GET', `${PATH}/refused`)).status).toBe(404);
  });

  test('with a number too large for double precision', async () => {
    const text = JSON.stringify(
      definition('refused', rules({ tolerance: { type: 'absolute', value: 12345 } })),
    ).replace('12345', '1e999');
    expect(
      (await server.request('POST', PATH, { body: text, headers: { 'content-type': 'application/json' } }))
        .status,
    ).toBe(400);
  });

  test('with an id in use, also when four requests use it at the same time', async () => {
    const responses = await Promise.all([1, 2, 3, 4].map(() => create(definition('once'))));
    expect(responses.map((one) => one.status).sort()).toEqual([201, 400, 400, 400]);
    expect(responses.filter((one) => one.status === 400).map(errorMessage)).toContain(
      'id is "once", which another ensemble of the application has; choose another.',
    );
    await server.request('DELETE', `${PATH}/once`);
  });
});

test('an invalid change changes nothing, and a valid change keeps the other fields', async () => {
  const created = (await create(definition('kept', { description: 'Told.' }))).body as { updated_at: string };
  const patch = (body: object) => server.request('PATCH', `${PATH}/kept`, { body });
  for (const [field, body] of [
    ['name', { name: 'ab', description: 'Other.' }],
    ['description', { name: 'Other name', description: 'x'.repeat(129) }],
  ] as const) {
    const response = await patch(body);
    expect([response.status, errorMessage(response)]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field} `)),
    ]);
    expect((await server.request('GET', `${PATH}/kept`)).body).toEqual(created);
  }
  clock.advance(1000);
  const changed = await patch({ description: '' });
  expect(changed.body).toEqual({
    ...created,
    description: '',
    updated_at: new Date(Date.parse(created.updated_at) + 1000).toISOString(),
  });
  await server.request('DELETE', `${PATH}/kept`);
});

test('a repeated idempotency key returns the first response', async () => {
  const headers = { 'idempotency-key': 'ensemble' };
  const [first, second] = [
    await create(definition('twice'), { headers }),
    await create(definition('twice'), { headers }),
  ];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  await server.request('DELETE', `${PATH}/twice`);
});

test('a list returns pages, newest first, within the window, always in an object', async () => {
  for (const id of ['one', 'two', 'three']) {
    clock.advance(1000);
    await create(definition(id));
  }
  const ids = async (query: string) => {
    const { status, body } = await server.request('GET', `${PATH}${query}`);
    expect(status).toBe(200);
    const { items, next_page_token } = body as {
      items: { id: string; created_at: string }[];
      next_page_token?: string;
    };
    return { ids: items.map((one) => one.id), times: items.map((one) => one.created_at), next_page_token };
  };
  const all = await ids('');
  expect(all).toMatchObject({ ids: ['three', 'two', 'one'], next_page_token: undefined });
  expect((await ids('?pagereturn=true')).ids).toEqual(all.ids);
  const first = await ids('?limit=2');
  expect(first.ids).toEqual(['three', 'two']);
  const token = encodeURIComponent(first.next_page_token ?? '');
  // Definitions created between two pages do not shift the second page, even with the same creation time as a listed one.
  await create(definition('between'));
  clock.advance(1000);
  await create(definition('newest'));
  expect((await ids(`?limit=2&pagetoken=${token}`)).ids).toEqual(['one']);
  const [third, second] = all.times;
  expect((await ids(`?start=${second}&end=${third}`)).ids).toEqual(['two']);
  expect((await ids(`?end=${second}`)).ids).toEqual(['one']);
  expect((await server.request('GET', `${PATH}?start=${third}&end=${second}`)).status).toBe(400);
  expect((await server.request('GET', `${PATH}?start=${second}&limit=2&pagetoken=${token}`)).status).toBe(
    400,
  );
  expect((await server.request('GET', `${PATH}?limit=51`)).status).toBe(400);
  await server.client.call('createApplication', { body: { id: 'other', name: 'Other' } });
  const foreign = await server.request('GET', `/v1/applications/other/ensembles?limit=2&pagetoken=${token}`);
  expect([foreign.status, errorMessage(foreign)]).toEqual([400, expect.stringMatching(/^pagetoken is "/)]);
  for (const id of [...all.ids, 'between', 'newest']) await server.request('DELETE', `${PATH}/${id}`);
});

test('definitions omit the options that are hidden from the role', async () => {
  const { token } = await server.createKey('operator');
  const body = definition('hiding', {
    run_groups: [
      { ...group, options: { seed: '1', secret: 'x' } },
      { id: 'b', instance_id: 'latest', options: { secret: 'y' } },
    ],
  });
  await create(body);
  const optionsFor = async (as?: string) => {
    const response = await server.request('GET', `${PATH}/hiding`, as ? { token: as } : {});
    return (response.body as { run_groups: { options: object }[] }).run_groups.map((one) => one.options);
  };
  expect(await optionsFor()).toEqual([{ seed: '1', secret: 'x' }, { secret: 'y' }]);
  expect(await optionsFor(token)).toEqual([{ seed: '1' }, {}]);
  const listed = await server.request('GET', PATH, { token });
  const patched = await server.request('PATCH', `${PATH}/hiding`, { token, body: { name: 'New name' } });
  expect(listed.text + patched.text).not.toContain('secret');
  await server.request('DELETE', `${PATH}/hiding`);
});

test('another account cannot access the definitions', async () => {
  await create(definition('ours'));
  const { token } = await createOtherAccount(server);
  for (const method of ['GET', 'DELETE', 'PATCH'])
    expect(
      (await server.request(method, `${PATH}/ours`, { token, ...(method === 'PATCH' ? { body: {} } : {}) }))
        .status,
    ).toBe(404);
  expect((await server.request('GET', PATH, { token })).status).toBe(404);
  expect((await create(definition('theirs'), { token })).status).toBe(404);
  await server.request('DELETE', `${PATH}/ours`);
});
