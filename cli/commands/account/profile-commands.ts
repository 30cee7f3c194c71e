/** Commands for profiles: sign in to a server, sign out, and list the known servers. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { connect } from '../../profiles/connect.ts';
import { type Profile, readProfiles, writeProfiles } from '../../profiles/profiles.ts';
import type { Session } from '../../session/session.ts';
import { formatFields } from '../../terminal/table.ts';

/** Defines `login`, `logout`, `profiles` and `whoami`. */
export function defineProfileCommands(program: Command, session: Session): void {
  defineLogin(program, session);
  program
    .command('logout')
    .description(
      'Forget the token of a profile. The key stays valid; revoke it with: switchyard keys revoke.',
    )
    .addHelpText('after', '\nExample:\n  switchyard logout --profile production')
    .action(() => logOut(session));
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
    .description('Sign in to a server, and save its address and token as a profile.')
    .requiredOption('--url <url>', 'The address of the server, such as https://switchyard.example.com.')
    .option('--token-stdin', 'Read the token from standard input, where no process list shows it.')
    .option('--authority <file>', 'The certificate of the authority of a server with its own certificate.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard login --url https://switchyard.example.com --token-stdin < token',
    )
    .action(async ({ url, tokenStdin, authority }) => {
      const token = tokenStdin
        ? (await text(session.terminal.in)).trim()
        : session.terminal.env.SWITCHYARD_TOKEN;
      if (!token)
        throw new CommandError(
          'No token was given. Give it on standard input with --token-stdin, or in SWITCHYARD_TOKEN.',
        );
      const profile: Profile = { url: parseUrl(url), token };
      if (authority !== undefined) profile.authority = findFile(session, authority);
      await logIn(session, profile);
    });
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new CommandError(`--url is "${text}"; it must begin with https:// or http://.`);
}

function findFile({ terminal }: Session, name: string): string {
  const path = resolve(terminal.cwd, name);
  if (!existsSync(path)) throw new CommandError(`--authority is "${name}"; ${path} does not exist.`);
  return path;
}

/** Saves the profile after the server has accepted its token. */
async function logIn({ terminal, options, output }: Session, profile: Profile): Promise<void> {
  const { body } = await connect(profile, terminal.signal).call('getAccount');
  const saved = readProfiles(terminal.env);
  const name =
    options.profile ?? (Object.keys(saved.profiles).length === 0 ? 'default' : new URL(profile.url).host);
  const path = writeProfiles(terminal.env, {
    current: name,
    profiles: { ...saved.profiles, [name]: profile },
  });
  output.print({
    json: { profile: name, url: profile.url, account: body },
    text: () => `Signed in to ${profile.url} as profile ${name}. The token is in ${path}.\n`,
    quiet: () => name,
  });
}

function logOut({ terminal, options, output }: Session): void {
  const saved = readProfiles(terminal.env);
  const name = options.profile ?? saved.current;
  if (!(name in saved.profiles))
    throw new CommandError(
      `There is no profile "${name}"; "switchyard profiles" lists them.`,
      EXIT_CODES.notFound,
    );
  const { [name]: _removed, ...others } = saved.profiles;
  const current = saved.current === name ? (Object.keys(others)[0] ?? '') : saved.current;
  writeProfiles(terminal.env, { current, profiles: others });
  output.print({
    json: { profile: name },
    text: () => `Signed out of profile ${name}.\n`,
    quiet: () => name,
  });
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
    [
      { title: 'PROFILE', value: ({ name }) => name },
      { title: 'SERVER', value: ({ url }) => url },
      { title: 'CURRENT', value: (row) => (row.current ? 'yes' : '') },
    ],
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
