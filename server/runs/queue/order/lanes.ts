/**
 * The lanes of the queue. A lane has the queued runs of an application with the same priority, execution class and
 * requirements: a worker could execute all of them, or none. They start in order of age.
 *
 * Listing the lanes walks through an index, however many runs wait: a step for each lane, and one for each class with other
 * requirements than the caller asks for. The number of steps is bounded, and each account has the same share of them. Lanes
 * beyond the share of an account are listed in turn, some with each call, so that each run starts some time.
 */
import {
  EXECUTION_CLASS_DEFAULT,
  EXECUTION_CLASSES,
  type ExecutionClass,
} from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../../platform/database/database.ts';
import { hashText } from '../../../platform/database/hash-text.ts';
import { prepareStatement, prepareVariants } from '../../../platform/database/prepared-statements.ts';
import { memoizeByObject } from '../../../platform/memoize.ts';
import { QUEUED, type RunsTable } from '../../store/schema.ts';
import { wrapLabel } from '../run-requirements.ts';

/** The steps of a walk. One takes about 5 µs, and a list has at most three walks and a count of the accounts. */
const STEPS_MAX = 512;
/** An account may take so many without a count of the accounts that share the steps. */
const STEPS_OF_ACCOUNT = 128;

const LANE_COLUMNS = [
  'id',
  'priority',
  'created_at',
  'account_id',
  'application_uid',
  'execution_class',
  'required_labels',
  'required_licenses',
] as const;

/** A lane, by the columns of its oldest run. */
export interface Lane extends Pick<RunsTable, (typeof LANE_COLUMNS)[number]> {
  /** True if its account or its application has a quota of runs at once. */
  is_limited: SqlBool;
}

/** The lanes that a caller asks for. The list may have others too. */
export interface LaneFilter {
  /** By default all. */
  classes?: readonly ExecutionClass[];
  /** Lanes that need no other labels; by default all. */
  labels?: readonly string[];
  /** true: those with licences too, whatever labels they need. */
  withLicenses?: boolean;
  /** Lanes of this account alone. */
  account?: AccountId | null;
}

type Requirements = Pick<RunsTable, 'required_labels' | 'required_licenses'>;

/** The requirements of a run, as the index of lanes has them. */
export const formatRequirementsColumn = (db: Reader, table = 'runs'): RawBuilder<string> =>
  hashText(
    db,
    sql`coalesce(${sql.ref(`${table}.required_labels`)}, '') || ' ' || coalesce(${sql.ref(`${table}.required_licenses`)}, '')`,
  );

/** Returns the text of which the index of lanes has the hash. */
export function formatRequirementsKey({ required_labels, required_licenses }: Requirements): string {
  return `${required_labels ?? ''} ${required_licenses ?? ''}`;
}

/** The columns of a lane in the order of the index. `requirements` is the hash. */
const KEY_COLUMNS = ['account_id', 'requirements', 'execution_class', 'priority', 'application_uid'] as const;
type KeyColumn = (typeof KEY_COLUMNS)[number];

/** The lane after which a walk begins; it may have no run any more. */
interface WalkStart extends Pick<Lane, 'execution_class' | 'priority' | 'application_uid'> {
  account_id: string;
  /** The text of the requirements; empty before those of an account. */
  requirements: string;
  /** The steps already taken in the account. */
  steps: number;
}

interface WalkBounds {
  ofAccount: number;
  inAll: number;
  /** 1: the walk ends with the account in which it begins. */
  isOfOneAccount: 0 | 1;
}

/** A lane on a walk. One that the caller has not asked for stands for all of its class and requirements. */
type Step = Lane & { steps: number };

interface WalkVariant {
  classes: string;
  /** The number of labels; null with any. */
  labels: number | null;
  withLicenses: boolean;
}

