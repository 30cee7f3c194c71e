/** The Slurm adapter against a real cluster. The worker is a shell script, so only the jobs are under test. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../../testing/host/wait-until.ts';
import {
  findSlurmProblem,
  type SlurmCluster,
  startSlurmCluster,
} from '../../../testing/slurm/slurm-cluster.ts';
import type { ListedJob, WorkerAdapter } from './adapter.ts';
import { createSlurmAdapter } from './slurm.ts';

const PREFIX = 'switchyard-test-';
const TOKEN = 'the-token-of-workers';
const problem = await findSlurmProblem();

// Its daemons run as root, on Debian and Ubuntu; the reason of a skip goes to standard error.
describe.skipIf(problem !== null)('the Slurm adapter', () => {
  let cluster: SlurmCluster;
  let adapter: WorkerAdapter;
  /** Workers write a file with their arguments and their token, and another one on SIGTERM. */
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-slurm-'));
  const script = join(folder, 'worker.sh');
  const args = ['--cpus-per-task=2', '--mem=500M'];

  beforeAll(async () => {
    writeFileSync(
      script,
      `#!/bin/sh
trap 'touch "${folder}/$SLURM_JOB_NAME.drained"; exit 0' TERM
echo "$SWITCHYARD_WORKER_TOKEN $*" > "${folder}/$SLURM_JOB_NAME.new"
mv "${folder}/$SLURM_JOB_NAME.new" "${folder}/$SLURM_JOB_NAME"
while :; do sleep 0.1; done
`,
    );
    cluster = await startSlurmCluster({ nodes: 2, cores: 2, memoryMb: 1000 });
    adapter = createWith({});
  });
  afterAll(async () => {
    await cluster?.close();
    rmSync(folder, { recursive: true });
  });

  const createWith = (fields: { args?: string[]; workerCommand?: string }): WorkerAdapter =>
    createSlurmAdapter(
      {
        kind: 'slurm',
        args: fields.args ?? args,
        workerCommand: fields.workerCommand ?? `sh ${script}`,
        size: { cores: 2, memoryBytes: null },
      },
      cluster.env,
    );
  const start = (name: string, using = adapter): Promise<string> =>
    using.start({
      name: `${PREFIX}${name}`,
      ...{ server: 'https://yard.example', token: TOKEN, labels: ['gpu', 'region=eu'], idleMs: 60_000 },
      size: { cores: 2, memoryBytes: null },
    });
  const find = async (name: string): Promise<ListedJob | undefined> =>
    (await adapter.list(PREFIX)).find((job) => job.name === `${PREFIX}${name}`);
  const hasFile = (name: string): boolean => readdirSync(folder).includes(`${PREFIX}${name}`);
  const waitForState = (name: string, state: ListedJob['state']): Promise<ListedJob> =>
    waitUntil(`${name} is ${state}`, async () => {
      const job = await find(name);
      return job?.state === state ? job : null;
    });

  test('starts a worker with its arguments, and lists and drains it', async () => {
    const id = await start('one');
    await waitUntil('the worker runs', () => hasFile('one'));
    expect(await find('one')).toEqual({
      name: `${PREFIX}one`,
      id,
      state: 'running',
      pending: null,
      failure: null,
    });
    expect(readFileSync(join(folder, `${PREFIX}one`), 'utf8').trim()).toBe(
      `${TOKEN} --server https://yard.example --job ${PREFIX}one --idle 60 --slots 2 --label gpu --label region=eu`,
    );
    expect(await adapter.list('another-server-')).toEqual([]);
    await adapter.stop(id, { force: false });
    await waitUntil('the worker drains', () => hasFile('one.drained'));
    expect(await waitForState('one', 'ended')).toMatchObject({ failure: null });
    await adapter.stop(id, { force: false });
  });

  test('shows the token in no list of jobs and of processes', async () => {
    const id = await start('secret');
    await waitUntil('the worker runs', () => hasFile('secret'));
    expect(await cluster.run('scontrol', 'show', 'job', '-dd', id)).not.toContain(TOKEN);
    expect(await cluster.run('squeue', '--json')).not.toContain(TOKEN);
    const commands = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        } catch {
          return '';
        }
      });
    expect(commands.some((command) => command.includes(`${PREFIX}secret`))).toBe(true);
    expect(commands.filter((command) => command.includes(TOKEN))).toEqual([]);
    await adapter.stop(id, { force: true });
    await waitForState('secret', 'ended');
  });

  test('removes a job that waits, without a worker', async () => {
    const running = [await start('full-1'), await start('full-2')];
    const id = await start('waits');
    expect(await waitForState('waits', 'pending')).toMatchObject({ id });
    await waitUntil(
      'Slurm names the reason',
      async () => (await find('waits'))?.pending?.text === 'Resources',
    );
    await adapter.stop(id, { force: false });
    await waitForState('waits', 'ended');
    expect(hasFile('waits')).toBe(false);
    for (const one of running) await adapter.stop(one, { force: true });
    await waitForState('full-1', 'ended');
    await waitForState('full-2', 'ended');
  });

  test('says why a job could not be submitted, and why one ended', async () => {
    await expect(start('refused', createWith({ args: ['--partition=nowhere'] }))).rejects.toThrow(
      /^sbatch ended with status 1: .*invalid partition/,
    );
    await start('missing', createWith({ workerCommand: '/no/such/program' }));
    const ended = await waitForState('missing', 'ended');
    expect(ended.failure).toBe('Slurm says FAILED, reason NonZeroExitCode, exit code 127');
  });

  test('says why a job cannot start', async () => {
    await cluster.run('scontrol', 'update', 'PartitionName=main', 'MaxTime=1');
    const id = await start('blocked', createWith({ args: ['--time=10'] }));
    const pending = await waitUntil('Slurm names the reason', async () => (await find('blocked'))?.pending);
    // PartitionConfig on 22.05, PartitionTimeLimit on later versions.
    expect(pending).toEqual({ text: expect.stringMatching(/^Partition/), isBlocked: true });
    await adapter.stop(id, { force: false });
    await cluster.run('scontrol', 'update', 'PartitionName=main', 'MaxTime=INFINITE');
  });

  test('starts no worker on a drained node', async () => {
    await cluster.run('scontrol', 'update', 'NodeName=n1,n2', 'State=DRAIN', 'Reason=test');
    const id = await start('drained');
    expect(await waitForState('drained', 'pending')).toMatchObject({ id });
    await cluster.run('scontrol', 'update', 'NodeName=n2', 'State=RESUME');
    await waitUntil('the worker runs', () => hasFile('drained'));
    await adapter.stop(id, { force: true });
    await waitForState('drained', 'ended');
    await cluster.run('scontrol', 'update', 'NodeName=n1', 'State=RESUME');
  });

  test('says that a node went down', async () => {
    const id = await start('lost');
    await waitUntil('the worker runs', () => hasFile('lost'));
    const node = (await cluster.run('squeue', '--noheader', '--format=%N', `--jobs=${id}`)).trim();
    await cluster.killNode(node);
    await cluster.run('scontrol', 'update', `NodeName=${node}`, 'State=DOWN', 'Reason=test');
    const ended = await waitForState('lost', 'ended');
    expect(ended.failure).toContain('NODE_FAIL');
    await cluster.startNode(node);
    // A node that is down cannot be resumed before its daemon has registered.
    await waitUntil('the node is back', async () => {
      const state = await cluster.run('sinfo', '--noheader', `--nodes=${node}`, '--format=%T');
      if (state.startsWith('down'))
        await cluster.run('scontrol', 'update', `NodeName=${node}`, 'State=RESUME').catch(() => '');
      return state.startsWith('idle');
    });
    // The daemon that comes back ends the process that the dead one left.
    await waitUntil('the worker ends', () => hasFile('lost.drained'));
  });
});
