/**
 * The HTTP server. Every operation of the contract is registered with its check and its handler, and goes the same way:
 * token → role → rate → body → check → handler → answer. What is thrown on the way becomes the error body of the
 * contract; a full disk or a database that is away becomes a 503, a fault of ours a 500 whose text stays in the log.
 */
import { Readable } from 'node:stream';
import { PUBLIC_BODY_BYTES_MAX, UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { bodyBytesMax, type Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { hasRight, rolesWith } from '@switchyard/contract/roles.ts';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Writer } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type Act, type Acts, isRecorded } from './acts.ts';
import { readJson } from './body.ts';
import { type Budgets, isShort, openBudgets } from './budget.ts';
import {
  type ConnectionLimits,
  Connections,
  makeServer,
  refuseAmbiguous,
  refuseConnection,
} from './connections.ts';
import { type ErrorPages, requestFields, respondNotFound, respondWithError } from './error-responses.ts';
import {
  type Call,
  type Caller,
  type ContentReply,
  type Handler,
  type Handlers,
  memberOf,
  type RawReply,
} from './handler.ts';
import type { Idempotency } from './idempotency.ts';
import type { Metrics } from './metrics.ts';
import { badRequest, forbidden, notFound, shown, unauthorized } from './problem.ts';
import { addressBucket, Limits, type RateLimit, VISITOR_RATE } from './rate-limit.ts';
import { hold, holdBody, holderOf, holdUpload, holdWork, refuseGone, release } from './request-memory.ts';
import { type Recipient, type Sent, send, sendContent, sendRaw } from './response.ts';
import { checkFor } from './validation.ts';

export interface HttpParts extends ConnectionLimits {
  handlers: Handlers;
  /** Only these operations are served; null: all. */
  only: readonly OperationId[] | null;
  /** Who a token lets in; null when nobody. */
  authenticate(token: string): Promise<Caller | null>;
  rateLimit: RateLimit | null;
  /** null where no operation that takes a token is served. */
  idempotency: Idempotency | null;
  /** Keeps what callers do. */
  acts: Acts;
  /** A new id for a request, as the log and the audit log name it. */
  requestId(): string;
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
export async function createHttp(parts: HttpParts): Promise<FastifyInstance> {
  const connections = new Connections(parts.connectionsMax);
  const budgets = openBudgets(parts.clock, connections.max);
  const app = Fastify({
    logger: false,
    genReqId: () => parts.requestId(),
    bodyLimit: PUBLIC_BODY_BYTES_MAX,
    serverFactory: (answer) => makeServer(answer, { ...parts, connections, isShort: () => isShort(budgets) }),
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX, ignoreTrailingSlash: false },
    frameworkErrors: (error, _request, reply) => respondWithError(error, reply, parts),
    clientErrorHandler: refuseConnection,
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
    reply.raw.once('close', () => request.isHandled || release(request));
    refuseAmbiguous(request);
    // Before its body is read: where there is nothing, nobody was asked for a token.
    if (request.is404) return respondNotFound(request, reply, parts);
  });
  app.addHook('onResponse', async (request, reply) => observe(request, reply, parts));

