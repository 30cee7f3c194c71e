/**
 * Evaluates the `sleep` of the pages in this process, which knows when a run ends. Each page waits in a loop of curl and
 * `sleep 0.2`. Half of the programs that the stories started were those of such loops, and each loop noticed the end late.
 */
import type { Socket } from 'node:net';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { type ShellServer, startShellServer } from './shell-server.ts';

type Database = Pick<TestServer['runningServer']['database'], 'listen' | 'read'>;
type Topic = Parameters<Database['listen']>[0];

/** How long a sleep lasts at most while a run is queued or running. */
const ACTIVE_SLEEP_MS = 1000;

/** After these, a page has something new to read, whether other runs are active or not. */
const ENDS: readonly Topic[] = ['experiments-ended', 'replays-compared', 'webhooks-told'];

/** Starts the server. */
export function startSleepServer(database: Database): Promise<ShellServer> {
  const respond = (socket: Socket): void => {
    let request = '';
    socket.setEncoding('utf8').on('data', async (chunk) => {
      request += chunk;
      if (!request.endsWith('\n')) return;
      await sleep(database, Number(request) * 1000);
      socket.end('\n');
    });
  };
  return startShellServer(respond, formatDefinition);
}

function formatDefinition(port: number): string {
  return `sleep() {
  exec 8<>/dev/tcp/127.0.0.1/${port}
  printf '%s\\n' "$1" >&8
  IFS= read -r _ <&8
  exec 8>&-
}`;
}

/** Resolves after the duration without active runs, else after the last of them has ended, and in any case after a second. */
async function sleep(database: Database, durationMs: number): Promise<void> {
  let wake = (): void => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const wakeWhenIdle = async (): Promise<void> => {
    if (!(await hasActiveRuns(database))) wake();
  };
  const listeners = [
    ...ENDS.map((topic) => database.listen(topic, wake)),
    database.listen('runs-ended', wakeWhenIdle),
  ];
  const isActive = await hasActiveRuns(database);
  const timer = setTimeout(wake, isActive ? Math.max(durationMs, ACTIVE_SLEEP_MS) : durationMs);
  await woken;
  clearTimeout(timer);
  for (const stop of listeners) stop();
}

async function hasActiveRuns({ read }: Database): Promise<boolean> {
  const active = read.selectFrom('runs').select('id').where('status', 'in', ['queued', 'running']);
  return (await active.limit(1).executeTakeFirst()) !== undefined;
}
