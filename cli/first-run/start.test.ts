/**
 * `npm start` as its user: the script with its installation done already. The server, and the apps it runs, hold the same
 * pipe as the script, so the pipe closes when all of them are gone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@switchyard/contract/client.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { readProfiles } from '../profiles/profiles.ts';

const START = join(import.meta.dirname, '..', '..', 'scripts', 'start.mjs');
const folder = mkdtempSync(join(tmpdir(), 'switchyard-start-'));
const data = join(folder, 'data');
const config = join(folder, 'config');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Start {
  child: ChildProcess;
  /** Waits until the output matches; throws with the output when the start ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  /** The exit code of the script and everything it and the server wrote, once all of them are gone. */
  gone: Promise<{ code: number | null; output: string }>;
}

function start(env: Record<string, string> = {}): Start {
  const child = spawn(process.execPath, [START], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      SWITCHYARD_PORT: '0',
      SWITCHYARD_DATA: data,
      SWITCHYARD_CONFIG: config,
      SWITCHYARD_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let print = (): void => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      print();
    });
  }
  let ended = false;
  const gone = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => {
      ended = true;
      print();
      resolve({ code, output });
    }),
  );
  const prints = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(output);
      if (found) return found;
      if (ended) throw new Error(`The start ended before it said ${pattern}: ${output}`);
      await new Promise<void>((resolve) => {
        print = resolve;
      });
    }
  };
  return { child, prints: prints, gone };
}

async function listRuns(address: string): Promise<{ name: string; status_v2: string }[]> {
  const token = readFileSync(join(data, 'root-token'), 'utf8').trim();
  const { body } = await createClient({ url: address, token }).call('listRuns', {
    params: { application_id: 'vehicle-routing' },
  });
  return body.runs;
}

describe('npm start', () => {
  test('that is interrupted in its first run waits for that run the next time, and makes no other', async () => {
    const first = start();
    await first.prints(/pushed vehicle-routing/);
    first.child.kill('SIGTERM');
    expect((await first.gone).code).toBe(0);

    const second = start();
    const [, address = ''] = await second.prints(/site {3}(http:\S+)\/docs/);
    await second.prints(/First run: vehicle-routing on its sample input/);
    await second.prints(/status {5}succeeded\n {2}objective {2}[\d,]+(\.\d+)?\n {2}time/);
    await second.prints(/Next: /);
    expect(await listRuns(address)).toMatchObject([{ name: 'First run', status_v2: 'succeeded' }]);
    const profile = { url: address, token: readFileSync(join(data, 'root-token'), 'utf8').trim() };
    expect(readProfiles({ SWITCHYARD_CONFIG: config }).profiles.local).toEqual(profile);
    second.child.kill('SIGINT');
    const { code, output } = await second.gone;
    expect(code).toBe(0);
    expect(output).toContain(`token  kept in ${join(data, 'root-token')}`);
    expect(output).not.toContain(readFileSync(join(data, 'root-token'), 'utf8').trim());
  });

  test('serves the pages it prints, and leaves no server behind when it is killed', async () => {
    const killed = start();
    const [, page = ''] = await killed.prints(/site {3}(http:\S+)/);
    expect(await (await fetch(page)).text()).toContain('<title>');
    killed.child.kill('SIGKILL');
    await killed.gone;
    await expect(fetch(new URL('/healthz', page))).rejects.toThrow();
  });

  test('makes its first run also over TLS and when its public address does not lead to it yet', async () => {
    const started = start({
      SWITCHYARD_DATA: join(folder, 'public'),
      SWITCHYARD_PUBLIC_URL: 'https://127.0.0.1:9/yard/',
      SWITCHYARD_TLS: 'self-signed',
    });
    const authority = join(folder, 'public', 'tls', 'authority.pem');
    await started.prints(
      new RegExp(`export CURL_CA_BUNDLE=${authority} .* NODE_EXTRA_CA_CERTS=${authority}`),
    );
    await started.prints(/status {5}succeeded/);
    started.child.kill('SIGTERM');
    expect((await started.gone).code).toBe(0);
  });

  test('refuses a wrong setting with one sentence', async () => {
    const other = join(folder, 'refused');
    const { code, output } = await start({ SWITCHYARD_DATA: other, SWITCHYARD_PORT: '99999' }).gone;
    expect(code).toBe(1);
    expect(output.trim()).toMatch(/^SWITCHYARD_PORT is .*\.$/);
    expect(existsSync(other)).toBe(false);
  });
});
