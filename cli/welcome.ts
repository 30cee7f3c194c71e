/**
 * What `npm start` prints once the server is ready, and the first run on the first start. It is a client of the server like
 * any other; the script that starts both tells it in `SWITCHYARD_READY` where the server listens.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createClient } from '@switchyard/contract/client.ts';
import { type FirstRunResult, pushAndRunSample } from './first-run.ts';
import { formatError } from './push.ts';

/** What the server says when it is ready. */
interface Ready {
  url: string;
  /** What signed URLs begin with. */
  publicUrl: string;
  role: string;
  tokenPath: string;
  /** Whether the root token was made just now. */
  isFirstStart: boolean;
  containment: 'sandbox' | 'limits' | null;
  containmentNote: string;
  /** What apps can do on this host although a limit says otherwise. */
  notHeld: string[];
}

const ready = JSON.parse(process.env.SWITCHYARD_READY ?? '{}') as Ready;
const say = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const hasToken = existsSync(ready.tokenPath);

say();
if (ready.role === 'worker') {
  say('The worker is up.');
  say(`  state  ${ready.url}/readyz`);
} else {
  say('Switchyard is up.');
  say(`  site   ${ready.url}/docs`);
  say(`  API    ${ready.url}/v1`);
  // Where standard output is a file or a journal, others may read it for years.
  if (ready.isFirstStart && hasToken && process.stdout.isTTY) {
    say(`  token  ${readFileSync(ready.tokenPath, 'utf8').trim()}`);
    say(`         the root token, shown this once; it is kept in ${ready.tokenPath}`);
  } else if (hasToken) {
    say(`  token  kept in ${ready.tokenPath}`);
  } else {
    say('  token  kept where the first server of this database keeps its data');
  }
}
if (ready.containment === 'limits')
  say(`  note   apps run at containment level limits: ${ready.containmentNote}`);
for (const sentence of ready.notHeld)
  if (!ready.containmentNote.includes(sentence)) say(`  note   ${sentence}`);
say();

const done = join(dirname(ready.tokenPath), 'first-run.json');
if (ready.role !== 'worker' && !existsSync(done) && hasToken) {
  if (ready.role === 'server') say('The first run begins as soon as there is a worker.');
  const token = readFileSync(ready.tokenPath, 'utf8').trim();
  try {
    const outcome = await pushAndRunSample(
      createClient({ url: ready.url, token }),
      join(import.meta.dirname, '..', 'sample-apps'),
      (line) => say(`  ${line}`),
      // The public address may lead through a proxy that is not there yet, or does not lead here from here.
      (url) => (url.startsWith(`${ready.publicUrl}/`) ? ready.url + url.slice(ready.publicUrl.length) : url),
    );
    writeFileSync(done, `${JSON.stringify(outcome, null, 2)}\n`);
    report(outcome);
  } catch (error) {
    say(`The first run could not be made: ${formatError(error)}`);
    process.exitCode = 1;
  }
}

function report(outcome: FirstRunResult): void {
  say();
  say(`First run: ${outcome.application} on its sample input`);
  say(`  run        ${outcome.runId}`);
  say(`  status     ${outcome.status}${outcome.error ? `: ${outcome.error}` : ''}`);
  if (outcome.value !== null) say(`  objective  ${outcome.value}`);
  say(`  time       ${outcome.seconds.toFixed(1)} s`);
  say();
  say(`Next: ${ready.url}/docs/get-started/quickstarts/overview`);
  say();
}
