/** The operations on versions. */

import type { Version } from '@switchyard/contract/applications/versions.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ExecutableId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { formatExecutable } from '../applications/executable.ts';
import { findExecutables, lockExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { getApplication, lockApplication } from '../applications/store.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../http/errors/problem.ts';
import type { Caller, HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { validateName } from '../http/requests/resource-names.ts';
import { makeId, type Random } from '../random.ts';
import type { VersionsTable } from './schema.ts';
import {
  deleteVersion,
  findVersion,
  insertVersion,
  listVersions,
  lockVersion,
  updateVersion,
} from './store.ts';

/** The requirements of one may have a megabyte. */
const PAGE_BATCH_SIZE = 10;

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** Why the version of the application, which is locked, cannot be deleted, as a sentence; null when it can. */
  describeUse(tx: Writer, application: ApplicationsTable, id: VersionId): Promise<string | null>;
}

export function versionHandlers(
  parts: Parts,
): HandlersFor<'createVersion' | 'listVersions' | 'getVersion' | 'updateVersion' | 'deleteVersion'> {
  const { database, pageTokens, clock, random } = parts;

  const missing = (application: ApplicationsTable, id: VersionId) =>
    notFound(`There is no version ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  const find = async (
    caller: Caller,
    params: { application_id: ApplicationsTable['id']; version_id: VersionId },
  ) => {
    const application = await getApplication(database.read, caller.account, params.application_id);
    const version = await findVersion(database.read, application.uid, params.version_id);
    if (!version) throw missing(application, params.version_id);
    return { application, version };
  };
  const bodies = async (
    application: ApplicationsTable,
    rows: VersionsTable[],
    role: Role,
  ): Promise<Version[]> => {
    const executables = await findExecutables(database.read, [
      ...new Set(rows.map((row) => row.executable_id)),
    ]);
    const byId = new Map<ExecutableId, ExecutablesTable>(executables.map((one) => [one.id, one]));
    return rows.flatMap((row) => {
      const executable = byId.get(row.executable_id);
      return executable ? [versionBody(application, row, executable, role)] : [];
    });
  };
  const body = async (application: ApplicationsTable, row: VersionsTable, role: Role): Promise<Version> => {
    const [made] = await bodies(application, [row], role);
    if (!made) throw notFound(`The version ${quoteValue(row.id)} is gone.`);
    return made;
  };

  return {
    async createVersion({ caller, params, body: asked, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      if (application.active_executable_id === null) {
        throw badRequest(
          `The application ${quoteValue(application.id)} has no executable yet; push one first.`,
        );
      }
      const now = clock.now();
      const id = asked.id ?? makeId<VersionId>(random, 'version');
      validateName(asked.name, id);
      const row: VersionsTable = {
        application_uid: application.uid,
        id,
        name: asked.name ?? `Version ${id}`.slice(0, NAME_CHARS_MAX),
        description: asked.description ?? '',
        executable_id: application.active_executable_id,
        created_at: now,
        updated_at: now,
      };
      const answer = { status: 201 as const, body: await body(application, row, caller.role) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockApplication(tx, application);
        if (!(await lockExecutable(tx, row.executable_id)))
          throw badRequest(
            `The executable ${quoteValue(row.executable_id)} was replaced and removed meanwhile; send the request again.`,
          );
        if (await insertVersion(tx, row)) return;
        throw badRequest(
          `id is ${quoteValue(id)}, which another version of the application has; choose another.`,
        );
      });
      return answer;
    },

    async listVersions({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      return respondWithList(pageTokens, {
        tokenScope: `versions ${application.uid}`,
        query,
        queryRows: (page) => listVersions(database.read, application.uid, page),
        formatBodies: (rows) => bodies(application, rows, caller.role),
        batchSize: PAGE_BATCH_SIZE,
      });
    },

    async getVersion({ caller, params }) {
      const { application, version } = await find(caller, params);
      return { status: 200, body: await body(application, version, caller.role) };
    },

    async updateVersion({ caller, params, body: asked }) {
      const { application, version } = await find(caller, params);
      validateName(asked.name, version.id);
      const changes = {
        ...(typeof asked.name === 'string' ? { name: asked.name } : {}),
        ...(typeof asked.description === 'string' ? { description: asked.description } : {}),
        updated_at: clock.now(),
      };
      const changed = await database.transact(async (tx) =>
        orThrow(await updateVersion(tx, version, changes), () => missing(application, version.id)),
      );
      return { status: 200, body: await body(application, changed, caller.role) };
    },

    async deleteVersion({ caller, params }) {
      const { application, version } = await find(caller, params);
      await database.transact(async (tx) => {
        // Whatever makes a run or begins to use the version locks the application, too, if only to read it.
        const held = await lockApplication(tx, application);
        const wanted = { applicationUid: application.uid, id: version.id, change: true };
        if (!(await lockVersion(tx, wanted))) throw missing(application, version.id);
        const use = await parts.describeUse(tx, held, version.id);
        if (use !== null) throw badRequest(use);
        await deleteVersion(tx, version);
      });
      return { status: 204 };
    },
  };
}

function versionBody(
  application: ApplicationsTable,
  row: VersionsTable,
  executable: ExecutablesTable,
  role: Role,
): Version {
  return {
    id: row.id,
    application_id: application.id,
    name: row.name,
    description: row.description,
    executable: formatExecutable(executable, role),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
