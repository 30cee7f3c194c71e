/**
 * The HTTP server. Every operation of the contract is registered with its check and its handler, and goes the same way:
 * token → role → rate → body → check → handler → answer. What is thrown on the way becomes the error body of the
 * contract; a full disk or a database that is away becomes a 503, a fault of ours a 500 whose text stays in the log.
 */
import { Readable } from 'node:stream';
import { PUBLIC_BODY_BYTES_MAX, UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { bodyBytesMax, type Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { hasRight, rolesWithRight } from '@switchyard/contract/roles.ts';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Log } from '../log.ts';
import {
  type ErrorPages,
  getRequestLogFields,
  respondNotFound,
  respondWithError,
} from './error-responses.ts';
import { badRequest, forbidden, notFound, Problem, quoteValue, unauthorized } from './errors/problem.ts';
import { type AuditedAction, type AuditLog, isAudited } from './handlers/audited-actions.ts';
import { type AnyResponse, OperationEffect, type OperationEffectParts } from './handlers/commit.ts';
import {
  type BoundHandler,
  type Caller,
  type ContentResponse,
  formatMemberKey,
  type Handlers,
  type Owner,
  type PlainCall,
  type RawResponse,
} from './handlers/handler.ts';
import type { Idempotency } from './handlers/idempotency.ts';
import { type Budgets, createBudgets, isMemoryContended } from './limits/budget.ts';
import {
  type ConnectionLimits,
  Connections,
  createNodeServer,
  rejectAmbiguousHeaders,
  rejectConnection,
} from './limits/connections.ts';
import {
  ANONYMOUS_RATE_LIMIT,
  addressBucketKey,
  HttpRateLimiter,
  type RateLimit,
} from './limits/rate-limit.ts';
import {
  identifyMemoryHolder,
  releaseMemory,
  reserveBodyMemory,
  reserveHandlerMemory,
  reserveMemory,
  reserveUploadMemory,
  throwIfDisconnected,
} from './limits/request-memory.ts';
import type { Metrics } from './metrics.ts';
import { parseJsonBody } from './requests/json-body.ts';
import { createRequestValidator } from './requests/validation.ts';
import { type JsonResponse, type Recipient, sendContent, sendJson, sendRawBody } from './send-response.ts';

export interface HttpServerOptions extends ConnectionLimits {
  handlers: Handlers;
  /** Only these operations are served; null: all. */
  servedOperations: readonly OperationId[] | null;
  /** Who a token lets in; null when nobody. */
  authenticate(token: string): Promise<Caller | null>;
  rateLimit: RateLimit | null;
  /** null where no operation that takes a token is served. */
  idempotency: Idempotency | null;
  /** Keeps what callers do. */
  auditLog: AuditLog;
  /** A new id for a request, as the log and the audit log name it. */
  newRequestId(): string;
  log: Log;
  metrics: Metrics;
  /** Pages for people in place of error bodies; null where no site is served. */
  errorPages: ErrorPages | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    rawBody: Buffer | null;
  }
}

const NO_BYTES = Buffer.alloc(0);
const PARAMETER_CHARS_MAX = 512;

