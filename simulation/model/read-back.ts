/** Clients read at rest what they have written: the same facts as in the rows, on the way that readers take. */
import { checkSetting, SETTINGS } from '../load/settings.ts';
import { computeOutput } from '../workers/app-behavior.ts';
import { APPLICATION } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import type { AcknowledgedRun } from './ledger.ts';

/** So many runs are read one by one. */
const RUNS_MAX = 5;

const PATH = `/v1/applications/${APPLICATION}/runs`;

interface RunAnswer {
  id: string;
  metadata: { status_v2: string };
  output?: unknown;
}

/** Reads the settings, the lists and the latest runs. */
export async function readBack(world: World): Promise<void> {
  for (const account of world.accounts.keys()) {
    for (const name of SETTINGS) await checkSetting(world, { account, name });
    await checkList(world, account);
  }
  const runs = [...world.ledger.runs.values()].filter(({ isDeleteRequested }) => !isDeleteRequested);
  for (const run of runs.slice(-RUNS_MAX)) await checkRun(world, run);
}

/** The first page of the list has the latest runs of the account, and of no other one. */
export async function checkList(world: World, account: number): Promise<void> {
  const expected = [...world.ledger.runs.values()].filter((run) => run.account === account);
  const answer = await world.clientOf(account).call('GET', PATH);
  if (answer?.status !== 200) return;
  const { runs } = answer.body as { runs: RunAnswer[] };
  const listed = new Set(runs.map(({ id }) => id));
  const isWhole = runs.length < 50;
  for (const run of expected)
    if (isWhole && !run.isDeleteRequested && !listed.has(run.id))
      world.ledger.report('a list has every run', `${run.id} is missing in the list of account ${account}`);
  for (const run of world.ledger.runs.values())
    if (run.account !== account && listed.has(run.id))
      world.ledger.report('a list has no foreign run', `${run.id} is in the list of account ${account}`);
}

async function checkRun(world: World, run: AcknowledgedRun): Promise<void> {
  const answer = await world.clientOf(run.account).call('GET', `${PATH}/${run.id}`);
  if (answer?.status !== 200) {
    world.ledger.report('an acknowledged run exists', `${run.id} has the status ${answer?.status}`);
    return;
  }
  const { metadata, output } = answer.body as RunAnswer;
  if (metadata.status_v2 !== 'succeeded' || output === undefined) return;
  if (JSON.stringify(output) !== JSON.stringify(computeOutput(run.input)))
    world.ledger.report('an output is that of the app', `${run.id}: ${JSON.stringify(output).slice(0, 300)}`);
}
