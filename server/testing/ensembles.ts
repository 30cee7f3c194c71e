/** Ensembles for tests: an app whose runs answer, fail or wait as their options say, definitions of it, and runs of these. */
import type { EnsembleCreate, EnsembleRun } from '@switchyard/contract/ensemble-shapes.ts';
import { nodeApp, pushApp, type RunAsked } from './apps.ts';
import type { TestServer } from './server.ts';

/** Answers the numbers it is told to, or fails, or waits to be ended. */
export const TOLD_APP = nodeApp(`async (input, options) => {
  const say = JSON.parse(options.say ?? '{}');
  process.stderr.write('begun\\n');
  if (say.waits) await new Promise((resolve) => setTimeout(resolve, 600_000));
  if (say.fails) process.exit(3);
  return {
    solution: { ...input, said: options.say, common: options.common ?? null },
    ...(say.value === undefined ? {} : { statistics: { schema: 'v1', result: { value: say.value, custom: { n: say.n ?? 0 } } } }),
    assets: [{ name: 'picture', content: { of: options.say } }],
  };
}`);

interface Told {
  value?: number;
  n?: number;
  fails?: true;
  waits?: true;
}
type Group = EnsembleCreate['run_groups'][number];

/** Options that tell the app. */
export const say = (told: Told) => ({ say: JSON.stringify(told) });

/** A group of runs that are told the same. */
export const group = (id: string, told: Told, more: Partial<Omit<Group, 'instance_id'>> = {}) =>
  groupOn('latest', id, told, more);

export const groupOn = (
  instance: string,
  id: string,
  told: Told,
  more: Partial<Omit<Group, 'instance_id'>> = {},
) => ({ id, instance_id: instance, options: say(told), ...more });

/** The lowest value, within 1 of it the highest n. */
export const COST_THEN_N = [
  {
    id: 'cost',
    statistics_path: '$.result.value',
    objective: 'minimize' as const,
    index: 0,
    tolerance: { type: 'absolute' as const, value: 1 },
  },
  { id: 'n', statistics_path: 'result.custom.n', objective: 'maximize' as const, index: 1 },
];

/** Pushes the app as `app`, and defines the ensemble `best` on it. */
export async function furnish(server: TestServer, groups: ReturnType<typeof group>[]): Promise<void> {
  await pushApp(server, 'app', TOLD_APP);
  await define(server, 'best', groups);
}

export async function define(
  server: TestServer,
  id: string,
  run_groups: ReturnType<typeof group>[],
): Promise<void> {
  const body = { id, name: 'Any name', run_groups, rules: COST_THEN_N };
  await server.client.call('createEnsemble', { params: { application_id: 'app' }, body });
}

/** What makes a run one of the ensemble. */
export const typeOf = (definition_id: string) => ({ run_type: { type: 'ensemble', definition_id } });

/** A run of the ensemble `best`, for createRun and runToEnd. */
export const asked = (body: Record<string, unknown> = {}): RunAsked => ({
  input: { hello: 'wörld' },
  body: { configuration: typeOf('best'), ...body },
});

export async function ensembleOf(server: TestServer, run: string): Promise<EnsembleRun> {
  const params = { application_id: 'app', run_id: run };
  return (await server.client.call('getRunEnsemble', { params })).body;
}