/** Builds the server; it does not listen yet. */
export async function createHttpServer(parts: HttpServerOptions): Promise<FastifyInstance> {
  const connections = new Connections(parts.connectionsMax);
  const budgets = createBudgets(parts.clock, connections.max);
  const app = Fastify({
    logger: false,
    genReqId: () => parts.newRequestId(),
    bodyLimit: PUBLIC_BODY_BYTES_MAX,
    serverFactory: (answer) =>
      createNodeServer(answer, { ...parts, connections, isShort: () => isMemoryContended(budgets) }),
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX, ignoreTrailingSlash: false },
    frameworkErrors: (error, _request, reply) => respondWithError(error, reply, parts),
    clientErrorHandler: rejectConnection,
    // What comes while the server closes, or waits for its turn, is answered like any other, and its connection closed.
    return503OnClosing: false,
  });
  app.decorateRequest('caller', null);
  app.decorateRequest('rawBody', null);
  // Each request gets a list of its own in the first hook.
  app.decorateRequest('holds');
  app.decorateRequest('isHandled', false);
  // Where there is nothing, it does not matter what else is wrong with the request.
  app.setErrorHandler((error: FastifyError, request, reply) =>
    request.is404 ? respondNotFound(request, reply, parts) : respondWithError(error, reply, parts),
  );
  app.setNotFoundHandler((request, reply) => respondNotFound(request, reply, parts));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-content-type-options': 'nosniff', 'x-request-id': request.id });
    request.holds = [];
    // What a handler holds it gives back itself: it goes on when its caller is gone.
    reply.raw.once('close', () => request.isHandled || releaseMemory(request));
    rejectAmbiguousHeaders(request);
    // Before its body is read: where there is nothing, nobody was asked for a token.
    if (request.is404) return respondNotFound(request, reply, parts);
  });
  app.addHook('onResponse', async (request, reply) => observe(request, reply, parts));

  const limiters = parts.rateLimit && {
    members: new HttpRateLimiter('member', parts.rateLimit, parts.clock),
    visitors: new HttpRateLimiter('address', ANONYMOUS_RATE_LIMIT, parts.clock),
  };
  const register = (scope: FastifyInstance, id: OperationId): void => {
    const operation: Operation = operations[id];
    const handler = parts.handlers[id];
    route(scope, operation, handler, { ...parts, limiters, budgets, connections });
  };
  const ids = parts.servedOperations ?? (Object.keys(operations) as OperationId[]);
  const isStream = (id: OperationId): boolean => (operations[id] as Operation).body?.stream === true;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, payload: Buffer, done) => {
      if (payload.length === 0) return parseJsonBody(request, payload, done);
      reserveMemory(request, budgets.parsed, payload.length).then(
        () => parseJsonBody(request, payload, done),
        done,
      );
    });
    for (const id of ids.filter((one) => !isStream(one))) register(scope, id);
  });
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { bodyLimit: UPLOAD_BYTES_MAX + 1 }, (_request, payload, done) =>
      done(null, payload),
    );
    for (const id of ids.filter(isStream)) register(scope, id);
  });
  return app;
}

