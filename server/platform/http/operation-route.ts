/**
 * The route of one operation. A request passes these steps in this order: token, role, rate limit, body, validation,
 * handler, response.
 */
import { Readable } from 'node:stream';
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { bodyBytesMax, type Operation, readsJson } from '@switchyard/contract/operation.ts';
import { hasRight, rolesWithRight } from '@switchyard/contract/roles.ts';
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseTraceContext } from '../tracing/trace-context.ts';
import {
  badRequest,
  ChangedError,
  forbidden,
  notFound,
  Problem,
  quoteValue,
  unauthorized,
} from './errors/problem.ts';
import { type AuditedAction, type AuditLog, isAudited } from './handlers/audited-actions.ts';
import { type AnyResponse, OperationEffect, type OperationEffectParts } from './handlers/commit.ts';
import { createFixedFieldsCheck, type FixedFieldsCheck } from './handlers/fixed-fields.ts';
import {
  type AnyCall,
  type BoundHandler,
  type Caller,
  type ContentResponse,
  type Credential,
  formatCaller,
  formatMemberKey,
  type Handlers,
  type JsonResponse,
  type Owner,
  type RawResponse,
} from './handlers/handler.ts';
import type { Idempotency } from './handlers/idempotency.ts';
import { findPublicRefusal, findRunScopeRefusal } from './handlers/run-scope.ts';
import type { Budgets } from './limits/budget.ts';
import type { Connections } from './limits/connections.ts';
import { getHttp2Stream } from './limits/http2-stream.ts';
import { addressBucketKey, computeBodyCost, type HttpRateLimiter } from './limits/rate-limit.ts';
import {
  identifyMemoryHolder,
  releaseMemory,
  reserveBodyMemory,
  reserveHandlerMemory,
  reserveUploadMemory,
  throwIfDisconnected,
  waitWithLittleMemory,
} from './limits/request-memory.ts';
import type { RequestEndpoint } from './requests/request-endpoint.ts';
import { isFromOwnPage, readSessionCookie } from './requests/session-cookie.ts';
import { createRequestValidator } from './requests/validation.ts';
import { type Recipient, sendContent, sendJson, sendRawBody } from './send-response.ts';

/** The services that all routes share. */
interface RouteParts {
  /** Returns the caller that a credential identifies; null for an unknown, expired or revoked one. */
  authenticate(credential: Credential): Promise<Caller | null>;
  /** The address of the server without a trailing slash. */
  publicUrl(): string;
  limiters: Record<'members' | 'visitors' | 'workers', HttpRateLimiter> | null;
  budgets: Budgets;
  connections: Connections;
  /** null on a server whose operations need no token. */
  idempotency: Idempotency | null;
  auditLog: AuditLog;
  /** The address of the caller of each request; absent on a server without run tokens. */
  endpoint?: RequestEndpoint;
}

/** How an operation is served. */
interface OperationParts extends RouteParts {
  handler: BoundHandler;
  handlers: Handlers;
}

interface OperationRoute extends OperationParts {
  checkFixedFields: FixedFieldsCheck | undefined;
  operation: Operation;
  validator: ReturnType<typeof createRequestValidator>;
}

type OperationRequest = FastifyRequest<{
  Params: Record<string, string>;
  Querystring: Record<string, unknown>;
}>;

const NO_BYTES = Buffer.alloc(0);

/** Registers the route of an operation: its path, its checks and its handler. */
export function registerOperation(app: FastifyInstance, operation: Operation, parts: OperationParts): void {
  const route: OperationRoute = {
    ...parts,
    operation,
    checkFixedFields: createFixedFieldsCheck(operation, parts.handlers),
    validator: createRequestValidator(operation),
  };
  const isStream = operation.body?.stream === true;
  app.route<{ Params: Record<string, string>; Querystring: Record<string, unknown> }>({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      operation: operation.id,
      readsJson: readsJson(operation),
      ...(operation.body?.rawField ? { rawField: operation.body.rawField } : {}),
    },
    // The handler of an upload counts its bytes and names the limit in its message.
    bodyLimit: bodyBytesMax(operation) + (isStream ? 1 : 0),
    async onRequest(request, reply) {
      if (isStream) {
        rejectOversizedUpload(request);
        // An upload is raw bytes whatever its content type; Fastify would refuse a malformed one.
        request.raw.headers['content-type'] = 'application/octet-stream';
      }
      await authorize(route, request, reply);
    },
    async preParsing(request, _reply, payload) {
      if (!isStream) await reserveBodyMemory(request, bodyBytesMax(operation), parts.budgets);
      return payload;
    },
    async handler(request, reply) {
      const to: Recipient = {
        request,
        reply,
        holder: identifyMemoryHolder(request),
        budget: parts.budgets.responses,
      };
      request.isHandled = true;
      const work = () =>
        respond(route, request).catch((error: unknown) => {
          if (operation.countsFailures && !request.caller) limitVisitor(route, request, reply);
          throw error;
        });
      const own = request.caller?.run?.endpoint;
      const response = await (parts.endpoint ? parts.endpoint.run(own, work) : work()).finally(() =>
        releaseMemory(request),
      );
      if (!('content' in response))
        return 'raw' in response ? sendRawBody(to, response) : sendJson(to, response);
      // Only callers with access to the content get its name.
      parts.connections.trust(request.raw.socket);
      return sendContent(to, response);
    },
  });
}

