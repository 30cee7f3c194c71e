/** Statements on log chunks: the lines of live logs, stored for 24 hours. */
import type { RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Reader, Tables, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';

/** The stored lines of an attempt: the number of the last chunk, and what all chunks have together. */
export interface StoredLog {
  seq: number;
  lines: number;
  chars: number;
}

/** Returns what is stored of the log whose chunks have numbers above `after`. */
export async function findStoredLog(db: Reader, id: RunId, after: number): Promise<StoredLog> {
  const last = await db
    .selectFrom('log_chunks')
    .select(['seq', 'lines_so_far as lines', 'chars_so_far as chars'])
    .where('run_id', '=', id)
    .where('seq', '>', after)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { seq: last?.seq ?? after, lines: last?.lines ?? 0, chars: last?.chars ?? 0 };
}

/** Inserts one chunk of a log; does nothing if it exists, as after a retried transaction. */
export async function insertLogChunk(tx: Writer, chunk: Tables['log_chunks']): Promise<void> {
  await tx
    .insertInto('log_chunks')
    .values(chunk)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Lists the chunks of a log after the given `seq`, in order. */
export function listLogChunks(
  db: Reader,
  id: RunId,
  after: number,
  limit: number,
): Promise<{ seq: number; lines: string }[]> {
  return db
    .selectFrom('log_chunks')
    .select(['seq', 'lines'])
    .where('run_id', '=', id)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** A chunk of the log of a run, when it begins, and the last chunk of that run. */
export interface LogChunkKey {
  run_id: RunId;
  seq: number;
  at: number;
  last: number;
}

/**
 * The next chunks of each run after its place, at most `limit` of each, in the order of `seq`. Numbers can be missing
 * between chunks, so there may be fewer than `limit` though more follow: compare `seq` with `last`.
 */
export async function listNextLogChunks(
  db: Reader,
  places: readonly { run_id: RunId; after: number }[],
  limit: number,
): Promise<LogChunkKey[]> {
  if (places.length === 0) return [];
  const values = sql.join(places.map(({ run_id, after }) => sql`(${run_id}, cast(${after} as bigint))`));
  const { rows } = await sql<Record<keyof LogChunkKey, string | number>>`
    with place(id, after) as (values ${values}),
    run as (
      select id,
        (select min(seq) from log_chunks where run_id = place.id and seq > place.after) as first,
        (select max(seq) from log_chunks where run_id = place.id and seq > place.after) as last
      from place
    )
    select log_chunks.run_id, log_chunks.seq, log_chunks.at, run.last
    from run
    inner join log_chunks on log_chunks.run_id = run.id
      and log_chunks.seq >= run.first and log_chunks.seq < run.first + ${sql.lit(limit)}
    order by log_chunks.run_id, log_chunks.seq`.execute(db);
  return rows.map(({ run_id, seq, at, last }) => ({
    run_id: `${run_id}` as RunId,
    seq: Number(seq),
    at: Number(at),
    last: Number(last),
  }));
}

/** Returns the lines of the chunks by their run and `seq`, with a space between. */
export async function readLogChunks(
  db: Reader,
  chunks: readonly Pick<LogChunkKey, 'run_id' | 'seq'>[],
): Promise<Map<string, string>> {
  if (chunks.length === 0) return new Map();
  const rows = await db
    .selectFrom('log_chunks')
    .select(['run_id', 'seq', 'lines'])
    .where((eb) =>
      eb.or(chunks.map(({ run_id, seq }) => eb.and([eb('run_id', '=', run_id), eb('seq', '=', seq)]))),
    )
    .execute();
  return new Map(rows.map(({ run_id, seq, lines }) => [`${run_id} ${seq}`, lines]));
}

export interface LiveLogSnapshot {
  status: RunStatusV2;
  runType: RunTypeName;
  chunks: { seq: number; lines: string }[];
}

interface Place {
  account: AccountId;
  application: ApplicationId;
  id: RunId;
  after: number;
  /** The maximum number of chunks. */
  limit: number;
}

/** Finds the run by its id alone, with a limit: otherwise PostgreSQL may scan the runs of the application. */
const selectFollowed = prepareStatement((db, { account, application, id, after, limit }: Place) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('runs')
        .select(['application_uid', 'status', 'run_type'])
        .where('id', '=', id)
        .limit(1)
        .as('run'),
    )
    .innerJoin('applications', 'applications.uid', 'run.application_uid')
    .leftJoin(
      (from) =>
        from
          .selectFrom('log_chunks')
          .select(['seq', 'lines'])
          .where('run_id', '=', id)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(limit)
          .as('chunk'),
      (join) => join.onTrue(),
    )
    .select(['run.status', 'run.run_type', 'chunk.seq', 'chunk.lines'])
    .where('applications.account_id', '=', account)
    .where('applications.id', '=', application)
    .where('applications.deleted_at', 'is', null)
    .orderBy('chunk.seq'),
);

/**
 * Returns the status of a run and its chunks after `after`; undefined when the account has no such run. One statement, so
 * that both are from the same moment: with a terminal status no more lines follow. A poll costs only this statement.
 */
export async function findLiveLogSnapshot(db: Reader, place: Place): Promise<LiveLogSnapshot | undefined> {
  const rows = await selectFollowed(db, place);
  const [first] = rows;
  if (!first) return undefined;
  const chunks = rows.flatMap(({ seq, lines }) => (seq === null || lines === null ? [] : { seq, lines }));
  return { status: first.status, runType: first.run_type, chunks };
}

/** Removes at most `limit` chunks from before the time; returns how many. */
export function removeLogChunksBefore(tx: Writer, before: number, limit: number): Promise<number> {
  return deleteChunks(tx, limit, (eb) => eb('at', '<', before));
}

/** Removes at most `limit` chunks of the runs; returns how many. */
export function removeLogChunksOfRuns(tx: Writer, ids: readonly RunId[], limit: number): Promise<number> {
  return deleteChunks(tx, limit, (eb) => eb('run_id', 'in', ids));
}

async function deleteChunks(
  tx: Writer,
  limit: number,
  which: (eb: ExpressionBuilder<Tables, 'log_chunks'>) => Expression<SqlBool>,
): Promise<number> {
  const result = await tx
    .deleteFrom('log_chunks')
    .where((eb) =>
      eb(
        eb.refTuple('run_id', 'seq'),
        'in',
        eb
          .selectFrom('log_chunks')
          .select(['run_id', 'seq'])
          .where(which)
          .limit(limit)
          .$asTuple('run_id', 'seq'),
      ),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
