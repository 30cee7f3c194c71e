/**
 * Creates experiments during the chaos test: batches, acceptance tests with a batch, shadow, switchback
 * and bisect experiments. One of each runs at a time, again and again while the server dies. The load records acknowledged experiments; at the
 * end, the rows of each must agree with the existing runs.
 */

import { sleep } from '../server/testing/host/sleep.ts';
import type { TestResponse } from '../server/testing/http/request.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';
import { LOAD_LICENSE } from '../server/testing/load/license-history.ts';
import { LOAD_APPLICATION, type RequestTarget } from '../server/testing/load/run-load.ts';
import { checkAcceptanceTests } from './acceptance-checks.ts';
import { RetryingClient } from './retrying-client.ts';

const PATH = `/v1/applications/${LOAD_APPLICATION}`;
const INPUTS = 5;
const REPETITIONS = 2;
const BATCH_RUNS = INPUTS * 2 * REPETITIONS;
const SHADOW_RUNS = 25;
/** Instances on whose runs the tests act; the clients of the load create runs on them. */
export const SHADOW_INSTANCE = 'shadowed';
export const SWITCHBACK_INSTANCE = 'switched';

type Kind = 'batch' | 'acceptance' | 'shadow' | 'switchback' | 'bisect';

/** Creates experiments of each kind, one at a time. */
export class ExperimentLoad {
  /** Ids of acknowledged experiments, by kind. */
  readonly createdIds: Record<Kind, string[]> = {
    batch: [],
    acceptance: [],
    shadow: [],
    switchback: [],
    bisect: [],
  };
  /** Deleted acceptance tests; their batches have the same ids. */
  readonly deleted: string[] = [];
  readonly #client: RetryingClient;
  #count = 0;
  #stopped = false;

  constructor(target: RequestTarget) {
    this.#client = new RetryingClient(target);
  }

  get rejections(): readonly string[] {
    return this.#client.rejections;
  }

