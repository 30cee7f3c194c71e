/**
 * `npm run bench -- experiments`: what it costs that runs belong to an experiment. A batch experiment of 20 inputs on 5
 * instances, 10 times each, 1,000 runs of a trivial app that reports a number, against the same 1,000 runs asked for one by
 * one through the API by 8 clients. Both are measured from the first request on; the batch until it is over, with its runs
 * compared and what was found kept, the others until the last has ended. Rounds of both alternate.
 *
 * Bookkeeping is what the batch takes beyond the same runs made one by one, as a share of what those take, once in wall time
 * and once in processor time of the server, its launcher and the apps; each is the median over rounds, and each has to be
 * below a tenth. It is negative where planning 1,000 runs at once costs less than 1,000 requests do.
 *
 * Beside it: the time that the runs themselves take, which is the sum of their execution durations over the slots, and what
 * share of the wall time of the batch it is. Busy cores are processor time in wall time.
 *
 * `--rounds`, `--repetitions`, `--inputs`, `--slots`, `--share-max` above which the benchmark exits with 1.
 */
import { parseArgs } from 'node:util';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { readCpuMs } from '../../server/testing/host/processes.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import {
  BENCH_APPLICATION,
  median,
  printLine,
  pushApp,
  type StartedServer,
  startSwitchyard,
} from './harness.ts';
import { closeConnections, sendRequest } from './keep-alive-client.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    repetitions: { type: 'string', default: '10' },
    inputs: { type: 'string', default: '20' },
    slots: { type: 'string', default: '2' },
    'share-max': { type: 'string', default: '0.1' },
  },
});
const ROUNDS = Number(values.rounds);
const REPETITIONS = Number(values.repetitions);
const SLOTS = Number(values.slots);
const INPUTS = Number(values.inputs);
const INSTANCES = 5;
const runsOf = (repetitions: number): number => INPUTS * INSTANCES * repetitions;
const RUNS = runsOf(REPETITIONS);
const CLIENTS = 8;
/** Asked forty times a second, the figures of the server were a tenth of what was measured when the machine was busy. */
const POLL_MS = 200;
const SHARE_MAX = Number(values['share-max']);
const APP = `/v1/applications/${BENCH_APPLICATION}`;
const MANIFEST = 'type: binary\nruntime: native\nfiles: [main]\n';
/** Reports the number that it was given, as its value. */
const MAIN = `#!/bin/sh
IFS= read -r line
value=\${line#*:}
echo "{\\"statistics\\":{\\"schema\\":\\"v1\\",\\"result\\":{\\"value\\":\${value%\\}}}}}"
`;

async function ask(server: StartedServer, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await sendRequest(server, method, path, body && JSON.stringify(body));
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return answer.text === '' ? null : JSON.parse(answer.text);
}

/** Makes the instances, and an input set of managed inputs. */
async function furnish(server: StartedServer): Promise<void> {
  await pushApp(server, await packFiles({ 'app.yaml': MANIFEST, main: MAIN }), 'binary');
  await ask(server, 'POST', `${APP}/versions`, { id: 'v1', name: 'Version one' });
  for (let at = 0; at < INSTANCES; at += 1)
    await ask(server, 'POST', `${APP}/instances`, { id: `i${at}`, name: `Instance ${at}`, version_id: 'v1' });
  const inputs: { id: string }[] = [];
  for (let at = 0; at < INPUTS; at += 1) {
    const upload = (await ask(server, 'POST', `${APP}/runs/uploadurl`)) as Record<string, string>;
    await fetch(upload.upload_url ?? '', { method: 'PUT', body: JSON.stringify({ value: at }) });
    await ask(server, 'POST', `${APP}/inputs`, {
      id: `in${at}`,
      name: `Input ${at}`,
      upload_id: upload.upload_id,
    });
    inputs.push({ id: `in${at}` });
  }
  await ask(server, 'POST', `${APP}/experiments/inputsets`, { id: 'set', name: 'Inputs', inputs });
}

async function finished(server: StartedServer): Promise<number> {
  const { text } = await sendRequest(server, 'GET', '/metrics');
  const ended = [...text.matchAll(/^switchyard_runs_finished_total\{status="(\w+)"\} (\d+)/gm)];
  const failed = ended.find((one) => one[1] !== 'succeeded');
  if (failed) throw new Error(`${failed[2]} runs of the benchmark ${failed[1]}`);
  return Number(ended[0]?.[2] ?? 0);
}

interface Took {
  wallMs: number;
  cpuMs: number;
}

