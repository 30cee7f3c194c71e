/** Queries for looks at questions. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { QuestionLooksTable } from './schema.ts';

/**
 * Looks beyond the newest of an application are forgotten; with 16 kB for 2,000 inputs, these are 16 MB at most. An experiment
 * has a look for each of its candidates.
 */
const LOOKS_PER_APPLICATION_MAX = 1000;

/** A look without its inputs, which can be 16 kB. */
export type LookHead = Omit<QuestionLooksTable, 'inputs'>;

/** The executable and the options of a run, which tell what was compared. */
export interface RunSetup {
  id: RunId;
  /** Hash of the executable; null when the application has deleted it. */
  hash: string | null;
  executable_id: string;
  options_summary: string;
}

/** Returns the setups of the runs. */
export function findRunSetups(db: Reader, ids: readonly RunId[]): Promise<RunSetup[]> {
  return db
    .selectFrom('runs')
    .leftJoin('executables', 'executables.id', 'runs.executable_id')
    .select(['runs.id', 'executables.hash', 'runs.executable_id', 'runs.options_summary'])
    .where('runs.id', 'in', ids)
    .execute();
}

/** Stores the looks. A second one at the same experiment updates its inputs, and keeps the time at which results were known. */
export async function storeLooks(tx: Writer, looks: readonly QuestionLooksTable[]): Promise<void> {
  for (const look of looks)
    await tx
      .insertInto('question_looks')
      .values(look)
      .onConflict((conflict) =>
        conflict
          .columns(['experiment_uid', 'question'])
          .doUpdateSet({ inputs: look.inputs, inputs_hash: look.inputs_hash, rules: look.rules }),
      )
      .execute();
  const [application_uid] = new Set(looks.map((look) => look.application_uid));
  if (application_uid === undefined) return;
  const oldest = await tx
    .selectFrom('question_looks')
    .select('known_at')
    .where('application_uid', '=', application_uid)
    .orderBy('known_at', 'desc')
    .offset(LOOKS_PER_APPLICATION_MAX)
    .limit(1)
    .executeTakeFirst();
  if (oldest)
    await tx
      .deleteFrom('question_looks')
      .where('application_uid', '=', application_uid)
      .where('known_at', '<=', oldest.known_at)
      .execute();
}

/** Returns the looks of an experiment, one for each candidate. */
export function listOwnLooks(db: Reader, experimentUid: string): Promise<QuestionLooksTable[]> {
  return db
    .selectFrom('question_looks')
    .selectAll()
    .where('experiment_uid', '=', experimentUid)
    .orderBy('question')
    .execute();
}

/** Returns all looks at the question that were known before the look, oldest first. */
export function listEarlierLooks(db: Reader, look: LookHead): Promise<LookHead[]> {
  return db
    .selectFrom('question_looks')
    .select(['experiment_uid', 'question', 'application_uid', 'type', 'experiment_id', 'runs_uid'])
    .select(['rules', 'inputs_hash', 'created_at', 'known_at'])
    .where('application_uid', '=', look.application_uid)
    .where('question', '=', look.question)
    .where((eb) =>
      eb.or([
        eb('known_at', '<', look.known_at),
        // Looks of the same millisecond have an order too.
        eb('known_at', '=', look.known_at).and('experiment_uid', '<', look.experiment_uid),
      ]),
    )
    .orderBy('known_at')
    .orderBy('experiment_uid')
    .execute();
}

/** Returns the inputs of these experiments. */
export async function listInputs(
  db: Reader,
  question: string,
  uids: readonly string[],
): Promise<Pick<QuestionLooksTable, 'experiment_uid' | 'inputs' | 'inputs_hash'>[]> {
  if (uids.length === 0) return [];
  return db
    .selectFrom('question_looks')
    .select(['experiment_uid', 'inputs', 'inputs_hash'])
    .where('question', '=', question)
    .where('experiment_uid', 'in', uids)
    .execute();
}

/** Returns those of the uids whose experiment or acceptance test exists. */
export async function findExistingUids(db: Reader, uids: readonly string[]): Promise<Set<string>> {
  if (uids.length === 0) return new Set();
  const experiments = await db
    .selectFrom('experiments')
    .select('uid')
    .where('uid', 'in', uids)
    .where('deleted_at', 'is', null)
    .execute();
  const tests = await db.selectFrom('acceptance_tests').select('uid').where('uid', 'in', uids).execute();
  return new Set([...experiments, ...tests].map(({ uid }) => uid));
}

/**
 * Deletes the looks of at most `limit` experiments of an application. Returns a null for each deleted row, at least `limit`
 * unless none is left.
 */
export async function removeLooksOfApplication(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<null[]> {
  const rows = await tx
    .deleteFrom('question_looks')
    .where('experiment_uid', 'in', (eb) =>
      eb
        .selectFrom('question_looks')
        .select('experiment_uid')
        .where('application_uid', '=', applicationUid)
        .limit(limit),
    )
    .returning('experiment_uid')
    .execute();
  return rows.map(() => null);
}
