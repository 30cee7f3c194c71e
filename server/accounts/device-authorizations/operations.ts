/** Operations on sign-ins from other devices (RFC 8628): start, status and redemption by the program; the decision by a person. */
import {
  DEVICE_CODE_HEADER,
  type DeviceAuthorization,
} from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import {
  DEVICE_AUTHORIZATION_SECONDS,
  DEVICE_AUTHORIZATIONS_MAX,
  DEVICE_POLL_SECONDS,
  NETWORK_DEVICE_AUTHORIZATIONS_MAX,
} from '@switchyard/contract/limits.ts';
import { canGrant } from '@switchyard/contract/roles.ts';
import type { DeviceAuthorizationId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import {
  badRequest,
  forbidden,
  notFound,
  orThrow,
  quoteValue,
  tooManyRequests,
} from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationCall, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { addressBucketKey } from '../../platform/http/limits/rate-limit.ts';
import { makeId } from '../../platform/random.ts';
import { lockCallerAccount, requireKeyOwner } from '../account/access-changes.ts';
import { formatKey } from '../account/response-bodies.ts';
import type { KeysTable } from '../account/schema.ts';
import { findKey, insertKey, lockAccount } from '../account/store.ts';
import { createSecret, hashSecret } from '../sessions/sessions.ts';
import type { DeviceAuthorizationsTable } from './schema.ts';
import * as store from './store.ts';

export const startDeviceAuthorization: OperationHandler<'startDeviceAuthorization'> = async (
  { clock, random, deviceCodes, publicUrl },
  { body, address, commit },
) => {
  const [deviceCode, userCode, now] = [createSecret(random), deviceCodes.createUserCode(), clock.now()];
  const row: DeviceAuthorizationsTable = {
    id: makeId<DeviceAuthorizationId>(random, 'device'),
    device_code_hash: hashSecret(deviceCode),
    user_code_hash: deviceCodes.hashUserCode(userCode),
    client_name: body.client_name,
    ...{ address, network: addressBucketKey(address) },
    ...{ status: 'pending', account_id: null, key_id: null, role: null },
    created_at: now,
    expires_at: now + DEVICE_AUTHORIZATION_SECONDS * 1000,
  };
  const page = `${publicUrl()}/console/device`;
  return commit(async (tx) => {
    await freePlace(tx, row);
    await store.insertAuthorization(tx, row);
    return {
      status: 201,
      body: {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?${new URLSearchParams({ user_code: userCode }).toString()}`,
        expires_in: DEVICE_AUTHORIZATION_SECONDS,
        interval: DEVICE_POLL_SECONDS,
      },
    };
  });
};

export const getDeviceAuthorizationStatus: OperationHandler<'getDeviceAuthorizationStatus'> = async (
  { database, clock },
  { headers },
) => {
  const code = headers[DEVICE_CODE_HEADER];
  if (typeof code !== 'string' || code === '')
    throw badRequest(`The header ${DEVICE_CODE_HEADER} is absent; it must have the device code.`);
  const hash = hashSecret(code);
  const row = await store.findByCode(database.read, 'device_code_hash', { hash, now: clock.now() });
  if (!row) throw notFound(UNKNOWN_DEVICE_CODE);
  return { status: 200, body: { status: row.status } };
};

export const redeemDeviceAuthorization: OperationHandler<'redeemDeviceAuthorization'> = async (
  { clock, random, tokens },
  { body, commit, setOwner },
) => {
  const keyId = makeId<KeyId>(random, 'key');
  return commit(async (tx) => {
    const now = clock.now();
    const row = await store.consume(tx, hashSecret(body.device_code), now);
    if (!row) throw notFound(UNKNOWN_DEVICE_CODE);
    if (row.status === 'pending')
      throw badRequest('Nobody has approved the code yet; read its status first.');
    const key = await buildApprovedKey(tx, row, { id: keyId, now });
    setOwner({
      account: key.account_id,
      resource: { device_authorization_id: row.id, key_id: key.id },
    });
    await insertKey(tx, key);
    const token = await tokens.sign({ key: key.id, account: key.account_id, role: key.role });
    return { status: 201, body: { ...formatKey(key), token } };
  });
};

export const getDeviceAuthorization: OperationHandler<'getDeviceAuthorization'> = async (
  { database, clock, deviceCodes },
  { caller, query },
) => {
  const hash = deviceCodes.hashUserCode(query.user_code);
  const row = await store.findByCode(database.read, 'user_code_hash', { hash, now: clock.now() });
  // A decided request belongs to the account of the person who decided.
  const isVisible = row && (row.account_id === null || row.account_id === caller.account);
  if (!isVisible) throw unknownUserCode(query.user_code);
  return { status: 200, body: formatAuthorization(row) };
};

export const approveDeviceAuthorization: OperationHandler<'approveDeviceAuthorization'> = async (
  context,
  call,
) => {
  const { caller, body, commit } = call;
  const role = body.role ?? caller.role;
  if (!canGrant(caller.role, role))
    throw forbidden(
      `role is ${quoteValue(role)}, which has rights that your role ${caller.role} does not have.`,
    );
  return commit(async (tx) => {
    const { key } = await lockCallerAccount(tx, caller);
    await requireKeyOwner(tx, { ...key, role });
    return { status: 200, body: await storeDecision(tx, context, call, { status: 'approved', role }) };
  });
};

export const denyDeviceAuthorization: OperationHandler<'denyDeviceAuthorization'> = async (context, call) =>
  call.commit(async (tx) => ({
    status: 200,
    body: await storeDecision(tx, context, call, { status: 'denied', role: null }),
  }));

/** Stores the decision of the caller. Throws a 404 for a code that is unknown, expired or already decided. */
async function storeDecision(
  tx: Writer,
  { clock, deviceCodes }: Pick<Context, 'clock' | 'deviceCodes'>,
  { caller, body, setOwner }: Pick<OperationCall<'denyDeviceAuthorization'>, 'caller' | 'body' | 'setOwner'>,
  decision: Pick<DeviceAuthorizationsTable, 'status' | 'role'>,
): Promise<DeviceAuthorization> {
  const code = { hash: deviceCodes.hashUserCode(body.user_code), now: clock.now() };
  const { account, key } = caller;
  const row = await store.decide(tx, code, { ...decision, account_id: account, key_id: key });
  if (!row) throw unknownUserCode(body.user_code);
  setOwner({ account, resource: { device_authorization_id: row.id } });
  return formatAuthorization(row);
}

const UNKNOWN_DEVICE_CODE = 'The device code is unknown, expired or already redeemed; start again.';

function unknownUserCode(code: string) {
  return notFound(
    `No program waits with the code ${quoteValue(code)}: it is unknown, expired or already decided. Compare it with the one that the program shows, or start the program again.`,
  );
}

/**
 * When too many are open, deletes the oldest undecided request of the network, or of the network with most requests. A refusal
 * would let one address keep out everybody behind its proxy. Throws a 429 when none is
 * undecided. Requests of the same moment may exceed the bound by their number.
 */
async function freePlace(tx: Writer, { network, created_at: now }: DeviceAuthorizationsTable): Promise<void> {
  const open = await store.countOpen(tx, network, now);
  const isNetworkFull = open.fromNetwork >= NETWORK_DEVICE_AUTHORIZATIONS_MAX;
  if (!isNetworkFull && open.all < DEVICE_AUTHORIZATIONS_MAX) return;
  const crowded = isNetworkFull ? network : await store.findLargestNetwork(tx, now);
  if (crowded !== undefined && (await store.deleteOldestPending(tx, crowded, now))) return;
  throw tooManyRequests('Too many sign-ins from other devices are open; try again in a quarter of an hour.');
}

/**
 * Returns the row of the key that was approved. The key of the person who approved must still exist: otherwise a revoked key
 * could live on. Throws a 403 when it does not, and for a denied request.
 */
async function buildApprovedKey(
  tx: Writer,
  { status, account_id, key_id, role, client_name }: DeviceAuthorizationsTable,
  { id, now }: { id: KeyId; now: number },
): Promise<KeysTable> {
  if (status === 'denied' || account_id === null || key_id === null || role === null)
    throw forbidden('The sign-in was denied in the console.');
  const account = await lockAccount(tx, account_id);
  const parent = orThrow(account && (await findKey(tx, key_id)), () =>
    forbidden('The key of the person who approved was revoked meanwhile; start again.'),
  );
  const { email, owner } = parent;
  const key: KeysTable = {
    ...{ id, account_id, name: client_name, role, email, owner },
    ...{ created_by: key_id, created_by_email: email, descends_from: key_id, invite: null },
    ...{ created_at: now, last_used_at: null },
  };
  if (!canGrant(parent.role, role))
    throw forbidden('The role of the person who approved was lowered meanwhile; start again.');
  await requireKeyOwner(tx, key);
  return key;
}

function formatAuthorization(row: DeviceAuthorizationsTable): DeviceAuthorization {
  return {
    id: row.id,
    client_name: row.client_name,
    address: row.address,
    status: row.status,
    role: row.role,
    created_at: formatRfc3339(row.created_at),
    expires_at: formatRfc3339(row.expires_at),
  };
}
