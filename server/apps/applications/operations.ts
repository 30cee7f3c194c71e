/** Operations on applications. */

import type { Application } from '@switchyard/contract/applications/applications.ts';
import {
  type ApplicationIndicators,
  findIndicatorMistake,
} from '@switchyard/contract/applications/indicators.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ApplicationId, InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { lockMakerAccount } from '../../accounts/account/access-changes.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId, type Random, randomText } from '../../platform/random.ts';
import { formatExecutable } from './executable.ts';
import { findExecutable, findExecutables } from './executables-store.ts';
import { NO_TRUST, removeTrust, renewTrust } from './html-trust.ts';
import { formatMeaning, NO_MEANING, readMeaning } from './meaning.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';
import * as store from './store.ts';

const INSTANCE_FIELDS = ['default_instance', 'default_experiment_instance'] as const;

/** Small, because the requirements of one executable can take a megabyte. */
const PAGE_BATCH_SIZE = 10;

/** The length that an id derived from a name reserves for its random suffix. */
const ID_SUFFIX_CHARS = 10;

export const createApplication: OperationHandler<'createApplication'> = async (
  { clock, random },
  { caller, body, commit },
) => {
  for (const field of INSTANCE_FIELDS) {
    // Any other id is allowed: the instance may be created later.
    if (body[field] === 'default')
      throw badRequest(`${field} is "default", which would refer to itself; name an instance, or "latest".`);
  }
  const now = clock.now();
  const row: ApplicationsTable = {
    uid: makeId<string>(random, 'app'),
    account_id: caller.account,
    id: body.id ?? createIdFromName(body.name, random),
    name: body.name,
    description: body.description ?? '',
    type: body.is_pipeline ? 'pipeline' : 'custom',
    subscription_id: null,
    default_instance: body.default_instance ?? '',
    default_experiment_instance: body.default_experiment_instance ?? '',
    active_executable_id: null,
    ...NO_MEANING,
    ...formatMeaning(body),
    ...NO_TRUST,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
  validateName(row.name, row.id);
  requireIndicators(body.indicators);
  return commit(async (tx) => {
    if (!(await store.insertApplication(tx, row)))
      throw badRequest(
        `id is ${quoteValue(row.id)}, which another application of the account has; choose another.`,
      );
    return { status: 201, body: formatApplication(row, undefined, caller.role) };
  });
};

export const listApplications: OperationHandler<'listApplications'> = async (
  { database, pageTokens, log },
  { caller, query },
) =>
  respondWithList(
    { pageTokens, log },
    {
      tokenScope: `applications ${caller.account} ${query.text ?? ''}`,
      query,
      queryRows: (page) =>
        store.listApplications(database.read, caller.account, { ...page, text: query.text }),
      async formatBodies(rows) {
        const active = rows.flatMap((row) => row.active_executable_id ?? []);
        const executables = await findExecutables(database.read, active);
        const byId = new Map(executables.map((executable) => [executable.id, executable]));
        return rows.map((row) => {
          const executable =
            row.active_executable_id === null ? undefined : byId.get(row.active_executable_id);
          return formatApplication(row, executable, caller.role);
        });
      },
      batchSize: PAGE_BATCH_SIZE,
    },
  );

export const getApplication: OperationHandler<'getApplication'> = async (
  { database },
  { caller, params },
) => {
  const row = await store.getApplication(database.read, caller.account, params.application_id);
  const executable = await findActiveExecutable(database.read, row);
  return { status: 200, body: formatApplication(row, executable, caller.role) };
};

export const updateApplication: OperationHandler<'updateApplication'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock } = context;
  const row = await store.getApplication(database.read, caller.account, params.application_id);
  validateName(body.name, row.id);
  requireIndicators(body.indicators);
  return commit(async (tx) => {
    const locked = await store.lockApplication(tx, row);
    requireUnchanged({ noun: `application ${quoteValue(row.id)}`, updatedAt: locked.updated_at }, body);
    if (body.locked)
      throw badRequest(
        'locked is true; an application cannot be locked. Lock its instances, or leave the field out.',
      );
    await checkInstances(context, tx, locked, body);
    await checkBaseline(context, tx, locked, body.baseline_run_id);
    const changes = {
      name: body.name ?? locked.name,
      description: body.description ?? locked.description,
      default_instance: body.default_instance ?? locked.default_instance,
      default_experiment_instance: body.default_experiment_instance ?? locked.default_experiment_instance,
      ...formatMeaning(body),
      ...(body.baseline_run_id !== undefined && { baseline_run_id: body.baseline_run_id }),
      updated_at: computeUpdateTime(clock.now(), locked),
    };
    await store.updateApplication(tx, locked.uid, changes);
    const changed = { ...locked, ...changes };
    const executable = await findActiveExecutable(tx, changed);
    return { status: 200, body: formatApplication(changed, executable, caller.role) };
  });
};

