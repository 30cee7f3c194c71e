/** The operations on applications and on their executables. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ApplicationId, InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { Host } from '@switchyard/runner';
import type { Contents } from '../blobs/contents.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, quoteValue } from '../http/errors/problem.ts';
import type { HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { validateName } from '../http/requests/resource-names.ts';
import { makeId, type Random, randomText } from '../random.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { formatExecutable } from './executable.ts';
import { findExecutable, findExecutables } from './executables-store.ts';
import { pushExecutable } from './push.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';
import {
  getApplication,
  insertApplication,
  listApplications,
  lockApplication,
  lockLiveApplication,
  updateApplication,
} from './store.ts';

/** The requirements of one's executable may have a megabyte. */
const PAGE_BATCH_SIZE = 10;

interface Parts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** null where no apps run. */
  host: Host | null;
  /** Told after an application was deleted, so that what belonged to it is removed soon. */
  onApplicationDeleted(): void;
  /** Whether the application has an instance of that id, as the transaction sees it. */
  hasInstance(applicationUid: string, id: InstanceId, tx: Writer): Promise<boolean>;
}

export function applicationHandlers(
  parts: Parts,
): HandlersFor<
  | 'createApplication'
  | 'listApplications'
  | 'getApplication'
  | 'updateApplication'
  | 'deleteApplication'
  | 'getBinaryUpload'
  | 'activateBinary'
> {
  const { database, pageTokens, clock, random } = parts;
  const executableOf = async (row: ApplicationsTable): Promise<ExecutablesTable | undefined> =>
    row.active_executable_id === null ? undefined : findExecutable(database.read, row.active_executable_id);

  const checkInstance = async (
    tx: Writer,
    uid: string,
    field: string,
    id: string | null | undefined,
  ): Promise<void> => {
    if (id === undefined || id === null || id === '' || isLatest(id)) return;
    if (await parts.hasInstance(uid, id as InstanceId, tx)) return;
    throw badRequest(
      `${field} is ${quoteValue(id)}; it must be an instance of the application, or "latest".`,
    );
  };

  return {
    async createApplication({ caller, body, remember }) {
      for (const field of ['default_instance', 'default_experiment_instance'] as const) {
        // It may be made later: nothing can be an instance of an application that is not there yet.
        if (body[field] === 'default')
          throw badRequest(`${field} is "default", which stands for itself; name an instance, or "latest".`);
      }
      const now = clock.now();
      const row: ApplicationsTable = {
        uid: makeId<string>(random, 'app'),
        account_id: caller.account,
        id: body.id ?? idFromName(body.name, random),
        name: body.name,
        description: body.description ?? '',
        type: body.is_pipeline ? 'pipeline' : 'custom',
        default_instance: body.default_instance ?? '',
        default_experiment_instance: body.default_experiment_instance ?? '',
        active_executable_id: null,
        created_at: now,
        updated_at: now,
        deleted_at: null,
      };
      validateName(row.name, row.id);
      const answer = { status: 201 as const, body: applicationBody(row, undefined, caller.role) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        if (await insertApplication(tx, row)) return;
        throw badRequest(
          `id is ${quoteValue(row.id)}, which another application of the account has; choose another.`,
        );
      });
      return answer;
    },

    async listApplications({ caller, query }) {
      return respondWithList(pageTokens, {
        tokenScope: `applications ${caller.account}`,
        query,
        queryRows: (page) => listApplications(database.read, caller.account, page),
        async formatBodies(rows) {
          const active = rows.flatMap((row) => row.active_executable_id ?? []);
          const executables = await findExecutables(database.read, active);
          const byId = new Map(executables.map((one) => [one.id, one]));
          return rows.map((row) =>
            applicationBody(
              row,
              row.active_executable_id === null ? undefined : byId.get(row.active_executable_id),
              caller.role,
            ),
          );
        },
        batchSize: PAGE_BATCH_SIZE,
      });
    },

    async getApplication({ caller, params }) {
      const row = await getApplication(database.read, caller.account, params.application_id);
      return { status: 200, body: applicationBody(row, await executableOf(row), caller.role) };
    },

    async updateApplication({ caller, params, body }) {
      const row = await getApplication(database.read, caller.account, params.application_id);
      validateName(body.name, row.id);
      const changed = await database.transact(async (tx) => {
        const held = await lockApplication(tx, row);
        for (const field of ['default_instance', 'default_experiment_instance'] as const) {
          // What is sent back unchanged is let through: clients send the whole object.
          if (body[field] !== held[field]) await checkInstance(tx, held.uid, field, body[field]);
        }
        const changes = {
          name: body.name ?? held.name,
          description: body.description ?? held.description,
          default_instance: body.default_instance ?? held.default_instance,
          default_experiment_instance: body.default_experiment_instance ?? held.default_experiment_instance,
          updated_at: clock.now(),
        };
        await updateApplication(tx, held.uid, changes);
        return { ...held, ...changes };
      });
      return { status: 200, body: applicationBody(changed, await executableOf(changed), caller.role) };
    },

    async deleteApplication({ caller, params }) {
      const row = await getApplication(database.read, caller.account, params.application_id);
      await database.transact((tx) => updateApplication(tx, row.uid, { deleted_at: clock.now() }));
      parts.onApplicationDeleted();
      return { status: 204 };
    },

    async getBinaryUpload({ caller, params }) {
      const row = await getApplication(database.read, caller.account, params.application_id);
      const upload = await parts.uploads.create(row.uid, 'executable', caller.key, (tx) =>
        lockLiveApplication(tx, row),
      );
      return { status: 200, body: upload };
    },

    async activateBinary({ caller, params, body }) {
      const row = await getApplication(database.read, caller.account, params.application_id);
      const { executable, warnings } = await pushExecutable(parts, {
        application: row,
        uploadId: body.upload_id ?? null,
        requirements: body.requirements,
        email: caller.email,
      });
      const pushed = formatExecutable(executable, caller.role);
      return { status: 200, body: warnings.length === 0 ? pushed : { ...pushed, warnings } };
    },
  };
}

function applicationBody(
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
    subscription_id: '',
    active_executable: executable ? formatExecutable(executable, role) : null,
    locked: false,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

/** The name in the alphabet of ids with some random characters, so that two applications of one name can be made. */
function idFromName(name: string, random: Random): ApplicationId {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, ID_CHARS_MAX - 10);
  return `${words || 'application'}-${randomText(random, 6)}` as ApplicationId;
}
