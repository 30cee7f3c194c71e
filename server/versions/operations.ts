/** The operations on versions. */
import type { ExecutableId, VersionId } from '@switchyard/contract/ids.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { Version } from '@switchyard/contract/versions.ts';
import { executableBody } from '../applications/executable.ts';
import { findExecutables, holdExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { getApplication, holdApplication } from '../applications/store.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Caller, HandlersOf } from '../http/handler.ts';
import { answerList } from '../http/lists.ts';
import { checkName } from '../http/names.ts';
import type { PageTokens } from '../http/paging.ts';
import { badRequest, notFound, present, shown } from '../http/problem.ts';
import { makeId, type Random } from '../random.ts';
import type { VersionsTable } from './schema.ts';
import {
  deleteVersion,
  findVersion,
  holdVersion,
  insertVersion,
  listVersions,
  updateVersion,
} from './store.ts';

/** The requirements of one may have a megabyte. */
const VERSIONS_AT_ONCE = 10;

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** Why the version of the application, which is locked, cannot be deleted, as a sentence; null when it can. */
  useOf(tx: Writer, application: ApplicationsTable, id: VersionId): Promise<string | null>;
}

export function versionHandlers(
  parts: Parts,
): HandlersOf<'createVersion' | 'listVersions' | 'getVersion' | 'updateVersion' | 'deleteVersion'> {
  const { database, pageTokens, clock, random } = parts;

  const missing = (application: ApplicationsTable, id: VersionId) =>
    notFound(`There is no version ${shown(id)} of application ${shown(application.id)}.`);
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
    if (!made) throw notFound(`The version ${shown(row.id)} is gone.`);
    return made;
  };

  return {
    async createVersion({ caller, params, body: asked, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      if (application.active_executable_id === null) {
        throw badRequest(`The application ${shown(application.id)} has no executable yet; push one first.`);
      }
      const now = clock.now();
      const id = asked.id ?? makeId<VersionId>(random, 'version');
      checkName(asked.name, id);
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
        await holdApplication(tx, application);
        if (!(await holdExecutable(tx, row.executable_id)))
          throw badRequest(
            `The executable ${shown(row.executable_id)} was replaced and removed meanwhile; send the request again.`,
          );
        if (await insertVersion(tx, row)) return;
        throw badRequest(`id is ${shown(id)}, which another version of the application has; choose another.`);
      });
      return answer;
    },

    async listVersions({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      return answerList(pageTokens, {
        list: `versions ${application.uid}`,
        query,
        rows: (page) => listVersions(database.read, application.uid, page),
        bodies: (rows) => bodies(application, rows, caller.role),
        atOnce: VERSIONS_AT_ONCE,
      });
    },

    async getVersion({ caller, params }) {
      const { application, version } = await find(caller, params);
      return { status: 200, body: await body(application, version, caller.role) };
    },

    async updateVersion({ caller, params, body: asked }) {
      const { application, version } = await find(caller, params);
      checkName(asked.name, version.id);
      const changes = {
        ...(typeof asked.name === 'string' ? { name: asked.name } : {}),
        ...(typeof asked.description === 'string' ? { description: asked.description } : {}),
        updated_at: clock.now(),
      };
      const changed = await database.transact(async (tx) =>
        present(await updateVersion(tx, version, changes), () => missing(application, version.id)),
      );
      return { status: 200, body: await body(application, changed, caller.role) };
    },

    async deleteVersion({ caller, params }) {
      const { application, version } = await find(caller, params);
      await database.transact(async (tx) => {
        // Whatever makes a run or begins to use the version locks the application, too, if only to read it.
        const held = await holdApplication(tx, application);
        const wanted = { applicationUid: application.uid, id: version.id, change: true };
        if (!(await holdVersion(tx, wanted))) throw missing(application, version.id);
        const use = await parts.useOf(tx, held, version.id);
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
    executable: executableBody(executable, role),
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
  };
}