export const trustHtmlAssets: OperationHandler<'trustHtmlAssets'> = async (
  { database, clock },
  { caller, params, commit },
) => {
  const row = await store.getApplication(database.read, caller.account, params.application_id);
  if (row.type === 'subscription')
    throw badRequest(
      `application_id is ${quoteValue(row.id)}, whose versions another account publishes; only an application of your account can be trusted.`,
    );
  return commit(async (tx) => {
    await lockMakerAccount(tx, caller);
    const locked = await store.lockApplication(tx, row);
    const now = clock.now();
    const changes = { ...renewTrust(locked, caller, now), updated_at: computeUpdateTime(now, locked) };
    await store.updateApplication(tx, locked.uid, changes);
    const executable = await findActiveExecutable(tx, locked);
    return { status: 200, body: formatApplication({ ...locked, ...changes }, executable, caller.role) };
  });
};

export const distrustHtmlAssets: OperationHandler<'distrustHtmlAssets'> = async (
  { database, clock },
  { caller, params, commit },
) => {
  const row = await store.getApplication(database.read, caller.account, params.application_id);
  return commit(async (tx) => {
    await removeTrust(tx, await store.lockApplication(tx, row), clock.now());
    return { status: 204 };
  });
};

export const deleteApplication: OperationHandler<'deleteApplication'> = async (
  { database, clock, onApplicationDeleted, describeLockedInstance, withdrawApplication },
  { caller, params, commit },
) => {
  const row = await store.getApplication(database.read, caller.account, params.application_id);
  const committed = await commit(async (tx) => {
    // A lock of an instance locks the application too, so none overlaps with this.
    await store.lockApplication(tx, row);
    const lock = await describeLockedInstance(row.uid, tx);
    if (lock !== null) throw badRequest(`The application ${quoteValue(row.id)} cannot be deleted. ${lock}`);
    await store.updateApplication(tx, row.uid, { deleted_at: clock.now() });
    await withdrawApplication(tx, row);
    return { status: 204 };
  });
  onApplicationDeleted();
  return committed;
};

async function findActiveExecutable(
  db: Reader,
  { active_executable_id: id }: ApplicationsTable,
): Promise<ExecutablesTable | undefined> {
  return id === null ? undefined : findExecutable(db, id);
}

/** Throws a 400 when a field that changes names an instance that the application does not have. */
async function checkInstances(
  { hasInstance }: Pick<Context, 'hasInstance'>,
  tx: Writer,
  application: ApplicationsTable,
  body: { [F in (typeof INSTANCE_FIELDS)[number]]?: string | null | undefined },
): Promise<void> {
  for (const field of INSTANCE_FIELDS) {
    const id = body[field];
    // Clients send the whole object, so an unchanged value is accepted even if its instance is gone.
    if (!id || id === application[field] || isLatest(id)) continue;
    if (await hasInstance(application.uid, id as InstanceId, tx)) continue;
    throw badRequest(
      `${field} is ${quoteValue(id)}; it must be an instance of the application, or "latest".`,
    );
  }
}

/** Throws a 400 when the baseline changes to a run that the application does not have. */
async function checkBaseline(
  { hasRun }: Pick<Context, 'hasRun'>,
  tx: Writer,
  application: ApplicationsTable,
  id: RunId | null | undefined,
): Promise<void> {
  if (id == null || id === application.baseline_run_id || (await hasRun(application.uid, id, tx))) return;
  throw badRequest(`baseline_run_id is ${quoteValue(id)}; it must be a run of the application.`);
}

/** Throws a 400 for names of indicators that are too many or too long. */
function requireIndicators(indicators: ApplicationIndicators | null | undefined): void {
  const mistake = findIndicatorMistake(indicators ?? {});
  if (mistake) throw badRequest(mistake);
}

/** Returns the name in the characters of ids with a random suffix, so that two applications can have the same name. */
function createIdFromName(name: string, random: Random): ApplicationId {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, ID_CHARS_MAX - ID_SUFFIX_CHARS);
  return `${words || 'application'}-${randomText(random, 6)}` as ApplicationId;
}

/** Formats the application for a caller with the role; `executable` is its active executable. */
function formatApplication(
  row: ApplicationsTable,
  executable: ExecutablesTable | undefined,
  role: Role,
): Application {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type,
    default_instance: row.default_instance,
    default_experiment_instance: row.default_experiment_instance,
    subscription_id: row.subscription_id ?? '',
    ...readMeaning(row),
    baseline_run_id: row.baseline_run_id,
    active_executable: executable ? formatExecutable(executable, role) : null,
    html_assets_trusted: row.html_trusted_at !== null,
    html_assets_trusted_by: row.html_trusted_by || null,
    html_assets_trusted_at: row.html_trusted_at === null ? null : formatRfc3339(row.html_trusted_at),
    locked: false,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
