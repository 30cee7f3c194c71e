/**
 * `npm run bench -- payloads`: the memory of the server while it transfers large content. It uploads 500 MB of random
 * JSON text to an upload URL, which an app counts. It creates outputs of 100 MB, as JSON and as an archive, and
 * downloads them. Then it sends ten concurrent uploads of 100 MB. The blobs are on disk and on the S3 server of the
 * tests.
 *
 * For each step it prints the seconds, the baseline's, and the memory. The baseline is `cp && sync` of as many bytes,
 * right before and after. The memory is the maximum increase of the resident memory of the server and its launcher
 * together.
 *
 * Flags: `--places disk,s3`, `--megabytes` of the large upload, `--output-megabytes` of the outputs and of each of the
 * ten uploads, `--concurrent` for another number of them. A megabyte is 1,048,576 bytes here.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { isTerminal } from '@switchyard/contract/states.ts';
import { startS3Server } from '../../server/platform/blobs/testing/s3-server.ts';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { measureMemory } from '../../server/testing/host/memory.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { BENCH_APPLICATION, printLine, pushApp, type StartedServer, startSwitchyard } from './harness.ts';

const { values } = parseArgs({
  options: {
    places: { type: 'string', default: 'disk,s3' },
    megabytes: { type: 'string', default: '500' },
    'output-megabytes': { type: 'string', default: '100' },
    concurrent: { type: 'string', default: '10' },
  },
});
const MB = 1024 * 1024;
const LARGE_BYTES = Number(values.megabytes) * MB;
const OUTPUT_BYTES = Number(values['output-megabytes']) * MB;
const CONCURRENT_RUNS = Number(values.concurrent);
const POLL_MS = 50;
const params = { application_id: BENCH_APPLICATION };

/**
 * Counts its input and writes as many bytes as the option says: many small values as JSON on stdout, or a file among
 * its solutions.
 */
const APP = {
  'app.yaml': 'type: node\nruntime: node\nfiles: ["**"]\n',
  'main.mjs': `
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const bytes = Number(option('-bytes'));
let counted = 0;
for await (const chunk of process.stdin) counted += chunk.length;
async function write(stream, bytes, part) {
  for (let left = bytes; left > 0; ) {
    const next = part(left);
    left -= next.length;
    if (!stream.write(next)) await once(stream, 'drain');
  }
}
if (option('-leave') === 'files') {
  const file = createWriteStream('outputs/solutions/solution.bin');
  await write(file, bytes, (left) => randomBytes(Math.min(left, 65536)));
  file.end();
  await once(file, 'close');
} else if (option('-leave') === 'json') {
  const [head, tail] = ['{"stops":[', '{}]}'];
  process.stdout.write(head);
  const rows = () => Array.from({ length: 500 }, (_, n) =>
    JSON.stringify({ id: 'stop-' + n, lon: Math.random(), lat: Math.random(), served: n % 2 === 0 }) + ',').join('');
  await write(process.stdout, bytes - head.length - tail.length, (left) => {
    const next = rows();
    return next.length <= left ? next : ' '.repeat(left);
  });
  process.stdout.write(tail);
} else process.stdout.write(JSON.stringify({ counted }));
`,
};

/** Writes a file of JSON text, an array of strings without repetitions. */
async function writeJson(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.write('["');
    let left = bytes - 4;
    while (left > 0) {
      const row = `${randomBytes(500_000).toString('hex')}","`.slice(-Math.min(left, 1_000_003));
      left -= row.length;
      await file.write(row);
    }
    await file.write('"]');
  } finally {
    await file.close();
  }
}

async function put(url: string, path: string): Promise<void> {
  const sent = request(url, { method: 'PUT', headers: { 'content-length': statSync(path).size } });
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
  await pipeline(createReadStream(path, { highWaterMark: MB }), sent);
  const response = await responded;
  response.resume();
  if (response.statusCode !== 200) throw new Error(`the upload returned ${response.statusCode}`);
}

async function upload({ client }: StartedServer, path: string): Promise<string> {
  const { body } = await client.call('createRunUpload', { params });
  await put(body.upload_url, path);
  return body.upload_id;
}

async function download(url: string): Promise<number> {
  const response = await fetch(url);
  if (response.status !== 200 || !response.body) throw new Error(`the download returned ${response.status}`);
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  return bytes;
}

/** Creates a run and waits until it has succeeded. */
async function run(
  server: StartedServer,
  body: Record<string, unknown>,
): Promise<{ id: string; output_size: number }> {
  const response = await server.request('POST', `/v1/applications/${BENCH_APPLICATION}/runs`, { body });
  if (response.status !== 202)
    throw new Error(`creating a run returned ${response.status}: ${response.text}`);
  const { run_id } = response.body as { run_id: string };
  for (;;) {
    const { body } = await server.client.call('getRunMetadata', { params: { ...params, run_id } });
    if (body.status_v2 === 'succeeded') return { id: run_id, output_size: body.output_size };
    if (isTerminal(body.status_v2)) throw new Error(`the run ${body.status_v2}: ${body.error}`);
    await sleep(POLL_MS);
  }
}

