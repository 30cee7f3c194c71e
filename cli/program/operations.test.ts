/** Every operation of the contract has a command, or a reason why it has none. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXPERIMENT_TYPES, EXPERIMENTS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { expect, test } from 'vitest';

const BROWSER = 'It belongs to the browser that signs in to the console.';
const OPENED = 'A person opens the address of the link in a browser.';
const WORKER = 'Workers call it, and nobody else.';
const ORGANIZATION =
  'The published client has its own form of accounts; "accounts" and "members" are the same.';
const MONITOR = 'Probes and Prometheus read it without the command line.';

/** The operations that make no sense at a terminal. `switchyard api` reaches them as well. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  acceptInvite: OPENED,
  checkWorkerProtocol: WORKER,
  countRuns: 'The pages of the console show numbers of runs; "runs --all --quiet" prints a line for each.',
  createOrganization: ORGANIZATION,
  createSession: BROWSER,
  deleteOrganization: ORGANIZATION,
  endAttempt: WORKER,
  getCommunityFile: 'The published client loads templates with it; "init" has its own.',
  getHealth: MONITOR,
  getMetrics: MONITOR,
  getOrganization: ORGANIZATION,
  getRun: '"runs get" and "runs output" read a run without holding a large output in memory.',
  getSharedContent: OPENED,
  getSharedRun: OPENED,
  getSignUp:
    'The console asks it before it shows a form; "accounts create" gets the reason with the refusal.',
  getSingleSignOn: BROWSER,
  getSsoDomain: 'The published client asks it before its own sign-in.',
  leaveWorker: WORKER,
  listApplicationSummaries: 'The first page of the console; "apps list" lists the applications.',
  listOwnOrganizations: ORGANIZATION,
  listTags: 'The console suggests them; "runs tag" prints those of a run.',
  proveAttempt: WORKER,
  putAttemptFile: WORKER,
  putUpload: 'Commands send content in parts, which a later command continues.',
  registerWorker: WORKER,
  startSingleSignOn: BROWSER,
  syncWorker: WORKER,
  updateOrganization: ORGANIZATION,
  updateRunFlow: 'The app of a workflow sends its graph.',
  writeAttemptLog: WORKER,
};

/** Folders whose code calls operations that no command for people needs. */
const OTHER_CODE = /(^|\/)(mcp|api|testing|templates|build)\/|\.test\.ts$/;

/** Operations whose ids the commands of `switchyard experiments` for all types build. */
const BUILT = new Set(
  EXPERIMENT_TYPES.flatMap((type) => {
    const { resource } = EXPERIMENTS[type];
    const verbs = ['create', 'get', 'update', 'delete', 'start', 'stop'];
    return [
      ...verbs.map((verb) => `${verb}${resource}`),
      ...[`list${resource}s`, `list${resource}Runs`, `get${resource}Metadata`],
    ];
  }),
);

/** Returns the code of the commands, without types of operations. */
function readCommands(): string {
  const root = join(import.meta.dirname, '..');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !OTHER_CODE.test(path))
    .map((path) =>
      readFileSync(join(root, path), 'utf8').replaceAll(/Operations\['\w+'\]|ResponseBody<'\w+'>/g, ''),
    )
    .join('\n');
}

test('every operation has a command, or a reason for none', () => {
  const code = readCommands();
  const unused = Object.keys(operations).filter((id) => !code.includes(`'${id}'`) && !BUILT.has(id));
  expect(unused.toSorted()).toEqual(Object.keys(WITHOUT_COMMAND).toSorted());
});