  /** Creates the versions, the instances, and an input set from new runs. */
  async prepare(): Promise<void> {
    const runs: string[] = [];
    for (let n = 1; n <= INPUTS; n += 1) {
      const { body } = await this.#request('POST', '/runs', { input: { n, ms: 20, exit: 0, pad: 10 } });
      runs.push((body as { run_id: string }).run_id);
    }
    for (const id of ['v1', 'v2', 'v3'])
      await this.#request('POST', '/versions', { id, name: `Version ${id}` });
    for (const id of [SHADOW_INSTANCE, SWITCHBACK_INSTANCE])
      await this.#request('POST', '/instances', { id, name: `Instance ${id}`, version_id: 'v1' });
    // Its runs are half of the batches, so they wait for each other.
    await this.#client.retry('PUT', '/v1/account/licenses', { licenses: [LOAD_LICENSE] });
    const requirements = { licenses: { [LOAD_LICENSE.name]: 1 } };
    await this.#request('POST', '/instances', {
      ...{ id: 'candidate', name: 'Instance candidate', version_id: 'v1' },
      configuration: { requirements },
    });
    await this.#request('POST', '/experiments/inputsets', {
      id: 'inputs',
      name: 'Inputs',
      run_ids: runs,
    });
    if (this.rejections.length > 0) throw new Error(this.rejections.join('\n'));
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Runs batches one after the other. */
  async runBatches(): Promise<void> {
    while (!this.#stopped) {
      const id = await this.#create('batch', {
        input_set_id: 'inputs',
        instance_ids: [SHADOW_INSTANCE, 'candidate'],
        repetitions: REPETITIONS,
      });
      await this.#waitForEnd('batch', id);
    }
  }

  /** Runs acceptance tests, each with its own batch, until they are decided; deletes every third. */
  async runAcceptanceTests(): Promise<void> {
    while (!this.#stopped) {
      const id = await this.#create('acceptance', {
        control: { instance_id: SHADOW_INSTANCE },
        candidate: { instance_id: 'candidate' },
        metrics: ['mean', 'max'].map((statistic) => ({
          field: 'result.value',
          statistic,
          metric_type: 'direct-comparison',
          params: { operator: 'le' },
        })),
        input_set_id: 'inputs',
        repetitions: REPETITIONS,
      });
      await this.#waitForEnd('acceptance', id);
      if (this.createdIds.acceptance.length % 3 !== 0 || this.#stopped) continue;
      await this.#request('DELETE', `/experiments/acceptance/${id}`);
      this.createdIds.acceptance.pop();
      this.deleted.push(id);
    }
  }

  /** Runs shadow tests, each up to its maximum number of runs. */
  async runShadowTests(): Promise<void> {
    while (!this.#stopped) {
      const id = await this.#create('shadow', {
        comparison: { baseline_instance_id: SHADOW_INSTANCE, candidate_instance_id: 'candidate' },
        termination_events: { maximum_runs: SHADOW_RUNS },
      });
      await this.#request('PUT', `/experiments/shadow/${id}/start`);
      await this.#waitForEnd('shadow', id);
    }
  }

  /** Runs switchback tests of two units of a minute; stops some in the middle. */
  async runSwitchbackTests(): Promise<void> {
    while (!this.#stopped) {
      const id = await this.#create('switchback', {
        comparison: { baseline_instance_id: SWITCHBACK_INSTANCE, candidate_instance_id: 'candidate' },
        generate_random_plan: { unit_duration_minutes: 1, units: 2 },
      });
      await this.#request('PUT', `/experiments/switchback/${id}/start`);
      await this.#waitForEnd('switchback', id, Math.random() < 0.5 ? 75_000 : null);
    }
  }

  /** Searches equal versions for one that is worse. */
  async runBisects(): Promise<void> {
    while (!this.#stopped) {
      const id = await this.#create('bisect', {
        input_set_id: 'inputs',
        indicator: 'result.value',
        good_version_id: 'v1',
        bad_version_id: 'v3',
        difference: { type: 'relative', value: 0.1 },
      });
      await this.#waitForEnd('bisect', id);
    }
  }

  /** Stops running tests, so that their rows no longer change. */
  async finish(): Promise<void> {
    for (const kind of ['shadow', 'switchback', 'bisect'] as const) {
      const id = this.createdIds[kind].at(-1);
      if (id === undefined) continue;
      if ((await this.#readStatus(kind, id)) === 'started')
        await this.#request('PUT', `/experiments/${kind}/${id}/stop`);
    }
  }

  /** Returns kind and id of acknowledged experiments that have not ended. */
  async listUnfinished(): Promise<string[]> {
    const found: string[] = [];
    for (const [kind, ids] of Object.entries(this.createdIds) as [Kind, string[]][])
      for (const id of ids) {
        const status = await this.#readStatus(kind, id);
        if (status === 'started') found.push(`${kind} ${id}`);
      }
    return found;
  }

  async #create(kind: Kind, body: Record<string, unknown>): Promise<string> {
    this.#count += 1;
    const id = `${kind}-${this.#count}`;
    await this.#request('POST', `/experiments/${kind}`, { id, name: `Test ${id}`, ...body });
    this.createdIds[kind].push(id);
    return id;
  }

  async #waitForEnd(kind: Kind, id: string, stopAfterMs: number | null = null): Promise<void> {
    const begun = performance.now();
    while (!this.#stopped) {
      if ((await this.#readStatus(kind, id)) !== 'started') return;
      if (stopAfterMs !== null && performance.now() - begun > stopAfterMs)
        await this.#request('PUT', `/experiments/${kind}/${id}/stop`);
      await sleep(200);
    }
  }

  async #readStatus(kind: Kind, id: string): Promise<string> {
    const rest = kind === 'acceptance' || kind === 'bisect' ? '' : '/metadata';
    const response = await this.#request('GET', `/experiments/${kind}/${id}${rest}`);
    return (response.body as { status: string }).status;
  }

  #request(method: string, path: string, body?: Record<string, unknown>): Promise<TestResponse> {
    return this.#client.retry(method, `${PATH}${path}`, body);
  }
}

