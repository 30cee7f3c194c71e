/** The checks at the end of a simulation, when every fault is over and nothing waits any more. */
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { checkContents, checkRunEvents } from '../../server/testing/load/invariants.ts';
import { checkOrphanRows } from '../../server/testing/load/orphan-rows.ts';
import type { Plan } from '../load/plan.ts';
import { type AppEnd, computeOutput } from '../workers/app-behavior.ts';
import type { World } from '../world/world.ts';
import { checkDeliveries } from './delivery-checks.ts';
import type { AcknowledgedRun } from './ledger.ts';
import type { Observer, Row } from './observer.ts';
import { checkStudies } from './study-checks.ts';

/** Checks that acknowledged runs exist, that deleted ones do not, and that no row names a missing blob. */
export function checkAcknowledged({ ledger, blobs }: World, observer: Observer): void {
  for (const { blob_key } of observer.query('select blob_key from contents where blob_key is not null'))
    if (!blobs.has(String(blob_key))) ledger.report('a row names no missing blob', String(blob_key));
  const found = new Set(observer.query('select id from runs').map(({ id }) => String(id)));
  for (const run of ledger.runs.values()) {
    if (!found.has(run.id) && !run.isDeleteRequested)
      ledger.report('an acknowledged run exists', `${run.id} of ${run.name} is missing`);
    if (found.has(run.id) && run.isDeleted)
      ledger.report('a deleted run is gone', `${run.id} of ${run.name} exists`);
  }
}

/** Checks everything that holds at rest. */
export async function checkAtRest(world: World, plan: Plan, observer: Observer): Promise<void> {
  const { ledger, blobs } = world;
  checkAcknowledged(world, observer);
  checkOutcomes(world, observer);
  ledger.apps.checkPlaces(ledger.runs);
  checkAudit(world, observer);
  checkDeliveries(world, observer);
  checkExperiments(world, plan, observer);
  checkStudies(ledger, observer, { hasJumped: world.faults.has('moveClock') });
  checkUsage(world, plan, observer);
  const query = async (sql: string): Promise<Row[]> => observer.query(sql);
  for (const violation of await checkRunEvents(query))
    ledger.report('the events of a run are valid', violation);
  const contents = await checkContents(query, blobs.keys);
  for (const violation of contents.violations) {
    // A row may name a blob in the trash; the next reader moves it back.
    const [, key = ''] = /^the blob (\S+) is referenced and missing$/.exec(violation) ?? [];
    if (key === '' || !blobs.has(key)) ledger.report('contents and rows agree', violation);
  }
  for (const violation of await checkOrphanRows(query, []))
    if (!violation.includes('registered workers')) ledger.report('nothing refers to what is gone', violation);
}

/** Apps that always end so. */
const FAILED: readonly AppEnd[] = [
  'exit',
  'signal',
  'memory',
  'output',
  'disk',
  'endless',
  'not-startable',
  'no-json',
];

function checkOutcomes({ ledger }: World, observer: Observer): void {
  const rows = observer.query(
    `select runs.id, runs.name, runs.experiment_uid, runs.status, runs.error, runs.attempt, contents.inline, contents.blob_key
     from runs left join contents on contents.id = runs.output_content_id`,
  );
  const names = new Map<string, number>();
  for (const row of rows) {
    const name = String(row.name);
    // A shadow test copies a run with its name.
    if (name.startsWith('step-') && row.experiment_uid === null) names.set(name, (names.get(name) ?? 0) + 1);
    const run = ledger.runs.get(String(row.id));
    if (!run) continue;
    const problem = findOutcomeProblem(run, row);
    if (problem) ledger.report('a run has the outcome of its input', `${run.id}: ${problem}`);
    const read = ledger.readEnds.get(run.id);
    if (read !== undefined && read !== row.status)
      ledger.report('an end that a client read stays', `${run.id} was ${read} and is ${row.status}`);
  }
  for (const [name, count] of names)
    if (count > 1) ledger.report('an idempotency key creates one run', `${count} runs are ${name}`);
}

