/**
 * `npm run bench -- backup`: the cost of a backup for concurrent clients. Clients create runs all the time, on a server
 * that has `--rows` runs already. Rounds without a backup alternate with rounds during one, and the figures are medians
 * of the rounds. It also reports the duration of a backup, and how much it reads in a second.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import {
  BENCH_APPLICATION,
  BINARY_MANIFEST,
  median,
  printLine,
  printRatio,
  pushApp,
  quantile,
  ROUTING_INPUT,
  startSwitchyard,
} from './harness.ts';
import { closeConnections, sendRequest } from './keep-alive-client.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '5' },
    clients: { type: 'string', default: '16' },
  },
});
const ROWS = Number(values.rows);
const ROUNDS = Number(values.rounds);
const CLIENTS = Number(values.clients);
const COMMAND = join(import.meta.dirname, '..', '..', 'server', 'ops', 'backup', 'backup-command.ts');
const RUNS = `/v1/applications/${BENCH_APPLICATION}/runs`;
const body = JSON.stringify({ input: ROUTING_INPUT });

const data = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
const server = await startSwitchyard({ SWITCHYARD_CAPACITY: '0,16c60gb12h=1' }, data);

interface Round {
  perSecond: number;
  p99: number;
  ms: number;
}

/** Creates runs until the work has ended. */
async function createWhile(meanwhile: () => Promise<unknown>): Promise<Round> {
  const times: number[] = [];
  let stopped = false;
  const client = async (): Promise<void> => {
    while (!stopped) {
      const begun = performance.now();
      const { status, text } = await sendRequest(server, 'POST', RUNS, body);
      if (status !== 202) throw new Error(`Creating a run returned ${status}: ${text}`);
      times.push(performance.now() - begun);
    }
  };
  const begun = performance.now();
  const clients = Array.from({ length: CLIENTS }, client);
  await meanwhile();
  stopped = true;
  await Promise.all(clients);
  const ms = performance.now() - begun;
  return { perSecond: (times.length / ms) * 1000, p99: quantile(times, 0.99), ms };
}

async function backUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-backup-'));
  try {
    await promisify(execFile)(process.execPath, [COMMAND, folder], {
      env: { PATH: process.env.PATH, SWITCHYARD_DATA: data },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: '#!/bin/sh\n' }), 'binary');
  let made = 0;
  await createWhile(async () => {
    while (made < ROWS) {
      const { text } = await sendRequest(server, 'POST', RUNS, body);
      if (!text.includes('run_id')) throw new Error(text);
      made += 1 + CLIENTS;
    }
  });
  const during: Round[] = [];
  const without: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = await createWhile(backUp);
    during.push(one);
    without.push(await createWhile(() => sleep(one.ms)));
  }
  const rate = (rounds: readonly Round[]): number => median(rounds.map((one) => one.perSecond));
  const ratio = median(during.map((one, at) => one.perSecond / (without[at]?.perSecond ?? Number.NaN)));
  printRatio('create runs during a backup vs without one', rate(during), rate(without), ratio);
  const p99 = (rounds: readonly Round[]): string => median(rounds.map((one) => one.p99)).toFixed(0);
  printLine(`p99 ${p99(during)} ms during a backup, ${p99(without)} ms without`);
  const size = statSync(join(data, 'switchyard.db')).size / 1024 ** 2;
  const seconds = median(during.map((one) => one.ms)) / 1000;
  printLine(
    `a backup takes ${seconds.toFixed(1)} s of a database of ${size.toFixed(0)} MiB, under this load`,
  );
} finally {
  closeConnections();
  await server.stop();
  rmSync(data, { recursive: true, force: true });
}
