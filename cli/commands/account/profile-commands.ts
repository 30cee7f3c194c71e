/** Commands for profiles: sign in to a server, sign out, and list the known servers. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { DEVICE_CODE_HEADER } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { isRetryable } from '../../errors/retry.ts';
import { checkToken, parseServerUrl } from '../../profiles/check-connection.ts';
import { type Profile, type Profiles, readProfiles, writeProfiles } from '../../profiles/profiles.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { openBrowser } from '../../terminal/open-browser.ts';
import { formatFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const FAILED_READS_MAX = 10;

/** Defines `login`, `logout`, `profiles` and `whoami`. */
export function defineProfileCommands(program: Command, session: Session): void {
  defineLogin(program, session);
  program
    .command('logout')
    .description('Forget the token of a profile. Without --revoke its key stays valid.')
    .option('--revoke', 'Revoke the key, so that its token works nowhere any more.')
    .addHelpText('after', '\nExample:\n  switchyard logout --profile production --revoke')
    .action(({ revoke }) => logOut(session, revoke ?? false));
  program
    .command('profiles')
    .description('List the profiles, or make one the current profile.')
    .option('--use <name>', 'Make this profile the current one.')
    .addHelpText('after', '\nExample:\n  switchyard profiles --use production')
    .action(({ use }) => listProfiles(session, use));
  program
    .command('whoami')
    .description('Print the server, the account and the role of the token.')
    .addHelpText('after', '\nExample:\n  switchyard whoami --json')
    .action(() => printCaller(session));
}

function defineLogin(program: Command, session: Session): void {
  program
    .command('login')
    .description('Sign in to a server with the browser. Its address and a new key are saved as a profile.')
    .option(
      '--url <url>',
      'The address of the server, such as https://switchyard.example.com; otherwise that of the profile.',
    )
    .option('--no-browser', 'Print the address and the code alone, for a browser on another machine.')
    .option('--token-stdin', 'Read a token from standard input, where no process list shows it.')
    .option('--authority <file>', 'The certificate of the authority of a server with its own certificate.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard login --url https://switchyard.example.com\n  switchyard login --url https://switchyard.example.com --token-stdin < token',
    )
    .action(async ({ url, browser, tokenStdin, authority }) => {
      const target = findTarget(session, url);
      if (authority !== undefined) target.authority = findFile(session, authority);
      const token = tokenStdin
        ? (await text(session.terminal.in)).trim()
        : session.terminal.env.SWITCHYARD_TOKEN ||
          (await logInByDevice(session.connectTo({ ...target, token: '' }), session.terminal, browser));
      if (!token) throw new CommandError('Standard input is empty; it must have the token.');
      await logIn(session, { ...target, token: checkToken('The token', token) });
    });
}

/** The server to sign in to: that of `--url`, of `SWITCHYARD_URL`, or of the profile whose key is replaced. */
function findTarget({ terminal, options }: Session, url: string | undefined): Omit<Profile, 'token'> {
  if (url !== undefined) return { url: parseServerUrl('--url', url) };
  if (terminal.env.SWITCHYARD_URL)
    return { url: parseServerUrl('SWITCHYARD_URL', terminal.env.SWITCHYARD_URL) };
  const saved = readProfiles(terminal.env);
  const known = saved.profiles[options.profile ?? saved.current];
  if (!known) throw new CommandError('The server is not known. Give its address with --url https://…');
  const { token: _replaced, ...target } = known;
  return target;
}

function findFile({ terminal }: Session, name: string): string {
  const path = resolve(terminal.cwd, name);
  if (!existsSync(path)) throw new CommandError(`--authority is "${name}"; ${path} does not exist.`);
  return path;
}

/** Saves the profile after the server has accepted its token. */
async function logIn(session: Session, profile: Profile): Promise<void> {
  const { terminal, options, output } = session;
  const { body } = await session.connectTo(profile).call('getAccount');
  const saved = readProfiles(terminal.env);
  const name = options.profile ?? chooseName(saved, profile.url);
  const path = writeProfiles(terminal.env, {
    current: name,
    profiles: { ...saved.profiles, [name]: profile },
  });
  output.printSentence(
    { profile: name, url: profile.url, account: body },
    `Signed in to ${profile.url} as profile ${name}. The token is in ${path}.`,
    name,
  );
}

/** The profile of the same server, or a new one. */
function chooseName({ current, profiles }: Profiles, url: string): string {
  if (profiles[current]?.url === url) return current;
  const known = Object.keys(profiles).find((name) => profiles[name]?.url === url);
  return known ?? (Object.keys(profiles).length === 0 ? 'default' : new URL(url).host);
}