/** Walks from lane to lane, in the order of the index. */
const selectSteps = prepareVariants(
  ({ classes, labels, withLicenses }: WalkVariant) => `${classes} ${labels} ${withLicenses}`,
  (db, variant: WalkVariant, values: WalkStart & WalkBounds & Record<string, unknown>) => {
    const names = (table: string) => sql.join(LANE_COLUMNS.map((name) => sql.ref(`${table}.${name}`)));
    const isRequested = formatRequested(variant, values);
    const steps = KEY_COLUMNS.map((_, at) => formatStep(db, at, isRequested, values)).reverse();
    return toStatement<Step>(
      db,
      sql`with recursive lanes (${sql.join(LANE_COLUMNS.map((name) => sql.ref(name)))}, requirements, steps) as (
        select '', cast(${values.priority} as integer), cast(0 as bigint), cast(${values.account_id} as text),
          cast(${values.application_uid} as text), cast(${values.execution_class} as text),
          cast(null as text), cast(null as text),
          case when cast(${values.requirements} as text) = '' then ''
            else ${hashText(db, sql`${values.requirements}`)} end,
          cast(${values.steps} as integer)
        union all
        select ${names('runs')}, ${formatRequirementsColumn(db)},
          case when runs.account_id = lanes.account_id then lanes.steps + 1 else 1 end
        from lanes join runs on runs.id = coalesce(${sql.join(steps)})
      )
      select ${names('lanes')}, steps, (
        exists (select 1 from account_quotas where account_quotas.account_id = lanes.account_id
          and account_quotas.concurrent_runs is not null)
        or exists (select 1 from application_quotas where application_quotas.application_uid = lanes.application_uid
          and application_quotas.concurrent_runs is not null)) as is_limited
      from lanes limit 1 + cast(${values.inAll} as integer)`,
    );
  },
);

/** True for a lane that the caller asks for. */
function formatRequested(
  { classes, labels, withLicenses }: WalkVariant,
  values: Record<string, unknown>,
): RawBuilder<unknown> {
  const isServed = sql`lanes.execution_class in (${sql.join(classes.split(' ').map((name) => sql.lit(name)))})`;
  if (labels === null) return isServed;
  let missing: RawBuilder<unknown> = sql`coalesce(lanes.required_labels, '')`;
  for (let index = 0; index < labels; index += 1)
    missing = sql`replace(${missing}, ${values[`label${index}`]}, '')`;
  return withLicenses
    ? sql`${isServed} and (lanes.required_licenses is not null or ${missing} = '')`
    : sql`${isServed} and ${missing} = ''`;
}

/**
 * Selects the first run of the next lane with the same values as the lane in the columns before the one at `at`, and a later
 * one in this.
 */
function formatStep(
  db: Reader,
  at: number,
  isRequested: RawBuilder<unknown>,
  { ofAccount, isOfOneAccount }: WalkBounds,
): RawBuilder<unknown> {
  const formatColumn = (name: KeyColumn) =>
    name === 'requirements' ? formatRequirementsColumn(db, 'next') : sql.ref(`next.${name}`);
  const formatLane = (name: KeyColumn) => sql.ref(`lanes.${name}`);
  const [column, ...later] = KEY_COLUMNS.slice(at);
  if (!column) return sql`null`;
  const conditions = KEY_COLUMNS.slice(0, at).map((name) => sql`${formatColumn(name)} = ${formatLane(name)}`);
  conditions.push(sql`${formatColumn(column)} > ${formatLane(column)}`);
  conditions.push(
    column === 'account_id'
      ? sql`cast(${isOfOneAccount} as integer) = 0`
      : sql`lanes.steps < cast(${ofAccount} as integer)`,
  );
  if (column === 'application_uid' || column === 'priority') conditions.push(isRequested);
  const order = [column, ...later].map(formatColumn);
  return sql`(select next.id from runs as next
    where next.status = ${QUEUED} and ${sql.join(conditions, sql` and `)}
    order by ${sql.join(order)}, next.created_at, next.id limit 1)`;
}

/** Lists the accounts with queued runs, at most STEPS_MAX of them. */
const selectAccounts = prepareStatement((db) =>
  toStatement<{ account_id: AccountId }>(
    db,
    sql`with recursive accounts (account_id) as (
      select min(account_id) from runs where status = ${QUEUED}
      union all
      select (select min(account_id) from runs where status = ${QUEUED} and account_id > accounts.account_id)
      from accounts where accounts.account_id is not null
    )
    select account_id from accounts where account_id is not null limit ${sql.lit(STEPS_MAX)}`,
  ),
);

function toStatement<Row>(db: Reader, statement: RawBuilder<Row>) {
  return { compile: () => statement.compile(db) };
}

/** The start before all lanes of an account; without one, before all lanes. */
const createStart = (account: string): WalkStart => ({
  ...{ account_id: account, requirements: '', priority: 0, application_uid: '', steps: 0 },
  execution_class: EXECUTION_CLASS_DEFAULT,
});

async function walk(
  db: Reader,
  { classes = EXECUTION_CLASSES, labels, withLicenses = false }: LaneFilter,
  { start, ...bounds }: WalkBounds & { start: WalkStart },
): Promise<Step[]> {
  const variant = { classes: classes.toSorted().join(' '), labels: labels?.length ?? null, withLicenses };
  if (variant.classes === '') return [];
  const { account_id, requirements, execution_class, priority, application_uid, steps } = start;
  const rows = await selectSteps(db, variant, {
    ...{ account_id, requirements, execution_class, priority, application_uid, steps, ...bounds },
    ...Object.fromEntries((labels ?? []).map((label, index) => [`label${index}`, wrapLabel(label)])),
  });
  // The first row is the start.
  return rows.slice(1);
}

