/**
 * Prints the welcome of `npm start` once the server is ready, and makes the first run on the first start. It is an ordinary
 * client of the server. The script that starts both passes the address in `SWITCHYARD_READY`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createClient } from '@switchyard/contract/client.ts';
import { formatDuration, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { formatError } from '../errors/report-error.ts';
import { VERSION } from '../session/version.ts';
import { saveLocalProfile } from './local-profile.ts';
import { type FirstRunResult, pushAndRunSample } from './push-and-run-sample.ts';

/** The message of a ready server. */
const Ready = Type.Object({
  url: Type.String(),
  /** The start of signed URLs. */
  publicUrl: Type.String(),
  /** The certificate that clients have to trust; null for one that they trust already, and without TLS. */
  authorityPath: Type.Union([Type.String(), Type.Null()]),
  role: Type.String(),
  tokenPath: Type.String(),
  /** True when this start created the root token. */
  isFirstStart: Type.Boolean(),
  containment: Type.Union([Type.Literal('sandbox'), Type.Literal('limits'), Type.Null()]),
  containmentNote: Type.String(),
  /** Sentences about what apps can do on this host despite their limits. */
  notHeld: Type.Array(Type.String()),
});

const ready = createJsonParser(Ready)(process.env.SWITCHYARD_READY ?? '', 'SWITCHYARD_READY');
const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const hasToken = existsSync(ready.tokenPath);

print();
if (ready.role === 'worker') {
  print('The worker is up.');
  print(`  state  ${ready.url}/readyz`);
} else {
  print('Switchyard is up.');
  print(`  site   ${ready.url}/docs`);
  print(`  API    ${ready.url}/v1`);
  // If standard output is a file or a journal, others may read it for years.
  if (ready.isFirstStart && hasToken && process.stdout.isTTY) {
    print(`  token  ${readFileSync(ready.tokenPath, 'utf8').trim()}`);
    print(`         the root token, shown this once; it is kept in ${ready.tokenPath}`);
  } else if (hasToken) {
    print(`  token  kept in ${ready.tokenPath}`);
  } else {
    print('  token  kept where the first server of this database keeps its data');
  }
}
if (ready.authorityPath) {
  const path = quoteShell(ready.authorityPath);
  print('  TLS    self-signed; this line makes curl, the Python client and Node trust it:');
  print(`         export CURL_CA_BUNDLE=${path} REQUESTS_CA_BUNDLE=${path} NODE_EXTRA_CA_CERTS=${path}`);
}
if (ready.role !== 'worker') printCommandLine();
if (ready.containment === 'limits')
  print(`  note   apps run at containment level limits: ${ready.containmentNote}`);
for (const message of ready.notHeld)
  if (!ready.containmentNote.includes(message)) print(`  note   ${message}`);
print();

/** Prints a link that opens the console signed in; on the first start it leads to the finished run. */
async function printConsoleLink(path = ''): Promise<void> {
  if (ready.role === 'worker' || !hasToken) return;
  const token = readFileSync(ready.tokenPath, 'utf8').trim();
  try {
    const { body } = await createClient({ url: ready.url, token }).call('createSignInLink');
    const link = new URL(body.url);
    if (path !== '') link.searchParams.set('next', path);
    print('Open the console, signed in (works once, within 10 minutes):');
    print(`  ${link}`);
    print();
  } catch (error) {
    print(`The link to the console could not be made: ${formatError(error)}`);
  }
}

const done = join(dirname(ready.tokenPath), 'first-run.json');
if (ready.role !== 'worker' && !existsSync(done) && hasToken) {
  if (ready.role === 'server') print('The first run begins as soon as there is a worker.');
  const token = readFileSync(ready.tokenPath, 'utf8').trim();
  try {
    const outcome = await pushAndRunSample(
      createClient({ url: ready.url, token }),
      join(import.meta.dirname, '..', '..', 'sample-apps'),
      (line) => print(`  ${line}`),
    );
    writeFileSync(done, `${JSON.stringify(outcome, null, 2)}\n`);
    report(outcome);
    await printConsoleLink(`/apps/${outcome.application}/runs/${outcome.runId}`);
  } catch (error) {
    print(`The first run could not be made: ${formatError(error)}`);
    process.exitCode = 1;
  }
} else {
  await printConsoleLink();
}

function report(outcome: FirstRunResult): void {
  print();
  print(`First run: ${outcome.application} on its sample input`);
  print(`  run        ${outcome.runId}`);
  print(`  status     ${outcome.status}${outcome.error ? `: ${outcome.error}` : ''}`);
  if (outcome.value !== null)
    print(`  objective  ${typeof outcome.value === 'number' ? formatNumber(outcome.value) : outcome.value}`);
  print(`  time       ${formatDuration(1000 * outcome.seconds)}`);
  print();
  print(`Next: ${ready.url}/docs/get-started/quickstarts/overview`);
  print();
}

/** Prints how to use the command line with this server, and saves a profile for it. */
function printCommandLine(): void {
  const tarball = join(import.meta.dirname, '..', 'dist', `switchyard-${VERSION}.tgz`);
  print('  CLI    npx switchyard help');
  if (existsSync(tarball)) print(`         in other folders: npm install -g ${quoteShell(tarball)}`);
  if (!hasToken) return;
  const { url, authorityPath } = ready;
  const token = readFileSync(ready.tokenPath, 'utf8').trim();
  try {
    const name = saveLocalProfile(process.env, {
      url,
      token,
      ...(authorityPath ? { authority: authorityPath } : {}),
    });
    print(
      name
        ? `         it signs in with the profile ${name}`
        : `         the profile local is of another server; sign in with: npx switchyard login --profile NAME --url ${url} --token-stdin < ${quoteShell(ready.tokenPath)}`,
    );
  } catch (error) {
    print(`         no profile was saved: ${formatError(error)}`);
  }
}

/** Quotes a path for a shell, if it needs quotes. */
function quoteShell(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