/** From the first request of `begin` until all runs have ended and `isOver`. */
async function measure(
  server: StartedServer,
  runs: number,
  begin: () => Promise<void>,
  isOver: () => Promise<boolean>,
): Promise<Took> {
  const wanted = (await finished(server)) + runs;
  const [wall, cpu] = [performance.now(), readCpuMs(server.pid)];
  await begin();
  while ((await finished(server)) < wanted) await sleep(POLL_MS);
  while (!(await isOver())) await sleep(1);
  return { wallMs: performance.now() - wall, cpuMs: readCpuMs(server.pid) - cpu };
}

function oneByOne(server: StartedServer, repetitions = REPETITIONS): Promise<Took> {
  let next = 0;
  const make = async (): Promise<void> => {
    while (next < runsOf(repetitions)) {
      const at = next;
      next += 1;
      const input_id = `in${at % INPUTS}`;
      await ask(server, 'POST', `${APP}/runs?instance_id=i${Math.floor(at / INPUTS) % INSTANCES}`, {
        input_id,
      });
    }
  };
  return measure(
    server,
    runsOf(repetitions),
    async () => {
      await Promise.all(Array.from({ length: CLIENTS }, make));
    },
    async () => true,
  );
}

function asBatch(server: StartedServer, id: string, repetitions = REPETITIONS): Promise<Took> {
  const path = `${APP}/experiments/batch`;
  return measure(
    server,
    runsOf(repetitions),
    async () => {
      await ask(server, 'POST', path, {
        id,
        name: 'Benchmark',
        input_set_id: 'set',
        instance_ids: Array.from({ length: INSTANCES }, (_, at) => `i${at}`),
        repetitions,
      });
    },
    async () => {
      const { status } = (await ask(server, 'GET', `${path}/${id}/metadata`)) as { status: string };
      return status === 'completed';
    },
  );
}

/** What the runs of the batch took together, divided among the slots. */
async function runsAloneMs(server: StartedServer, id: string): Promise<number> {
  const { runs } = (await ask(server, 'GET', `${APP}/experiments/batch/${id}/runs`)) as {
    runs: { id: string }[];
  };
  if (runs.length !== RUNS) throw new Error(`The batch has ${runs.length} runs; it must have ${RUNS}.`);
  let sum = 0;
  for (const run of runs) {
    const { metadata } = (await ask(server, 'GET', `${APP}/runs/${run.id}/metadata`)) as {
      metadata: { execution_duration: number };
    };
    sum += metadata.execution_duration;
  }
  return sum / SLOTS;
}

const server = await startSwitchyard({ SWITCHYARD_CAPACITY: String(SLOTS) });
try {
  await furnish(server);
  // What is read and compiled at the first use is no part of either.
  await oneByOne(server, 1);
  await asBatch(server, 'first', 1);
  const rounds: { alone: Took; batch: Took; runsMs: number }[] = [];
  for (let count = 0; count < ROUNDS; count += 1) {
    const id = `round-${count}`;
    const first = count % 2 === 0 ? await oneByOne(server) : undefined;
    const batch = await asBatch(server, id);
    const alone = first ?? (await oneByOne(server));
    rounds.push({ alone, batch, runsMs: await runsAloneMs(server, id) });
  }
  const seconds = (of: (round: (typeof rounds)[number]) => number): string =>
    `${(median(rounds.map(of)) / 1000).toFixed(2).padStart(7)} s`;
  const cores = (of: (round: (typeof rounds)[number]) => Took): string =>
    median(rounds.map((one) => of(one).cpuMs / of(one).wallMs)).toFixed(2);
  const share = (of: (took: Took) => number): number =>
    median(rounds.map(({ alone, batch }) => of(batch) / of(alone) - 1));
  printLine(
    `${RUNS} runs of a trivial app: ${INPUTS} inputs, ${INSTANCES} instances, ${REPETITIONS} repetitions, ${SLOTS} slots`,
  );
  printLine(
    `as a batch experiment    ${seconds((one) => one.batch.wallMs)} wall ${seconds((one) => one.batch.cpuMs)} processor  ${cores((one) => one.batch)} busy cores`,
  );
  printLine(
    `one by one               ${seconds((one) => one.alone.wallMs)} wall ${seconds((one) => one.alone.cpuMs)} processor  ${cores((one) => one.alone)} busy cores`,
  );
  printLine(
    `the runs themselves      ${seconds((one) => one.runsMs)} in ${SLOTS} slots, ${(100 * median(rounds.map((one) => one.runsMs / one.batch.wallMs))).toFixed(0)} % of the wall time of the batch`,
  );
  const shares = { wall: share((took) => took.wallMs), processor: share((took) => took.cpuMs) };
  for (const [name, found] of Object.entries(shares)) {
    printLine(
      `bookkeeping, share of ${name} time: ${found.toFixed(3)} (below ${SHARE_MAX}: ${found < SHARE_MAX})`,
    );
    if (!(found < SHARE_MAX)) process.exitCode = 1;
  }
} finally {
  closeConnections();
  await server.stop();
}
