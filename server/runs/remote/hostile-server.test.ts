/** A server that lies to its worker, or a proxy that answers in its place. The worker stays alive and within its folder. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import { RemoteAssignment } from '@switchyard/worker/remote/remote-assignment.ts';
import { createParser } from '@switchyard/worker/remote/server-connection.ts';
import { describe, expect, test } from 'vitest';
import { startWorkerProcess } from '../../testing/servers/worker-process.ts';

const CONTENT = { bytes: 2, content: 'e30=', path: '/v1/downloads/content-1?expires=1&signature=a' };
const JOB = {
  ...{ run_id: 'run-1', fence: 1, application_id: 'app', execution_class: '6c9500mb870s' },
  ...{ workflow_depth: null, is_compared: false, runtime: 'python:3.11', arguments: [] },
  duration_limit_ms: 60_000,
  executable: {
    ...{ hash: 'a'.repeat(64), type: 'python', entrypoint: null, working_directory: null },
    source: { ...CONTENT, content: null },
  },
  input: { format: 'json', source: CONTENT },
  ...{ output_format: 'json', content: null, network: false, secrets: [], access_token: null, trace: {} },
};
const NOTHING = { jobs: [], canceled: [], slots_released: [], draining: false };

describe('A1: a job of a lying server', () => {
  const parse = createParser('A job', WorkerJob);
  const lies: [string, object][] = [
    ...['', '../x', 'a/b', 'A', 'x'.repeat(65), 1].map((run_id): [string, object] => ['run_id', { run_id }]),
    ...[0, -1, 1.5, 2 ** 60, '1', null].map((fence): [string, object] => ['fence', { fence }]),
    ...['../..', '', 'A'.repeat(64)].map((hash): [string, object] => [
      'executable.hash',
      { executable: { ...JOB.executable, hash } },
    ]),
    ...['http://other/x', '//other/v1/downloads/a?b', '/\\other/v1/downloads/a?b', '@other/', '/metrics'].map(
      (path): [string, object] => [
        'input.source.path',
        { input: { format: 'json', source: { ...CONTENT, path } } },
      ],
    ),
    ['input.source.bytes', { input: { format: 'json', source: { ...CONTENT, bytes: 2 ** 40 } } }],
    ['workflow_depth', { workflow_depth: 2 ** 53 }],
    ['arguments', { arguments: { length: 2 ** 60 } }],
    ['secrets', { secrets: [{ type: 'env' }] }],
  ];
  test.each(lies)('is refused for its %s: %j', (field, change) => {
    expect(parse(JOB)).toBe(JOB);
    expect(() => parse({ ...JOB, ...change })).toThrow(field);
  });
});

test('F2: a job without a limit, from an older server, has that of its execution class', async () => {
  const { duration_limit_ms, ...older } = JOB;
  for (const [job, limit] of [
    [JOB, duration_limit_ms],
    [older, 870_000],
  ] as const) {
    const parsed = createParser('A job', WorkerJob)(job);
    const assignment = new RemoteAssignment(parsed, { workerId: 'w' } as never);
    expect(await assignment.loadJob()).toMatchObject({ durationLimitMs: limit });
  }
});

test('A1: a worker survives every answer of a lying server, and takes no job that is wrong', async () => {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-lied-to-'));
  const respond = (response: ServerResponse, status: number, body: string): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  /** Each is the response to one sync. A correct one follows it, after which the worker does not wait. */
  const lies: ((response: ServerResponse) => void)[] = [
    ...['', '<html>', 'null', '[]', '{}', '{"jobs":1}', '{"jobs":null,"canceled":[]}'].map(
      (body) => (response: ServerResponse) => respond(response, 200, body),
    ),
    (response) => respond(response, 200, JSON.stringify({ ...NOTHING, jobs: Array(33).fill(JOB) })),
    (response) =>
      respond(
        response,
        200,
        JSON.stringify({
          ...NOTHING,
          jobs: [{ ...JOB, run_id: '../../escaped' }, null, { ...JOB, fence: -1 }],
        }),
      ),
    (response) =>
      respond(response, 200, JSON.stringify({ ...NOTHING, canceled: [{ run_id: 1, fence: {} }] })),
    (response) => {
      // More bytes than a response may have, without an end.
      const piece = Buffer.alloc(1024 * 1024, 0x20);
      const write = (): void => {
        while (response.write(piece));
        response.once('drain', write);
      };
      response.on('error', () => {});
      write();
    },
    (response) => respond(response, 302, ''),
  ];
  let syncs = 0;
  const attempts: unknown[] = [];
  const done = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (!path.includes('/sync')) return respond(response, 201, '{"worker_id":"worker-1"}');
      const state: { attempts: unknown[] } = JSON.parse(Buffer.concat(chunks).toString());
      attempts.push(...state.attempts);
      const lie = syncs % 2 === 0 ? lies[syncs / 2] : undefined;
      syncs += 1;
      if (lie) return lie(response);
      if (syncs > 2 * lies.length) return done.resolve();
      respond(response, 200, JSON.stringify(NOTHING));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const worker = startWorkerProcess(url, 'worker.lied-to', ['--slots', '2', '--data', join(data, 'worker')]);
  try {
    await Promise.race([done.promise, worker.exited]);
    expect(worker.process.exitCode, worker.lines.join('\n')).toBeNull();
    expect(worker.lines.filter((line) => line.includes('Job refused')).length).toBe(3);
    expect(attempts).toEqual([]);
    expect(existsSync(join(data, 'escaped'))).toBe(false);
  } finally {
    await worker.kill();
    server.closeAllConnections();
    server.close();
    rmSync(data, { recursive: true, force: true });
  }
});
