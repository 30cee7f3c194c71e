/** The operations on secrets collections. */

import type { Secret, SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationId, SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, lockApplication } from '../applications/store.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Encryptor } from '../database/encryption.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../http/errors/problem.ts';
import type { HandlersFor } from '../http/handlers/handler.ts';
import { respondWithListObject } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { validateName } from '../http/requests/resource-names.ts';
import { makeId, type Random } from '../random.ts';
import { openSecrets, type SecretsOwner, sealSecrets } from './encrypt.ts';
import { applySecretOperations, validateSecrets } from './rules.ts';
import type { SecretsCollectionsTable } from './schema.ts';
import {
  type CollectionSummary,
  deleteCollection,
  findCollection,
  insertCollection,
  listCollections,
  lockCollection,
  updateCollection,
} from './store.ts';

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  seal: Encryptor;
  clock: Clock;
  random: Random;
  /** The id of an instance that names the collection, for the sentence that refuses to delete it. */
  findInstanceUsing(tx: Writer, applicationUid: string, id: SecretsCollectionId): Promise<string | undefined>;
}

type SecretsOperation =
  | 'createSecretsCollection'
  | 'listSecretsCollections'
  | 'getSecretsCollection'
  | 'updateSecretsCollection'
  | 'patchSecretsCollection'
  | 'deleteSecretsCollection';

export function secretsHandlers(parts: Parts): HandlersFor<SecretsOperation> {
  const { database, pageTokens, seal, clock, random } = parts;

  const getOwn = (caller: { account: ApplicationsTable['account_id'] }, id: ApplicationId) =>
    getApplication(database.read, caller.account, id);
  const missing = (application: ApplicationsTable, id: SecretsCollectionId) =>
    notFound(
      `There is no secrets collection ${quoteValue(id)} of application ${quoteValue(application.id)}.`,
    );

  return {
    async createSecretsCollection({ caller, params, body, remember }) {
      const application = await getOwn(caller, params.application_id);
      checkSecrets(body.secrets);
      const id = body.id ?? makeId<SecretsCollectionId>(random, 'secrets');
      validateName(body.name, id);
      const now = clock.now();
      const row: SecretsCollectionsTable = {
        application_uid: application.uid,
        id,
        name: body.name ?? `Secrets ${id}`.slice(0, NAME_CHARS_MAX),
        description: body.description ?? '',
        secrets: sealSecrets(seal, body.secrets, placeOf(application, id)),
        created_at: now,
        updated_at: now,
      };
      const answer = { status: 201 as const, body: summaryOf(application, row) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockApplication(tx, application);
        if (await insertCollection(tx, row)) return;
        throw badRequest(
          `id is ${quoteValue(id)}, which another secrets collection of the application has; choose another.`,
        );
      });
      return answer;
    },

    async listSecretsCollections({ caller, params, query }) {
      const application = await getOwn(caller, params.application_id);
      return respondWithListObject(pageTokens, {
        tokenScope: `secrets ${application.uid}`,
        query,
        queryRows: (page) => listCollections(database.read, application.uid, page),
        formatBodies: (rows) => rows.map((row) => summaryOf(application, row)),
      });
    },

    async getSecretsCollection({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const row = await findCollection(database.read, application.uid, params.collection_id);
      if (!row) throw missing(application, params.collection_id);
      const secrets = openSecrets(seal, row.secrets, placeOf(application, row.id));
      return { status: 200, body: { ...summaryOf(application, row), secrets } };
    },

    async updateSecretsCollection({ caller, params, body }) {
      const application = await getOwn(caller, params.application_id);
      const id = params.collection_id;
      validateName(body.name, id);
      checkSecrets(body.secrets ?? []);
      const changes = {
        ...(typeof body.name === 'string' ? { name: body.name } : {}),
        ...(typeof body.description === 'string' ? { description: body.description } : {}),
        ...(body.secrets ? { secrets: sealSecrets(seal, body.secrets, placeOf(application, id)) } : {}),
        updated_at: clock.now(),
      };
      const changed = await database.transact(async (tx) =>
        orThrow(await updateCollection(tx, application.uid, id, changes), () => missing(application, id)),
      );
      return { status: 200, body: summaryOf(application, changed) };
    },

    async patchSecretsCollection({ caller, params, body }) {
      const application = await getOwn(caller, params.application_id);
      const id = params.collection_id;
      validateName(body.name, id);
      const place = placeOf(application, id);
      const changed = await database.transact(async (tx) => {
        const wanted = { applicationUid: application.uid, id, change: true };
        const held = await lockCollection(tx, wanted);
        const row = held ? await findCollection(tx, application.uid, id) : undefined;
        if (!row) throw missing(application, id);
        const secrets = applySecretOperations(openSecrets(seal, row.secrets, place), body.operations ?? []);
        if (typeof secrets === 'string') throw badRequest(secrets);
        checkSecrets(secrets);
        const after = await updateCollection(tx, application.uid, id, {
          ...(typeof body.name === 'string' ? { name: body.name } : {}),
          ...(typeof body.description === 'string' ? { description: body.description } : {}),
          ...(body.operations ? { secrets: sealSecrets(seal, secrets, place) } : {}),
          updated_at: clock.now(),
        });
        return orThrow(after, () => missing(application, id));
      });
      return { status: 200, body: summaryOf(application, changed) };
    },

    async deleteSecretsCollection({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const id = params.collection_id;
      await database.transact(async (tx) => {
        const wanted = { applicationUid: application.uid, id, change: true };
        if (!(await lockCollection(tx, wanted))) throw missing(application, id);
        const user = await parts.findInstanceUsing(tx, application.uid, id);
        if (user !== undefined) {
          throw badRequest(
            `The secrets collection ${quoteValue(id)} is used by the instance ${quoteValue(user)}; take it out of that one's configuration first.`,
          );
        }
        await deleteCollection(tx, application.uid, id);
      });
      return { status: 204 };
    },
  };
}

function checkSecrets(secrets: readonly Secret[]): void {
  const error = validateSecrets(secrets);
  if (error) throw badRequest(error);
}

function placeOf(application: ApplicationsTable, id: SecretsCollectionId): SecretsOwner {
  return { account: application.account_id, applicationUid: application.uid, id };
}

function summaryOf(application: ApplicationsTable, row: CollectionSummary): SecretsCollectionSummary {
  return {
    id: row.id,
    application_id: application.id,
    name: row.name,
    description: row.description,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