/** Sets the caller of the request. Throws a 401 without a valid token, a 403 without the right, and a 429. */
async function authorize(
  route: OperationRoute,
  request: OperationRequest,
  reply: FastifyReply,
): Promise<void> {
  const { operation, limiters, budgets } = route;
  if (operation.right === 'public' && !(operation.optionalToken && request.headers.authorization)) {
    const isFromRun = request.headers[RUN_PROOF_HEADER] !== undefined;
    const publicRefusal = isFromRun ? findPublicRefusal(operation) : null;
    if (publicRefusal !== null) throw forbidden(publicRefusal);
    if (!operation.countsFailures) limitVisitor(route, request, reply);
    return;
  }
  const credential = readCredential(request, route.publicUrl());
  const caller = await route.authenticate(credential);
  if (!caller) throw unauthorized(UNKNOWN_CREDENTIAL[credential.kind]);
  request.caller = caller;
  throwIfDisconnected(request);
  route.connections.trust(request.raw.socket);
  const reservation = budgets.requests.reserveNow(formatCaller(caller), 1);
  reply.raw.once('close', () => reservation.release());
  const workerRefusal = findWorkerRefusal(operation, caller);
  const limit = (cost: number): void => {
    if (caller.worker && workerRefusal === null)
      limiters?.workers.enforce(caller.worker.tokenId, reply, cost);
    else limiters?.members.enforce(formatCaller(caller), reply, cost);
  };
  limit(1);
  request.chargeBody = (bytes) => {
    const cost = computeBodyCost(bytes, caller.worker ? 'worker' : 'member');
    if (cost > 0) limit(cost);
  };
  if (workerRefusal !== null) throw forbidden(workerRefusal);
  if (caller.worker) return;
  if (!hasRight(caller.role, operation.right)) {
    if (isAudited(operation)) await route.auditLog.auditRefusal(describeAction(route, request));
    throw forbidden(
      `The role ${caller.role} may not do this; it needs one of ${rolesWithRight(operation.right).join(', ')}.`,
    );
  }
  const refusal = caller.run ? findRunScopeRefusal(operation, request.params, caller.run) : null;
  if (refusal === null) return;
  if (isAudited(operation)) await route.auditLog.auditRefusal(describeAction(route, request));
  throw forbidden(refusal);
}

/** Counts a request without a token that creates something; each operation has its own limit for an address. */
function limitVisitor(
  { operation, limiters }: OperationRoute,
  request: OperationRequest,
  reply: FastifyReply,
): void {
  if (operation.method !== 'POST') return;
  limiters?.visitors.enforce(`${operation.id} ${addressBucketKey(request.address)}`, reply);
}

/** Returns the sentence that refuses an operation of workers to any other caller, and any other operation to a worker; else null. */
function findWorkerRefusal({ id, right }: Operation, { worker, role }: Caller): string | null {
  if ((right === 'work') === (worker !== undefined)) return null;
  return worker
    ? `A worker token cannot call ${id}: it claims and executes runs alone. Use a key.`
    : `Only a remote worker calls ${id}, with a worker token; the role ${role} cannot. Create a token with POST /v1/account/worker-tokens.`;
}

/** Runs the handler; with an Idempotency-Key it runs once, and a repeated request gets the stored response. */
async function respond(
  route: OperationRoute,
  request: OperationRequest,
): Promise<JsonResponse | RawResponse | ContentResponse> {
  const { operation, handler, idempotency } = route;
  const call = readCall(route, request);
  await reserveHandlerMemory(request, operation, route.budgets);
  await route.checkFixedFields?.(call);
  if (!isAudited(operation)) return handler(call);
  const key = request.headers['idempotency-key'];
  if (key === undefined || operation.method !== 'POST' || !request.caller || !idempotency)
    return handleWithCommit(route, request, call, async () => {});
  const identity = {
    account: request.caller.account,
    caller: operation.returnsToken ? request.caller.key : null,
    run: formatIdempotencyScope(operation, request.caller),
    key: String(key),
    operation: operation.id,
    path: request.url,
    body: call.rawBody,
  };
  return idempotency.runOnce(identity, (storeResponse) =>
    handleWithCommit(route, request, call, storeResponse),
  );
}

/**
 * Returns the run to which the Idempotency-Key of its app belongs. An attempt creates its runs again, so that it gets those
 * of the attempt before as its own, and releases its slot while it waits for them.
 */
function formatIdempotencyScope({ id }: Operation, { run }: Caller): string | null {
  if (!run) return null;
  return id === 'createRun' ? `${run.id}.${run.fence}` : run.id;
}

