/** The app of the benchmark: a shell script whose option `mode` selects what it writes. */
import { isTerminal } from '../../contract/states.ts';
import { createRun, pushApp } from '../../server/testing/fixtures/apps.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import type { StartedServer } from '../server/harness.ts';

const APPLICATION = 'console-bench';
const POLL_MS = 100;

/**
 * `log` writes as many lines as `count` says. `series` writes that many points at once, and then ten a second.
 * `clock` writes the time in ms every 300 ms.
 */
const MAIN = `#!/bin/sh
mode=log count=1
while [ $# -gt 0 ]; do
  case "$1" in
    -mode) mode=$2; shift;;
    -count) count=$2; shift;;
  esac
  shift
done
case "$mode" in
  log) seq -f "iteration %.0f: best cost 1034.5" 1 "$count" >&2;;
  series)
    seq -f '{"series": {"objective": %.0f}}' "$count" -1 1 >&2
    n=0
    while :; do n=$((n + 1)); printf '{"series": {"objective": %d}}\\n' "-$n" >&2; sleep 0.1; done;;
  clock) while :; do echo "clock $(date +%s%3N)" >&2; sleep 0.3; done;;
esac
echo '{"statistics": {"schema": "v1", "result": {"value": 1}}}'
`;

type Mode = 'log' | 'series' | 'clock';

/** Creates a run of the mode, and returns its id. */
export function startRun(server: StartedServer, mode: Mode, count: number): Promise<string> {
  return createRun(server, APPLICATION, { input: {}, body: { options: { mode, count: String(count) } } });
}

/** Creates a run of the mode, and waits for its end. */
export async function finishRun(server: StartedServer, mode: Mode, count: number): Promise<string> {
  const run = await startRun(server, mode, count);
  const params = { application_id: APPLICATION, run_id: run };
  while (!isTerminal((await server.client.call('getRun', { params })).body.status_v2)) await sleep(POLL_MS);
  return run;
}

/** Returns the address of the run's page below `/console`. */
export const formatRunPath = (run: string): string => `/apps/${APPLICATION}/runs/${run}`;

/** Ends a run that would not end by itself. */
export async function cancelRun(server: StartedServer, run: string): Promise<void> {
  await server.client.call('cancelRun', { params: { application_id: APPLICATION, run_id: run } });
}

/** Pushes the app. */
export async function pushConsoleApp(server: StartedServer): Promise<void> {
  await pushApp(server, APPLICATION, { main: MAIN }, { executable_type: 'binary', runtime: 'native' });
}