/** Returns the seconds of `cp && sync` of the file. */
function measureCopy(path: string): number {
  const begin = performance.now();
  execFileSync('cp', [path, `${path}.copy`]);
  execFileSync('sync', [`${path}.copy`]);
  const durationMs = performance.now() - begin;
  rmSync(`${path}.copy`);
  return durationMs / 1000;
}

/** A step of the benchmark; its baseline copies the file `times` times. */
interface Step {
  name: string;
  file: string;
  times?: number;
}

/** Measures one step, with the baseline before and after it. */
async function measureStep<T>(
  server: StartedServer,
  { name, file, times = 1 }: Step,
  work: () => Promise<T>,
): Promise<T> {
  const pids = [server.pid, server.findLauncherPid() ?? server.pid];
  const before = measureCopy(file);
  const { result, durationMs: ms, bytesBefore: base, peakBytes: peak } = await measureMemory(pids, work);
  const baseline = ((before + measureCopy(file)) / 2) * times;
  const mb = (bytes: number): string => `${(bytes / MB).toFixed(0)} MB`;
  printLine(
    `  ${name.padEnd(50)} ${(ms / 1000).toFixed(1).padStart(5)} s  baseline ${baseline.toFixed(1).padStart(5)} s  ratio ${(ms / 1000 / baseline).toFixed(1).padStart(4)}  memory ${mb(base)} +${mb(peak - base)}`,
  );
  return result;
}

async function bench(server: StartedServer, folder: string): Promise<void> {
  const [large, output] = [join(folder, 'large.json'), join(folder, 'output.json')];
  await pushApp(server, await packFiles(APP), 'node');
  // The first run fills the caches of the later ones.
  await run(server, { input: {} });
  const inputs = await measureStep(server, { name: `${OUTPUT_BYTES / MB} MB in`, file: output }, () =>
    upload(server, output),
  );
  const id = await measureStep(server, { name: `${LARGE_BYTES / MB} MB in`, file: large }, () =>
    upload(server, large),
  );
  const counted = await measureStep(server, { name: 'a run on it, which counts it', file: large }, () =>
    run(server, { upload_id: id }),
  );
  const { body } = await server.client.call('getRun', { params: { ...params, run_id: counted.id } });
  const { counted: found } = body.output as { counted: number };
  if (found !== LARGE_BYTES) throw new Error(`the app counted ${found} of ${LARGE_BYTES} bytes`);

  const archive = join(folder, 'input.tar.gz');
  writeFileSync(archive, await packFiles({ 'problem.txt': 'nothing' }));
  const leave = (kind: string, bytes: number) => ({ options: { leave: kind, bytes: String(bytes) } });
  const multi = { type: 'multi-file' };
  const outputs: [string, Record<string, unknown>][] = [
    ['JSON', { input: {}, ...leave('json', OUTPUT_BYTES) }],
    // Slightly less, for the archive around it.
    [
      'files',
      {
        upload_id: await upload(server, archive),
        configuration: { format: { input: multi, output: multi } },
        ...leave('files', OUTPUT_BYTES - MB),
      },
    ],
  ];
  for (const [kind, body] of outputs) {
    const ended = await measureStep(
      server,
      { name: `a run that leaves ${OUTPUT_BYTES / MB} MB of ${kind}`, file: output },
      () => run(server, body),
    );
    if (ended.output_size < OUTPUT_BYTES - MB) throw new Error(`its output has ${ended.output_size} bytes`);
    const response = await server.request(
      'GET',
      `/v1/applications/${BENCH_APPLICATION}/runs/${ended.id}?format=url`,
    );
    const { url } = (response.body as { output: { url: string } }).output;
    const received = await measureStep(server, { name: 'and its output, downloaded', file: output }, () =>
      download(url),
    );
    if (received !== ended.output_size)
      throw new Error(`the download has ${received} of ${ended.output_size} bytes`);
  }

  await measureStep(
    server,
    {
      name: `${CONCURRENT_RUNS} uploads of ${OUTPUT_BYTES / MB} MB at once`,
      file: output,
      times: CONCURRENT_RUNS,
    },
    () => Promise.all(Array.from({ length: CONCURRENT_RUNS }, () => upload(server, output))),
  );
  await measureStep(
    server,
    { name: `${CONCURRENT_RUNS} runs on ${OUTPUT_BYTES / MB} MB each`, file: output, times: CONCURRENT_RUNS },
    () => Promise.all(Array.from({ length: CONCURRENT_RUNS }, () => run(server, { upload_id: inputs }))),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'switchyard-payloads-'));
try {
  await writeJson(join(folder, 'large.json'), LARGE_BYTES);
  await writeJson(join(folder, 'output.json'), OUTPUT_BYTES);
  for (const place of values.places.split(',')) {
    const s3 = place === 's3' ? await startS3Server() : undefined;
    const server = await startSwitchyard(s3?.env ?? {});
    try {
      printLine(`blobs on ${place}`);
      await bench(server, folder);
    } finally {
      await server.stop();
      await s3?.stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