/** Returns the validated request. Throws a 400 for an invalid query or body, and a 404 for an impossible id. */
function readCall({ operation, validator, budgets }: OperationRoute, request: OperationRequest): AnyCall {
  validator.validateQuery(request.query);
  rejectNulBytes(request.params);
  validator.validateParams(request.params);
  // Fastify passes null for an absent body, and JSON null is a body.
  const body = request.rawBody?.length ? request.body : undefined;
  validator.validateBody(body);
  return {
    params: request.params,
    query: request.query,
    body,
    get caller() {
      if (!request.caller) throw new Error(`${operation.id} has no caller`);
      return request.caller;
    },
    optionalCaller: request.caller,
    headers: request.headers,
    get trace() {
      const { headers } = request;
      return request.span?.context ?? parseTraceContext(headers.traceparent, headers.tracestate);
    },
    address: request.address,
    rawBody: request.rawBody ?? NO_BYTES,
    get stream() {
      return operation.body?.stream && request.body instanceof Readable ? request.body : Readable.from([]);
    },
    onDisconnect(callback) {
      // The connection of an HTTP/2 stream stays open.
      const closing = getHttp2Stream(request.raw) ?? request.raw.socket;
      closing.once('close', callback);
      return () => closing.off('close', callback);
    },
    wait: (work) => waitWithLittleMemory(request, operation, budgets, work),
    reserveStreamMemory: (member) => reserveUploadMemory(request, formatMemberKey(member), budgets),
  };
}

/** Runs the handler of an audited operation. A 403 that it throws leaves an audit entry too. */
async function handleWithCommit(
  route: OperationRoute,
  request: OperationRequest,
  call: AnyCall,
  storeResponse: OperationEffectParts['storeResponse'],
): Promise<JsonResponse> {
  const { auditLog, connections, operation } = route;
  const action = describeAction(route, request);
  const effect = new OperationEffect<AnyResponse>({ action, auditLog, storeResponse });
  const callWithCommit = Object.assign(call, {
    commit: effect.commit.bind(effect),
    commitThen: effect.commitThen.bind(effect),
    noEffect: effect.noEffect.bind(effect),
    setOwner(owner: Owner) {
      connections.trust(request.raw.socket);
      effect.setOwner(owner);
    },
  });
  try {
    const response = await route.handler(callWithCommit);
    if ('content' in response || 'raw' in response)
      throw new Error(`${operation.id} is audited and responds with content; return a committed response.`);
    return response;
  } catch (error) {
    if (error instanceof Problem && error.status === 403) await auditLog.auditRefusal(action);
    if (error instanceof ChangedError && error.changedAt !== null) {
      const person = await auditLog.findChanger(action, error.changedAt);
      if (person !== null) throw error.namePerson(person);
    }
    throw error;
  }
}

function describeAction({ operation }: OperationRoute, request: OperationRequest): AuditedAction {
  return {
    operation,
    caller: request.caller,
    params: request.params,
    requestId: request.id,
    address: request.address,
  };
}

/** Trusts the Content-Length of the caller, so that no byte of an oversized body reaches the store. */
function rejectOversizedUpload(request: FastifyRequest): void {
  const bytes = Number(request.headers['content-length'] ?? 0);
  if (bytes > UPLOAD_BYTES_MAX)
    throw badRequest(`The upload has ${bytes} bytes; it may have at most ${UPLOAD_BYTES_MAX}.`);
}

/** No id contains a NUL byte, and PostgreSQL refuses a query with one. */
function rejectNulBytes(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0')) throw notFound(`${name} is ${quoteValue(value)}, which names nothing.`);
  }
}

const UNKNOWN_CREDENTIAL: Readonly<Record<Credential['kind'], string>> = {
  token: 'The bearer token is not known here; it may be malformed, expired or revoked.',
  session: 'The session has ended, so nothing was done. Sign in, then try again.',
};

/**
 * Returns the bearer token of a request, or the session cookie of one that a page of this server sent. Throws a 401
 * without either, and a 403 for a cookie that a page of another site made the browser send.
 */
function readCredential(request: FastifyRequest, publicUrl: string): Credential {
  const { headers, method } = request;
  if (headers.authorization !== undefined) {
    const token = parseBearerToken(headers.authorization);
    const account = headers['nextmv-account'];
    const runProof = headers[RUN_PROOF_HEADER];
    return {
      ...{ kind: 'token', token },
      ...(account === undefined ? {} : { account: String(account) }),
      ...(runProof === undefined ? {} : { runProof: String(runProof) }),
    };
  }
  if (headers[RUN_PROOF_HEADER] !== undefined)
    throw unauthorized('The app of a run sends its run token, "Bearer " and the value of NEXTMV_API_KEY.');
  const secret = readSessionCookie(publicUrl, headers);
  // Without the header of the console, the cookie came along with a link or a form, and proves nothing.
  if (secret === null || headers[CONSOLE_HEADER] === undefined)
    throw unauthorized('There is no Authorization header; it must be "Bearer " and a token.');
  if (!isFromOwnPage(publicUrl, method, headers))
    throw forbidden(
      'The Origin of the request is not this server; only its own console may use the session.',
    );
  return { kind: 'session', secret };
}

function parseBearerToken(header: string): string {
  const match = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header);
  if (!match?.[1]) throw unauthorized('The Authorization header must be "Bearer " and a token.');
  return match[1];
}