  const limiters = parts.rateLimit && {
    members: new Limits('member', parts.rateLimit, parts.clock),
    visitors: new Limits('address', VISITOR_RATE, parts.clock),
  };
  const register = (scope: FastifyInstance, id: OperationId): void => {
    const operation: Operation = operations[id];
    const handler = parts.handlers[id] as unknown as Handler<Operation>;
    route(scope, operation, handler, { ...parts, limiters, budgets, connections });
  };
  const ids = parts.only ?? (Object.keys(operations) as OperationId[]);
  const isStream = (id: OperationId): boolean => (operations[id] as Operation).body?.stream === true;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, payload: Buffer, done) => {
      if (payload.length === 0) return readJson(request, payload, done);
      hold(request, budgets.parsed, payload.length).then(() => readJson(request, payload, done), done);
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

function route(
  app: FastifyInstance,
  operation: Operation,
  handler: Handler<Operation>,
  parts: RouteParts,
): void {
  const { limiters, budgets, connections } = parts;
  const check = checkFor(operation);
  const kept = isRecorded(operation);
  const actOf = (request: FastifyRequest): Act => ({
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
        if (operation.method === 'POST') limiters?.visitors.take(addressBucket(request.ip), reply);
        return;
      }
      const caller = await parts.authenticate(bearerToken(request));
      if (!caller)
        throw unauthorized('The bearer token is not known here; it may be malformed, expired or revoked.');
      request.caller = caller;
      refuseGone(request);
      connections.trust(request.raw.socket);
      const underWay = budgets.requests.holdNow(memberOf(caller), 1);
      reply.raw.once('close', () => underWay.release());
      limiters?.members.take(memberOf(caller), reply);
      if (!hasRight(caller.role, operation.right)) {
        if (kept) await parts.acts.refused(actOf(request));
        throw forbidden(
          `The role ${caller.role} may not do this; it needs one of ${rolesWith(operation.right).join(', ')}.`,
        );
      }
    },
    async preParsing(request, _reply, payload) {
      if (!operation.body?.stream) await holdBody(request, bodyBytesMax(operation), budgets);
      return payload;
    },
    async handler(request, reply) {
      const to: Recipient = { request, reply, holder: holderOf(request), budget: budgets.responses };
      request.isHandled = true;
      const answer = await respond(request).finally(() => release(request));
      if (!('content' in answer)) return 'raw' in answer ? sendRaw(to, answer) : send(to, answer as Sent);
      // Content is only named by those who may have it.
      connections.trust(request.raw.socket);
      return sendContent(to, answer);
    },
  });

  async function respond(request: FastifyRequest): Promise<Sent | RawReply | ContentReply> {
    const query = request.query as Record<string, unknown>;
    check.query(query);
    refuseZeroBytes(request.params as Record<string, string>);
    // Fastify says null for "no body" where JSON null is a body.
    const body = request.rawBody?.length ? request.body : undefined;
    check.body(body);
    const callWith = (
      remember: Call<Operation>['remember'],
      belongsTo: Call<Operation>['belongsTo'],
    ): Call<Operation> => ({
      params: request.params as never,
      query: query as never,
      body: body as never,
      get caller() {
        if (!request.caller) throw new Error(`${operation.id} has no caller`);
        return request.caller;
      },
      visitor: request.caller,
      headers: request.headers,
      rawBody: request.rawBody ?? NO_BYTES,
      stream: operation.body?.stream ? ((request.body ?? Readable.from([])) as Readable) : Readable.from([]),
      holdStream: (member) => holdUpload(request, memberOf(member), budgets),
      remember,
      belongsTo(owner) {
        connections.trust(request.raw.socket);
        belongsTo(owner);
      },
    });
    const answerBy = (remember: Call<Operation>['remember']) =>
      kept
        ? parts.acts.during(actOf(request), ({ note, belongsTo }) => {
            const both = async (tx: Writer, answer: Sent) => {
              await remember(tx, answer as never);
              await note(tx, answer);
            };
            return handler(callWith(both, belongsTo));
          })
        : handler(callWith(remember, () => {}));
    await holdWork(request, operation, budgets);
    const key = request.headers['idempotency-key'];
    if (key === undefined || operation.method !== 'POST' || !request.caller || !parts.idempotency)
      return (await answerBy(async () => {})) as Sent | RawReply | ContentReply;
    const identity = {
      account: request.caller.account,
      caller: operation.answersToken ? request.caller.key : null,
      key: String(key),
      operation: operation.id,
      path: request.url,
      body: request.rawBody ?? NO_BYTES,
    };
    return parts.idempotency.once(identity, (remember) => answerBy(remember) as Promise<Sent>);
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
    if (value.includes('\0')) throw notFound(`${name} is ${shown(value)}, which names nothing.`);
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

interface RouteParts extends HttpParts {
  limiters: { members: Limits; visitors: Limits } | null;
  budgets: Budgets;
  connections: Connections;
}

function observe(request: FastifyRequest, reply: FastifyReply, parts: HttpParts): void {
  const fields = requestFields(request);
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