/** A batch has a run for each input, instance and repetition, and an ensemble its three child runs. */
function checkExperiments({ ledger }: World, { steps }: Plan, observer: Observer): void {
  for (const [step, { kind, id, account, isDeleteRequested }] of ledger.experiments) {
    if (kind !== 'batch' || isDeleteRequested) continue;
    const repetitions = steps.find((one) => one.id === step)?.repetitions;
    const [row] = observer.query(
      `select experiments.status, count(runs.id) as runs from experiments left join runs
       on runs.experiment_uid = experiments.uid where experiments.id = ? and experiments.kind = 'batch'
       group by experiments.uid, experiments.status`,
      id,
    );
    const expected = 4 * Number(repetitions);
    if (Number(row?.runs) !== expected)
      ledger.report(
        'a batch has all its runs once',
        `${id} of ${account} has ${row?.runs} of ${expected} runs`,
      );
  }
  const shadows = observer.query(
    `select experiments.id, experiments.status, count(runs.id) as runs from experiments left join runs
     on runs.experiment_uid = experiments.uid where experiments.kind = 'shadow' group by experiments.uid, experiments.id, experiments.status`,
  );
  for (const { id, runs, status } of shadows) {
    const step = steps.find((one) => `shadow-${one.id}` === id);
    if (Number(runs) > Number(step?.runs))
      ledger.report(
        'a shadow test ends after its runs',
        `${id} is ${status} and has ${runs} of ${step?.runs} runs`,
      );
  }
  const ensembles = observer.query(
    `select parent.id, count(child.id) as children from runs parent left join runs child on child.parent_run_id = parent.id
     where parent.run_type = 'ensemble' group by parent.id having count(child.id) <> 3`,
  );
  for (const { id, children } of ensembles)
    ledger.report('an ensemble has all its runs once', `${id} has ${children} child runs`);
}

/** Each run that ended counts once, when no step deletes runs. */
function checkUsage({ ledger }: World, { steps }: Plan, observer: Observer): void {
  if (steps.some((step) => DELETING.has(step.do))) return;
  const counted = observer.count('select sum(runs) from usage_days');
  const ended = observer.count(
    "select count(*) from runs where status in ('succeeded', 'failed', 'canceled')",
  );
  if (counted !== ended)
    ledger.report('each run counts once', `${counted} were counted, ${ended} have ended`);
}

const DELETING = new Set(['deleteRun', 'useApplication', 'deleteExperiment', 'deleteStudy']);

function findOutcomeProblem(run: AcknowledgedRun, { status, error, inline }: Row): string | null {
  const { input } = run;
  const state = status as RunStatusV2;
  // The worker of a run that is deleted ends its app; a power cut may take the deletion back.
  if (state === 'canceled')
    return run.isCancelRequested || run.isDeleteRequested ? null : 'canceled without a request';
  if (state === 'succeeded') {
    if (FAILED.includes(input.end)) return `succeeded although its app ends by ${input.end}`;
    if (input.end === 'large' || !(inline instanceof Uint8Array)) return null;
    const output: unknown = JSON.parse(Buffer.from(inline).toString());
    const expected = computeOutput(input);
    return JSON.stringify(output) === JSON.stringify(expected)
      ? null
      : `has the output ${JSON.stringify(output)}`;
  }
  if (state !== 'failed') return `is ${state}`;
  if (FAILED.includes(input.end) || String(error).includes('was started 5 times')) return null;
  return `failed: ${error}`;
}

/** Every acknowledged change has an entry in the audit log, and the chain has no gap. */
function checkAudit({ ledger }: World, observer: Observer): void {
  const entries = observer.query(
    'select operation, resource, number, hash, previous_hash from audit_entries order by number',
  );
  for (const [index, { number, previous_hash }] of entries.entries())
    if (index > 0 && previous_hash !== entries[index - 1]?.hash)
      ledger.report('the audit chain has no gap', `entry ${number} does not follow the one before it`);
  const numbers = entries.map(({ number }) => Number(number)).sort((a, b) => a - b);
  if (numbers.some((number, index) => number !== index + 1))
    ledger.report(
      'the audit chain has no gap',
      `numbers ${numbers.slice(0, 5).join(', ')} … of ${numbers.length}`,
    );
  const text = new Map<string, string>();
  for (const { operation, resource } of entries) {
    const name = String(operation);
    text.set(name, `${text.get(name) ?? ''}\n${resource}`);
  }
  for (const { operation, resource } of ledger.acknowledgements) {
    const found = text.get(operation);
    if (!AUDITED.has(operation)) continue;
    if (!found?.includes(resource))
      ledger.report('an acknowledged change is in the audit log', `${operation} of ${resource}`);
    // One id can be the begin of another one.
    const names = found?.split(/[^\w-]+/) ?? [];
    if (CREATION.test(operation) && names.filter((name) => name === resource).length > 1)
      ledger.report('a change has one entry in the audit log', `${operation} of ${resource}`);
  }
}

/** Operations whose resource has one entry of them at most. */
const CREATION = /^create|^replayRun$/;

const AUDITED = new Set([
  ...[
    'createRun',
    'replayRun',
    'cancelRun',
    'deleteRun',
    'createKey',
    'revokeKey',
    'createShare',
    'revokeShare',
  ],
  ...['updateInstance', 'deleteApplication', 'createWebhook', 'deleteWebhook'],
]);