/** Returns violations and counts of every acknowledged experiment, from the database of the stopped server. */
export async function checkExperiments(
  query: RunQuery,
  { createdIds, deleted }: Pick<ExperimentLoad, 'createdIds' | 'deleted'>,
): Promise<{ violations: string[]; counts: Record<string, number> }> {
  const violations: string[] = [];
  const rows = await query(
    'select uid, id, kind, status, definition, requested from experiments where deleted_at is null',
  );
  const found = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
  const counts = {
    'runs of batches': 0,
    'shadow copies': 0,
    'runs of bisect experiments': 0,
    'runs routed by switchback tests': 0,
  };
  violations.push(...(await checkAcceptanceTests(query, createdIds.acceptance, deleted, BATCH_RUNS / 2)));
  for (const [kind, ids] of Object.entries(createdIds) as [Kind, string[]][]) {
    if (kind === 'acceptance') continue;
    for (const id of ids) {
      const experiment = found.get(`${kind} ${id}`);
      if (!experiment) violations.push(`the ${kind} ${id} was acknowledged and does not exist`);
      else if (experiment.status === 'started') violations.push(`the ${kind} ${id} has not ended`);
    }
  }
  for (const row of rows) {
    const name = `the ${row.kind} ${row.id}`;
    const runs = await query(
      `select id, status, instance_id, version_id, created_at, plan_unit_index, parent_run_id, labels, input_id, finished_at
       from runs where experiment_uid = '${row.uid}'`,
    );
    for (const run of runs)
      if (run.finished_at === null)
        violations.push(`${name} is ${row.status}, but its run ${run.id} is ${run.status}`);
    if (row.kind === 'batch') {
      counts['runs of batches'] += runs.length;
      if (runs.length !== BATCH_RUNS) violations.push(`${name} has ${runs.length} runs of ${BATCH_RUNS}`);
      violations.push(...checkCells(name, runs));
    } else if (row.kind === 'bisect') {
      counts['runs of bisect experiments'] += runs.length;
      violations.push(...checkCells(name, runs));
    } else if (row.kind === 'shadow') {
      counts['shadow copies'] += runs.length;
      violations.push(...(await checkCopies(query, name, runs)));
    } else {
      counts['runs routed by switchback tests'] += runs.length;
      violations.push(...checkUnits(name, row, runs));
    }
  }
  const orphans = await query(
    `select 'planned' as what, count(*) as count from planned_runs
     union all select 'captured', count(*) from captured_runs
     union all select 'routes', count(*) from run_routes
     union all select 'inputs of experiments', count(*) from experiment_inputs`,
  );
  for (const { what, count } of orphans)
    if (Number(count) > 0) violations.push(`${count} orphan rows: ${what}`);
  return { violations, counts };
}

type Row = Record<string, unknown>;

function checkCells(name: string, runs: Row[]): string[] {
  const cells = new Set(
    runs.map((run) => `${run.instance_id} ${run.version_id} ${run.input_id} ${run.labels}`),
  );
  return cells.size === runs.length ? [] : [`${name} has duplicate runs`];
}

async function checkCopies(query: RunQuery, name: string, copies: Row[]): Promise<string[]> {
  const violations: string[] = [];
  if (copies.length > SHADOW_RUNS)
    violations.push(`${name} made ${copies.length} copies of at most ${SHADOW_RUNS}`);
  const originals = new Set(copies.map((copy) => copy.parent_run_id));
  if (originals.size !== copies.length) violations.push(`${name} copied a run twice`);
  for (const copy of copies) {
    const [original] = await query(
      `select instance_id, experiment_uid from runs where id = '${copy.parent_run_id}'`,
    );
    if (original?.instance_id !== SHADOW_INSTANCE || original.experiment_uid !== null)
      violations.push(
        `${name} copied ${copy.parent_run_id}, which is not a caller's run of ${SHADOW_INSTANCE}`,
      );
  }
  return violations;
}

/** The creation time of a run determines its unit, and the unit its instance. */
function checkUnits(name: string, row: Row, runs: Row[]): string[] {
  const { start, units } = JSON.parse(String(row.definition)) as { start: number | null; units: string[] };
  return runs.flatMap((run) => {
    const unit = Math.floor((Number(run.created_at) - Number(start)) / 60_000);
    const instance = units[unit];
    return unit === Number(run.plan_unit_index) && instance === run.instance_id
      ? []
      : [
          `${name} routed ${run.id} to ${run.instance_id} as unit ${run.plan_unit_index}; by its creation time, the unit is ${unit} and the instance ${instance}`,
        ];
  });
}