/** Lists the lanes of the queue, as far as the steps reach. */
export async function listLanes(db: Reader, filter: LaneFilter = {}): Promise<Lane[]> {
  return (await walkInShares(db, filter, '')).steps;
}

/** A walk through the accounts after one. */
interface SharedWalk {
  steps: Step[];
  /** The steps that each account may take. */
  share: number;
  /** False if there are more accounts than steps. */
  hasAllAccounts: boolean;
}

async function walkInShares(db: Reader, filter: LaneFilter, after: string): Promise<SharedWalk> {
  const walkAll = async (share: number, hasAllAccounts = true): Promise<SharedWalk> => {
    const start = filter.account ? createStart(filter.account) : { ...createStart(after), steps: share };
    const bounds = { ofAccount: share, inAll: STEPS_MAX, isOfOneAccount: filter.account ? 1 : 0 } as const;
    return { steps: await walk(db, filter, { start, ...bounds }), share, hasAllAccounts };
  };
  if (filter.account) return walkAll(STEPS_MAX);
  const first = await walkAll(STEPS_OF_ACCOUNT);
  if (first.steps.length < STEPS_MAX && listUnfinished(first).size === 0) return first;
  const { length } = await selectAccounts(db, {});
  return walkAll(Math.floor(STEPS_MAX / length), length < STEPS_MAX);
}

/** Returns the last step in each account that has taken its share. */
function listUnfinished({ steps, share }: SharedWalk): Map<AccountId, Step> {
  return new Map(steps.filter((step) => step.steps === share).map((step) => [step.account_id, step]));
}

/** The position at which the next list for a claim goes on. */
interface Cursor {
  /** The account after which it begins; empty at the beginning. */
  after: string;
  /** The lane after which it lists those of an account beyond its share. */
  rest: Step | null;
}

/** The cursors of a database, by the filter of the claim. */
const getCursors = memoizeByObject((_adapter: object) => new Map<string, Cursor>());
const CURSORS_MAX = 1000;

/**
 * Lists the lanes for a claim: as `listLanes`, with some of those that it does not reach. The next claim with the same filter
 * has the next ones.
 */
export async function listLanesInTurn(db: Reader, filter: LaneFilter): Promise<Lane[]> {
  const cursors = getCursors(db.getExecutor().adapter);
  const key = JSON.stringify(filter);
  const { after, rest } = cursors.get(key) ?? { after: '', rest: null };
  const shared = await walkInShares(db, filter, after);
  const unfinished = listUnfinished(shared);
  const next: Cursor = { after: findNextAfter(shared), rest: null };
  const lanes = new Map(shared.steps.map((step) => [step.id, step]));
  if (unfinished.size > 0) {
    const start = rest && unfinished.has(rest.account_id) ? rest : findNextUnfinished(unfinished, rest);
    const steps = await walk(db, filter, {
      start: { ...start, requirements: formatRequirementsKey(start), steps: 0 },
      ...{ ofAccount: shared.share, inAll: shared.share, isOfOneAccount: 1 },
    });
    for (const step of steps) lanes.set(step.id, step);
    const last = steps.at(-1);
    next.rest = last && steps.length === shared.share ? last : findNextUnfinished(unfinished, start);
  }
  if (cursors.size >= CURSORS_MAX) cursors.clear();
  if (next.after !== '' || next.rest) cursors.set(key, next);
  else cursors.delete(key);
  return [...lanes.values()];
}

/** Returns the account after which the next walk begins: the last one of which no lane is missing. */
function findNextAfter({ steps, hasAllAccounts }: SharedWalk): string {
  if (hasAllAccounts || steps.length < STEPS_MAX) return '';
  const last = steps.at(-1);
  return steps.findLast((step) => step.account_id !== last?.account_id)?.account_id ?? '';
}

/** Returns the lane at which the next account has used up its share. */
function findNextUnfinished(unfinished: ReadonlyMap<AccountId, Step>, rest: Step | null): Step {
  const steps = [...unfinished.values()];
  const at = steps.findIndex((step) => rest === null || step.account_id > rest.account_id);
  const next = steps[Math.max(0, at)];
  if (!next) throw new Error('No account has lanes beyond its share.');
  return next;
}