function route(app: FastifyInstance, operation: Operation, handler: BoundHandler, parts: RouteParts): void {
  const { limiters, budgets, connections } = parts;
  const check = createRequestValidator(operation);
  const kept = isAudited(operation);
  const actOf = (request: FastifyRequest): AuditedAction => ({
    operation,
    caller: request.caller,
    params: request.params as Record<string, string>,
    requestId: request.id,
    address: request.ip,
  });
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: operation.id },
    // An upload is measured by its handler, which says how many bytes it may have.
    bodyLimit: bodyBytesMax(operation) + (operation.body?.stream ? 1 : 0),
    async onRequest(request, reply) {
      if (operation.body?.stream) {
        refuseTooLong(request);
        // Raw bytes are taken whatever they are called; Fastify would refuse a name that is none.
        request.raw.headers['content-type'] = 'application/octet-stream';
      }
      if (operation.right === 'public' && !(operation.optionalToken && request.headers.authorization)) {
        if (operation.method === 'POST') limiters?.visitors.enforce(addressBucketKey(request.ip), reply);
        return;
      }
      const caller = await parts.authenticate(bearerToken(request));
      if (!caller)
        throw unauthorized('The bearer token is not known here; it may be malformed, expired or revoked.');
      request.caller = caller;
      throwIfDisconnected(request);
      connections.trust(request.raw.socket);
      const underWay = budgets.requests.reserveNow(formatMemberKey(caller), 1);
      reply.raw.once('close', () => underWay.release());
      limiters?.members.enforce(formatMemberKey(caller), reply);
      if (!hasRight(caller.role, operation.right)) {
        if (kept) await parts.auditLog.auditRefusal(actOf(request));
        throw forbidden(
          `The role ${caller.role} may not do this; it needs one of ${rolesWithRight(operation.right).join(', ')}.`,
        );
      }
    },
    async preParsing(request, _reply, payload) {
      if (!operation.body?.stream) await reserveBodyMemory(request, bodyBytesMax(operation), budgets);
      return payload;
    },
    async handler(request, reply) {
      const to: Recipient = {
        request,
        reply,
        holder: identifyMemoryHolder(request),
        budget: budgets.responses,
      };
      request.isHandled = true;
      const answer = await respond(request).finally(() => releaseMemory(request));
      if (!('content' in answer))
        return 'raw' in answer ? sendRawBody(to, answer) : sendJson(to, answer as JsonResponse);
      // Content is only named by those who may have it.
      connections.trust(request.raw.socket);
      return sendContent(to, answer);
    },
  });

  async function respond(request: FastifyRequest): Promise<JsonResponse | RawResponse | ContentResponse> {
    const call = readCall(request);
    await reserveHandlerMemory(request, operation, budgets);
    if (!kept) return (await handler(call)) as RawResponse | ContentResponse;
    const key = request.headers['idempotency-key'];
    if (key === undefined || operation.method !== 'POST' || !request.caller || !parts.idempotency)
      return commitBy(request, call, async () => {});
    const identity = {
      account: request.caller.account,
      caller: operation.returnsToken ? request.caller.key : null,
      key: String(key),
      operation: operation.id,
      path: request.url,
      body: call.rawBody,
    };
    return parts.idempotency.runOnce(identity, (storeResponse) => commitBy(request, call, storeResponse));
  }

  /** Validates the request. */
  function readCall(request: FastifyRequest): PlainCall<Operation> {
    const query = request.query as Record<string, unknown>;
    check.validateQuery(query);
    refuseZeroBytes(request.params as Record<string, string>);
    // Fastify says null for "no body" where JSON null is a body.
    const body = request.rawBody?.length ? request.body : undefined;
    check.validateBody(body);
    return {
      params: request.params as never,
      query: query as never,
      body: body as never,
      get caller() {
        if (!request.caller) throw new Error(`${operation.id} has no caller`);
        return request.caller;
      },
      optionalCaller: request.caller,
      headers: request.headers,
      rawBody: request.rawBody ?? NO_BYTES,
      get stream() {
        return operation.body?.stream && request.body ? (request.body as Readable) : Readable.from([]);
      },
      reserveStreamMemory: (member) => reserveUploadMemory(request, formatMemberKey(member), budgets),
    };
  }

  /** Responds with a call that can commit; a refusal for lack of rights has an audit entry too. */
  async function commitBy(
    request: FastifyRequest,
    call: PlainCall<Operation>,
    storeResponse: OperationEffectParts['storeResponse'],
  ): Promise<JsonResponse> {
    const action = actOf(request);
    const effect = new OperationEffect<AnyResponse>({ action, auditLog: parts.auditLog, storeResponse });
    const committing = Object.assign(call, {
      commit: effect.commit.bind(effect),
      commitThen: effect.commitThen.bind(effect),
      noEffect: effect.noEffect.bind(effect),
      setOwner(owner: Owner) {
        connections.trust(request.raw.socket);
        effect.setOwner(owner);
      },
    });
    try {
      return (await handler(committing)) as JsonResponse;
    } catch (error) {
      if (error instanceof Problem && error.status === 403) await parts.auditLog.auditRefusal(action);
      throw error;
    }
  }
}

/** The length the caller states is believed: nothing of a body that cannot be taken is read into the store. */
function refuseTooLong(request: FastifyRequest): void {
  const stated = Number(request.headers['content-length'] ?? 0);
  if (stated > UPLOAD_BYTES_MAX)
    throw badRequest(`The upload has ${stated} bytes; it may have at most ${UPLOAD_BYTES_MAX}.`);
}

/** No id has one, and PostgreSQL cannot even be asked for it. */
function refuseZeroBytes(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0')) throw notFound(`${name} is ${quoteValue(value)}, which names nothing.`);
  }
}

function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization;
  if (header === undefined)
    throw unauthorized('There is no Authorization header; it must be "Bearer " and a token.');
  const match = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header);
  if (!match?.[1]) throw unauthorized('The Authorization header must be "Bearer " and a token.');
  return match[1];
}

interface RouteParts extends HttpServerOptions {
  limiters: { members: HttpRateLimiter; visitors: HttpRateLimiter } | null;
  budgets: Budgets;
  connections: Connections;
}

function observe(request: FastifyRequest, reply: FastifyReply, parts: HttpServerOptions): void {
  const fields = getRequestLogFields(request);
  const { operation } = fields;
  parts.metrics.requests.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1000);
  parts.log.debug(
    {
      ...fields,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      key: request.caller?.key,
    },
    'request',
  );
}
