/** Operations on versions. */
import type { Version } from '@switchyard/contract/applications/versions.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ExecutableId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import {
  badRequest,
  notFound,
  orThrow,
  quoteValue,
  reportMissing,
  reportTaken,
} from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { pickTexts, validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { formatExecutable } from '../applications/executable.ts';
import { findExecutables, lockExecutable } from '../applications/executables-store.ts';
import { requireOwnProgram } from '../applications/own-program.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { getApplication, lockApplication } from '../applications/store.ts';
import type { VersionsTable } from './schema.ts';
import * as store from './store.ts';

/** Small, because the requirements of one executable can take a megabyte. */
const PAGE_BATCH_SIZE = 10;

export const createVersion: OperationHandler<'createVersion'> = async (
  { database, clock, random },
  { caller, params, body, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  requireOwnProgram(application, 'create one');
  if (application.active_executable_id === null) {
    throw badRequest(`The application ${quoteValue(application.id)} has no executable yet; push one first.`);
  }
  const now = clock.now();
  const id = body.id ?? makeId<VersionId>(random, 'version');
  validateName(body.name, id);
  const row: VersionsTable = {
    application_uid: application.uid,
    id,
    name: body.name ?? `Version ${id}`.slice(0, NAME_CHARS_MAX),
    description: body.description ?? '',
    executable_id: application.active_executable_id,
    created_at: now,
    updated_at: now,
  };
  const response = {
    status: 201 as const,
    body: await formatVersion(database.read, application, row, caller.role),
  };
  return commit(async (tx) => {
    await lockApplication(tx, application);
    if (!(await lockExecutable(tx, row.executable_id)))
      throw badRequest(
        `The executable ${quoteValue(row.executable_id)} was replaced and removed meanwhile; send the request again.`,
      );
    if (await store.insertVersion(tx, row)) return response;
    throw reportTaken('version', id);
  });
};

export const listVersions: OperationHandler<'listVersions'> = async (context, { caller, params, query }) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  return respondWithList(context, {
    tokenScope: `versions ${application.uid}`,
    query,
    queryRows: (page) => store.listVersions(context.database.read, application.uid, page),
    formatBodies: (rows) => formatVersions(context.database.read, application, rows, caller.role),
    batchSize: PAGE_BATCH_SIZE,
  });
};

export const getVersion: OperationHandler<'getVersion'> = async ({ database }, { caller, params }) => {
  const { application, version } = await findVersion(database.read, caller, params);
  return { status: 200, body: await formatVersion(database.read, application, version, caller.role) };
};

export const updateVersion: OperationHandler<'updateVersion'> = async (
  { database, clock },
  { caller, params, body, commitThen },
) => {
  const { application, version } = await findVersion(database.read, caller, params);
  requireOwnProgram(application, 'change one');
  validateName(body.name, version.id);
  const changes = pickTexts(body);
  return commitThen(
    async (tx) => {
      await store.lockVersion(tx, { applicationUid: application.uid, id: version.id, change: true });
      const current = orThrow(await store.findVersion(tx, application.uid, version.id), () =>
        reportMissing('version', version.id, application),
      );
      requireUnchanged({ noun: `version ${quoteValue(version.id)}`, updatedAt: current.updated_at }, body);
      const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), current) };
      return orThrow(await store.updateVersion(tx, version, dated), () =>
        reportMissing('version', version.id, application),
      );
    },
    async (changed) => ({
      status: 200,
      body: await formatVersion(database.read, application, changed, caller.role),
    }),
  );
};

export const deleteVersion: OperationHandler<'deleteVersion'> = async (
  { database, describeVersionUse },
  { caller, params, commit },
) => {
  const { application, version } = await findVersion(database.read, caller, params);
  requireOwnProgram(application, 'delete one');
  return commit(async (tx) => {
    // Every statement that starts to use the version locks the application too, at least for reading.
    const locked = await lockApplication(tx, application);
    const target = { applicationUid: application.uid, id: version.id, change: true };
    if (!(await store.lockVersion(tx, target))) throw reportMissing('version', version.id, application);
    const use = await describeVersionUse(tx, locked, version.id);
    if (use !== null) throw badRequest(use);
    await store.deleteVersion(tx, version);
    return { status: 204 };
  });
};

/** Returns the version and its application; throws a 404 when either does not exist. */
async function findVersion(
  db: Reader,
  caller: Caller,
  params: { application_id: ApplicationsTable['id']; version_id: VersionId },
): Promise<{ application: ApplicationsTable; version: VersionsTable }> {
  const application = await getApplication(db, caller.account, params.application_id);
  const version = await store.findVersion(db, application.uid, params.version_id);
  if (!version) throw reportMissing('version', params.version_id, application);
  return { application, version };
}

/** Formats versions of one application in the order of the rows; skips a version whose executable is gone. */
async function formatVersions(
  db: Reader,
  application: ApplicationsTable,
  rows: readonly VersionsTable[],
  role: Role,
): Promise<Version[]> {
  const executables = await findExecutables(db, [...new Set(rows.map((row) => row.executable_id))]);
  const byId = new Map<ExecutableId, ExecutablesTable>(executables.map((one) => [one.id, one]));
  return rows.flatMap((row) => {
    const executable = byId.get(row.executable_id);
    if (!executable) return [];
    return [
      {
        id: row.id,
        application_id: application.id,
        name: row.name,
        description: row.description,
        executable: formatExecutable(executable, role),
        created_at: formatRfc3339(row.created_at),
        updated_at: formatRfc3339(row.updated_at),
      },
    ];
  });
}

/** Formats one version; throws a 404 when its executable was removed after the row was read. */
async function formatVersion(
  db: Reader,
  application: ApplicationsTable,
  row: VersionsTable,
  role: Role,
): Promise<Version> {
  const [version] = await formatVersions(db, application, [row], role);
  if (!version) throw notFound(`The version ${quoteValue(row.id)} is gone.`);
  return version;
}
