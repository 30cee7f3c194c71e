/** Shadow and switchback tests for tests: an application with a baseline and a candidate, and what is asked of a test. */
import { nodeApp, pushApp } from './apps.ts';
import { expectStatus } from './resources.ts';
import type { Answer, TestServer } from './server.ts';

/** Reports its cost: what the input says, less by what the option says; `candidate` has `less` set by its instance. */
export const LIVE_APP = `(input, options) => {
  if (options.mode === 'crash') process.exit(3);
  if (options.mode === 'hang') setInterval(() => {}, 1000);
  else return {
    solutions: [{ input, options }],
    statistics: {
      schema: 'v1',
      result: { value: (input?.cost ?? 0) - Number(options.less ?? 0), custom: { stops: 3 } },
    },
  };
}`;

/** Options of the candidate in place of those that make it better by 10. */
export async function liveApp(
  server: Pick<TestServer, 'ask' | 'client'>,
  application = 'app',
  candidate: Record<string, string> = { less: '10' },
): Promise<void> {
  await pushApp(server, application, nodeApp(LIVE_APP));
  const params = { application_id: application };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
  for (const [id, options] of [
    ['baseline', {}],
    ['candidate', candidate],
  ] as const)
    await server.client.call('createInstance', {
      params,
      body: { id, name: `Instance ${id}`, version_id: 'v1', configuration: { options } },
    });
}

type Body = Record<string, unknown>;

/** Calls on the tests of one kind of an application. */
export function liveCalls(server: () => TestServer, kind: 'shadow' | 'switchback', application = 'app') {
  const root = `/v1/applications/${application}/experiments/${kind}`;
  const get = async (path: string): Promise<Body> => {
    const answer = await server().ask('GET', `${root}/${path}`);
    expectStatus(answer, 200);
    return answer.body as Body;
  };
  return {
    root,
    get,
    create: (body: object): Promise<Answer> => server().ask('POST', root, { body }),
    start: (id: string): Promise<Answer> => server().ask('PUT', `${root}/${id}/start`),
    stop: (id: string, body?: object): Promise<Answer> =>
      server().ask('PUT', `${root}/${id}/stop`, body ? { body } : {}),
    remove: (id: string): Promise<Answer> => server().ask('DELETE', `${root}/${id}`),
    status: async (id: string) => (await get(`${id}/metadata`)).status,
    runs: async (id: string) => (await get(`${id}/runs`)).runs as Body[],
    /** Waits until the test has the status. */
    reaches: (id: string, status: string): Promise<Body> =>
      server().until('runs-ended', async () => {
        const shown = await get(`${id}/metadata`);
        return shown.status === status ? shown : null;
      }),
  };
}

export const COMPARISON = { baseline_instance_id: 'baseline', candidate_instance_id: 'candidate' };

/** Makes switchback tests of one unit until one has a plan that gives it to the candidate, and starts that; answers its id. */
export async function candidateServes(
  server: () => TestServer,
  application = 'app',
  comparison = COMPARISON,
): Promise<string> {
  const calls = liveCalls(server, 'switchback', application);
  for (let drawn = 0; ; drawn += 1) {
    const id = `${comparison.baseline_instance_id}-turns-${drawn}`;
    const made = await calls.create({
      id,
      name: 'Earlier dispatch',
      comparison,
      generate_random_plan: { unit_duration_minutes: 10, units: 1 },
    });
    expectStatus(made, 201);
    const { plan } = made.body as { plan: { units: { instance_id: string }[] } };
    if (plan.units[0]?.instance_id !== comparison.candidate_instance_id) continue;
    expectStatus(await calls.start(id), 204);
    return id;
  }
}

/** What shadow tests are made, started and looked at by. */
export function shadowCalls(server: () => TestServer, application = 'app') {
  const calls = liveCalls(server, 'shadow', application);
  const draft = (more: object = {}) => ({
    id: 'test',
    name: 'Faster search',
    comparison: COMPARISON,
    termination_events: { maximum_runs: 10 },
    ...more,
  });
  const copies = async (id = 'test') => (await calls.runs(id)).filter((run) => run.experiment_id === id);
  return {
    ...calls,
    draft,
    /** Makes a test and starts it. */
    async started(more: { id?: string } & Body = {}): Promise<void> {
      expectStatus(await calls.create(draft(more)), 201);
      expectStatus(await calls.start(more.id ?? 'test'), 204);
    },
    /** The copies that were made. */
    copies,
    /** Waits until so many copies are made. */
    born: (count: number, id = 'test'): Promise<Body> =>
      server().until('runs-queued', async () => {
        const shown = await calls.get(`${id}/metadata`);
        return shown.number_of_runs === count && (await copies(id)).length === count ? shown : null;
      }),
  };
}

/** The run that a copy was made of. */
export function originalOf(copy: Body): string {
  return (copy.run_type as { reference_id: string }).reference_id;
}

/** Makes a test of two instances and starts it. */
export async function startLiveTest(
  server: TestServer,
  application: string,
  kind: 'shadow' | 'switchback',
  id: string,
  baseline: string,
  candidate: string,
): Promise<void> {
  const of = `/v1/applications/${application}/experiments/${kind}`;
  const comparison = { baseline_instance_id: baseline, candidate_instance_id: candidate };
  const more =
    kind === 'shadow'
      ? { termination_events: { maximum_runs: 5 } }
      : { generate_random_plan: { unit_duration_minutes: 30, units: 2 } };
  expectStatus(await server.ask('POST', of, { body: { id, name: `Test ${id}`, comparison, ...more } }), 201);
  expectStatus(await server.ask('PUT', `${of}/${id}/start`), 204);
}