async function logOut(session: Session, revokes: boolean): Promise<void> {
  const { terminal, options, output } = session;
  const saved = readProfiles(terminal.env);
  const name = options.profile ?? saved.current;
  const { [name]: removed, ...others } = saved.profiles;
  if (!removed)
    throw new CommandError(
      `There is no profile "${name}"; "switchyard profiles" lists them.`,
      EXIT_CODES.notFound,
    );
  if (revokes) await revokeOwnKey(session.connectTo(removed));
  const current = saved.current === name ? (Object.keys(others)[0] ?? '') : saved.current;
  writeProfiles(terminal.env, { current, profiles: others });
  output.printSentence(
    { profile: name, revoked: revokes },
    `Signed out of profile ${name}${revokes ? ', and revoked its key' : ''}.`,
    name,
  );
}

/** Revokes the key of the profile. One that was revoked before is no error. */
async function revokeOwnKey(client: Client): Promise<void> {
  try {
    const { body } = await client.call('getAccount');
    await client.call('revokeKey', { params: { key_id: body.key.id } });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
}

function listProfiles({ terminal, output }: Session, use: string | undefined): void {
  const saved = readProfiles(terminal.env);
  if (use !== undefined && !(use in saved.profiles))
    throw new CommandError(
      `There is no profile "${use}"; "switchyard profiles" lists them.`,
      EXIT_CODES.notFound,
    );
  const current = use ?? saved.current;
  if (use !== undefined) writeProfiles(terminal.env, { ...saved, current });
  // The tokens stay in the file: output ends up in logs and on shared screens.
  const rows = Object.entries(saved.profiles).map(([name, { url, application }]) => ({
    name,
    url,
    ...(application ? { application } : {}),
    current: name === current,
  }));
  output.printTable(
    rows,
    { PROFILE: 'name', SERVER: 'url', CURRENT: (row) => (row.current ? 'yes' : '') },
    {
      json: { profiles: rows },
      empty: 'There are no profiles. Add one with: switchyard login --url …',
      id: ({ name }) => name,
    },
  );
}

async function printCaller(session: Session): Promise<void> {
  const { url, source } = session.findConnection();
  const { body } = await session.connect().call('getAccount');
  session.output.print({
    json: { url, source, ...body },
    text: () =>
      formatFields({
        server: url,
        source,
        account: body.id,
        name: body.name,
        role: body.key.role,
        key: body.key.name,
      }),
    quiet: () => body.id,
  });
}

/**
 * Prints address and code, opens the browser if wanted, and waits for the decision. Returns the token of the new key.
 * Throws when the person denies, or nobody decides before the code expires.
 */
async function logInByDevice(client: Client, terminal: Terminal, opensBrowser: boolean): Promise<string> {
  const client_name = `switchyard on ${hostname()}`.slice(0, NAME_CHARS_MAX);
  const { body: codes } = await client.call('startDeviceAuthorization', { body: { client_name } });
  const address = cleanLine(codes.verification_uri_complete);
  terminal.err.write(`Open ${address}\nand approve the code ${cleanLine(codes.user_code)}.\n`);
  if (opensBrowser) openBrowser(terminal, address);
  terminal.err.write('Waiting for the approval …\n');
  await waitForApproval(client, codes, terminal.signal);
  const redeemed = await client.call('redeemDeviceAuthorization', {
    body: { device_code: codes.device_code },
  });
  return redeemed.body.token;
}

interface Codes {
  device_code: string;
  expires_in: number;
  interval: number;
}

async function waitForApproval(client: Client, codes: Codes, signal: AbortSignal): Promise<void> {
  const headers = { [DEVICE_CODE_HEADER]: codes.device_code };
  // A server that asks for less would be read in a loop.
  const pauseMs = Math.max(1, codes.interval) * 1000;
  for (let failures = 0; ; ) {
    try {
      const { body } = await client.call('getDeviceAuthorizationStatus', { headers, signal });
      failures = 0;
      if (body.status === 'approved') return;
      if (body.status === 'denied')
        throw new CommandError('The sign-in was denied in the console.', EXIT_CODES.forbidden);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404)
        throw new CommandError(
          `Nobody approved the code within ${Math.round(codes.expires_in / 60)} minutes. Sign in again.`,
          EXIT_CODES.forbidden,
        );
      failures += 1;
      if (!isRetryable(error) || failures > FAILED_READS_MAX) throw error;
    }
    await wait(pauseMs, undefined, { signal });
  }
}
