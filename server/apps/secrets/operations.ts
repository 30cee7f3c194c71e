/** Operations on secrets collections. */
import type { Secret, SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import {
  badRequest,
  orThrow,
  quoteValue,
  reportMissing,
  reportTaken,
} from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithListObject } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { pickTexts, validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { requireOwnProgram } from '../applications/own-program.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, lockApplication } from '../applications/store.ts';
import { decryptSecrets, encryptSecrets, type SecretsOwner } from './encrypt.ts';
import { applySecretOperations, validateSecrets } from './rules.ts';
import type { SecretsCollectionsTable } from './schema.ts';
import type { CollectionSummary } from './store.ts';
import * as store from './store.ts';

export const createSecretsCollection: OperationHandler<'createSecretsCollection'> = async (
  { database, seal, clock, random },
  { caller, params, body, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  // Files and variables could make the app run other code, which could read its files.
  requireOwnProgram(application, 'give it secrets');
  checkSecrets(body.secrets);
  const id = body.id ?? makeId<SecretsCollectionId>(random, 'secrets');
  validateName(body.name, id);
  const now = clock.now();
  const row: SecretsCollectionsTable = {
    application_uid: application.uid,
    id,
    name: body.name ?? `Secrets ${id}`.slice(0, NAME_CHARS_MAX),
    description: body.description ?? '',
    secrets: encryptSecrets(seal, body.secrets, createOwner(application, id)),
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockApplication(tx, application);
    if (await store.insertCollection(tx, row))
      return { status: 201, body: formatCollectionSummary(application, row) };
    throw reportTaken('secrets collection', id);
  });
};

export const listSecretsCollections: OperationHandler<'listSecretsCollections'> = async (
  context,
  { caller, params, query },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  return respondWithListObject(context, {
    tokenScope: `secrets ${application.uid}`,
    query,
    queryRows: (page) => store.listCollections(context.database.read, application.uid, page),
    formatBodies: (rows) => rows.map((row) => formatCollectionSummary(application, row)),
  });
};

export const getSecretsCollection: OperationHandler<'getSecretsCollection'> = async (
  { database, seal },
  { caller, params, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const row = await store.findCollection(database.read, application.uid, params.collection_id);
  if (!row) throw reportMissing('secrets collection', params.collection_id, application);
  const secrets = decryptSecrets(seal, row.secrets, createOwner(application, row.id));
  // Reading values is audited, so the entry is the effect.
  return commit(async () => ({
    status: 200,
    body: { ...formatCollectionSummary(application, row), secrets },
  }));
};

export const updateSecretsCollection: OperationHandler<'updateSecretsCollection'> = async (
  { database, seal, clock },
  { caller, params, body, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const id = params.collection_id;
  validateName(body.name, id);
  checkSecrets(body.secrets ?? []);
  const changes = {
    ...pickTexts(body),
    ...(body.secrets ? { secrets: encryptSecrets(seal, body.secrets, createOwner(application, id)) } : {}),
  };
  return commit(async (tx) => {
    const current = await lockRow(tx, application, id);
    requireUnchanged({ noun: `secrets collection ${quoteValue(id)}`, updatedAt: current.updated_at }, body);
    const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), current) };
    const changed = orThrow(await store.updateCollection(tx, application.uid, id, dated), () =>
      reportMissing('secrets collection', id, application),
    );
    return { status: 200, body: formatCollectionSummary(application, changed) };
  });
};

export const patchSecretsCollection: OperationHandler<'patchSecretsCollection'> = async (
  { database, seal, clock },
  { caller, params, body, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const id = params.collection_id;
  validateName(body.name, id);
  const owner = createOwner(application, id);
  return commit(async (tx) => {
    const row = await lockRow(tx, application, id);
    requireUnchanged({ noun: `secrets collection ${quoteValue(id)}`, updatedAt: row.updated_at }, body);
    const secrets = applySecretOperations(decryptSecrets(seal, row.secrets, owner), body.operations ?? []);
    if (typeof secrets === 'string') throw badRequest(secrets);
    checkSecrets(secrets);
    const changed = await store.updateCollection(tx, application.uid, id, {
      ...pickTexts(body),
      ...(body.operations ? { secrets: encryptSecrets(seal, secrets, owner) } : {}),
      updated_at: computeUpdateTime(clock.now(), row),
    });
    const after = orThrow(changed, () => reportMissing('secrets collection', id, application));
    return { status: 200, body: formatCollectionSummary(application, after) };
  });
};

export const deleteSecretsCollection: OperationHandler<'deleteSecretsCollection'> = async (
  { database, findInstanceUsingSecrets },
  { caller, params, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const id = params.collection_id;
  return commit(async (tx) => {
    if (!(await store.lockCollection(tx, { applicationUid: application.uid, id, change: true })))
      throw reportMissing('secrets collection', id, application);
    const instance = await findInstanceUsingSecrets(tx, application.uid, id);
    if (instance !== undefined)
      throw badRequest(
        `The secrets collection ${quoteValue(id)} is used by the instance ${quoteValue(instance)}; remove it from the configuration of that instance first.`,
      );
    await store.deleteCollection(tx, application.uid, id);
    return { status: 204 };
  });
};

/** Locks the collection until the transaction ends, and returns it. Throws a 404 when it does not exist. */
async function lockRow(tx: Writer, application: ApplicationsTable, id: SecretsCollectionId) {
  const isLocked = await store.lockCollection(tx, { applicationUid: application.uid, id, change: true });
  return orThrow(isLocked && (await store.findCollection(tx, application.uid, id)), () =>
    reportMissing('secrets collection', id, application),
  );
}

/** Throws a 400 for invalid secrets. */
function checkSecrets(secrets: readonly Secret[]): void {
  const error = validateSecrets(secrets);
  if (error) throw badRequest(error);
}

function createOwner(application: ApplicationsTable, id: SecretsCollectionId): SecretsOwner {
  return { account: application.account_id, applicationUid: application.uid, id };
}

/** Formats the collection without its secrets. */
function formatCollectionSummary(
  application: ApplicationsTable,
  row: CollectionSummary,
): SecretsCollectionSummary {
  return {
    id: row.id,
    application_id: application.id,
    name: row.name,
    description: row.description,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
