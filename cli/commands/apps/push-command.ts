/** Pushes the app of a folder. */
import { basename, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { Client, ResponseBody } from '@switchyard/contract/client.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import { retry } from '../../errors/retry.ts';
import { readAppManifest } from '../../packing/manifest.ts';
import { type PushResult, pushApp } from '../../packing/push-app.ts';
import { findLinkedApplication, linkApplication, nameApplication } from '../../session/application-link.ts';
import { quoteArgument } from '../../session/hints.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { showUpload } from '../contents/transfer-progress.ts';

const POLL_MS = 2000;

/** The id that the API reserves for the default instance of an application. */
const DEFAULT_INSTANCE = 'default';

export function definePush(program: Command, session: Session): void {
  program
    .command('push')
    .description('Make a folder with an app.yaml the executable of the application.')
    .argument('[folder]', 'The folder of the app.', '.')
    .option(
      '--version <id>',
      'Create a version with this id. One that exists is refused before anything is packed.',
    )
    .option('--instance <id>', 'Make this instance run the version; it is created if it does not exist.')
    .option('--wait', 'Wait until no run of an earlier executable is queued or running.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard push
  switchyard push apps/routing routing --version v7 --instance candidate`,
    )
    .action((folder, { wait, ...release }) => push(session, { folder, release, wait: wait ?? false }))
    // The program reads it as --app.
    .argument(
      '[application]',
      'The id of the application; otherwise --app, SWITCHYARD_APP, that of an earlier push, or the name of the folder.',
    );
}

interface PushRequest {
  folder: string;
  release: Release;
  wait: boolean;
}

async function push(session: Session, { folder, release, wait }: PushRequest): Promise<void> {
  const { terminal, output } = session;
  const path = resolve(terminal.cwd, folder);
  // Before a warning about the application, and before a request: a folder without an app is neither.
  readAppManifest(path);
  const named = session.options.app;
  const id = named ?? chooseApplication(session, path);
  // Scripts push while the server restarts.
  const client = session.connect({ expectsServer: true });
  await checkRelease(client, id, release);
  const pushed = await pushApp(
    client,
    path,
    { id, name: id },
    {
      report: output.note,
      transfer: (total, send) => showUpload(session, total, send),
    },
  );
  const pushedAt = new Date().toISOString();
  for (const warning of pushed.warnings) output.warn(cleanLine(warning));
  // A variable is for one terminal. The folder keeps its application, so that the next push warns, too.
  const isLasting = named !== undefined || id !== terminal.env.SWITCHYARD_APP;
  const link = isLasting ? linkApplication(path, id) : undefined;
  if (link !== undefined) output.note(`Wrote ${link}: commands in this folder use application ${id}.`);
  const created = await createRelease(client, id, release, terminal.signal);
  if (wait) await waitForEarlierRuns(session, id, { instance: created.instance_id, pushedAt });
  output.print({
    json: { application_id: id, ...pushed, ...created },
    text: () => formatResult(id, pushed, created),
    quiet: () => created.version_id ?? id,
  });
}

/** Returns the application that the environment or the folder names. Warns when they name different ones. */
function chooseApplication({ terminal, output }: Session, path: string): string {
  const own = findLinkedApplication(path) ?? nameApplication(path);
  const { SWITCHYARD_APP: set } = terminal.env;
  if (!set || set === own) return set || own;
  output.warn(
    `The folder belongs to application ${cleanLine(own)}, and SWITCHYARD_APP sends it to ${cleanLine(set)}. Unset the variable, or give the application: switchyard push ${quoteArgument(basename(path))} ${cleanLine(set)}`,
  );
  return set;
}

function formatResult(
  id: string,
  pushed: PushResult,
  { version_id, instance_id }: { version_id?: string; instance_id?: string },
): string {
  const done = `Pushed ${pushed.files} files (${formatBytes(pushed.bytes)}) to application ${id}; instance latest runs them now.\n`;
  if (version_id === undefined) return done;
  const runs = instance_id === undefined ? '' : `; instance ${instance_id} runs it now`;
  return `${done}Created version ${version_id}${runs}.\n`;
}

/**
 * Waits for the runs that were created before the push. They keep the executable and the settings with which they were
 * created, so afterwards only the new executable runs.
 */
async function waitForEarlierRuns(
  session: Session,
  application_id: string,
  { instance = 'latest', pushedAt }: { instance?: string | undefined; pushedAt: string },
): Promise<void> {
  const { signal } = session.terminal;
  const client = session.connect();
  let noted = 0;
  for (;;) {
    const count = await countActiveRuns(client, application_id, {
      instance_id: instance,
      created_before: pushedAt,
    });
    if (count === 0) return;
    if (count !== noted)
      session.output.note(
        `Waiting for ${count === 50 ? '50 or more' : count} earlier runs of instance ${instance}.`,
      );
    noted = count;
    await setTimeout(POLL_MS, undefined, { signal });
  }
}

/** Returns the number of runs that wait or run, at most a page. */
async function countActiveRuns(
  client: Client,
  application_id: string,
  query: { instance_id: string; created_before: string },
): Promise<number> {
  const { body } = await client.call('listRuns', {
    params: { application_id },
    query: { ...query, status: 'queued,running' },
  });
  return body.runs.length;
}

type Instance = ResponseBody<'getInstance'>;

/** The ids that the caller wants. */
interface Release {
  version?: string;
  instance?: string;
}

/** Throws for a version that exists, and for an instance that cannot change: before anything is packed. */
async function checkRelease(
  client: Client,
  application_id: string,
  { version, instance }: Release,
): Promise<void> {
  if (instance !== undefined && (isLatest(instance) || instance === DEFAULT_INSTANCE))
    throw new CommandError(
      `--instance is "${instance}", which is reserved. Every push changes the instance latest; give the id of another one.`,
    );
  if (version !== undefined && (await findVersion(client, application_id, version)))
    throw new CommandError(
      `Version ${version} of application ${application_id} exists, and a version never changes. Give another id. Nothing was pushed.`,
      EXIT_CODES.refused,
    );
  const found = instance === undefined ? undefined : await findInstance(client, application_id, instance);
  if (found?.locked)
    throw new CommandError(
      `Instance ${found.id} is locked${found.locked_by ? ` by ${found.locked_by}` : ''}. Unlock it or give another one. Nothing was pushed.`,
      EXIT_CODES.refused,
    );
}

/** Creates the version, and makes the instance run it. An instance without a given version gets one with a generated id. */
async function createRelease(
  client: Client,
  application_id: string,
  { version, instance }: Release,
  signal: AbortSignal,
): Promise<{ version_id?: string; instance_id?: string }> {
  if (version === undefined && instance === undefined) return {};
  const params = { application_id };
  const created = await client.call('createVersion', {
    params,
    body: version === undefined ? {} : { id: version },
  });
  const version_id = created.body.id;
  if (instance === undefined) return { version_id };
  // Reads the instance again after a lost connection: its version is the new one when the response was lost.
  await retry(
    async () => {
      const found = await findInstance(client, application_id, instance);
      if (!found) await client.call('createInstance', { params, body: { id: instance, version_id } });
      else if (found.version_id !== version_id)
        await client.call('updateInstance', {
          params: { ...params, instance_id: instance },
          body: { version_id, expected_version_id: found.version_id },
        });
    },
    { signal },
  );
  return { version_id, instance_id: instance };
}

async function findVersion(client: Client, application_id: string, version_id: string): Promise<boolean> {
  const params = { application_id, version_id };
  return (await findOrNone(() => client.call('getVersion', { params }))) !== undefined;
}

async function findInstance(
  client: Client,
  application_id: string,
  instance_id: string,
): Promise<Instance | undefined> {
  const params = { application_id, instance_id };
  return (await findOrNone(() => client.call('getInstance', { params })))?.body;
}
