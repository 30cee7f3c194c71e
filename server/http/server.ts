/**
 * The HTTP server. Every operation of the contract is registered with its check and its handler, and goes the same way:
 * token → role → rate → body → check → handler → answer. What is thrown on the way becomes the error body of the
 * contract; a full disk or a database that is away becomes a 503, a fault of ours a 500 whose text stays in the log.
 */
import { Readable } from 'node:stream';
import {
  PUBLIC_BODY_BYTES_MAX,
  REQUEST_BODY_BYTES_MAX,
  UPLOAD_BYTES_MAX,
} from '@switchyard/contract/limits.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { hasRight, rolesWith } from '@switchyard/contract/roles.ts';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Writer } from '../database/database.ts';
import { type Log, messageOf } from '../log.ts';
import { type Act, type Acts, isRecorded } from './acts.ts';
import { readJson } from './body.ts';
import { rangeOf } from './byte-range.ts';
import { type ConnectionLimits, makeServer, refuseAmbiguous, refuseConnection } from './connections.ts';
import { fromFastify } from './framework-errors.ts';
import type { Call, Caller, ContentReply, Handler, Handlers, RawReply } from './handler.ts';
import type { Idempotency } from './idempotency.ts';
import type { Metrics } from './metrics.ts';
import { badRequest, forbidden, notFound, Problem, problemBody, shown, unauthorized } from './problem.ts';
import { addressBucket, Limits, type RateLimit, VISITOR_RATE } from './rate-limit.ts';
import { unavailable } from './unavailable.ts';
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

export interface ErrorPages {
  /** Sends the page of an address that does not exist. */
  notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Sends the page of any other error under a status and headers that are already set. */
  error(reply: FastifyReply, sentence: string): FastifyReply;
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
  const app = Fastify({
    logger: false,
    genReqId: () => parts.requestId(),
    bodyLimit: REQUEST_BODY_BYTES_MAX,
    serverFactory: (answer) => makeServer(answer, parts),
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX, ignoreTrailingSlash: false },
    frameworkErrors: (error, _request, reply) => answerError(error, reply, parts),
    clientErrorHandler: refuseConnection,
    // What comes while the server closes, or waits for its turn, is answered like any other, and its connection closed.
    return503OnClosing: false,
  });
  app.decorateRequest('caller', null);
  app.decorateRequest('rawBody', null);
  // Where there is nothing, it does not matter what else is wrong with the request.
  app.setErrorHandler((error: FastifyError, request, reply) =>
    request.is404 ? answerNotFound(request, reply, parts) : answerError(error, reply, parts),
  );
  app.setNotFoundHandler((request, reply) => answerNotFound(request, reply, parts));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    refuseAmbiguous(request);
    // Before its body is read: where there is nothing, nobody was asked for a token.
    if (request.is404) return answerNotFound(request, reply, parts);
  });
  app.addHook('onResponse', async (request, reply) => observe(request, reply, parts));

  const limiters = parts.rateLimit && {
    keys: new Limits('key', parts.rateLimit, parts.clock),
    visitors: new Limits('address', VISITOR_RATE, parts.clock),
  };
  const register = (scope: FastifyInstance, id: OperationId): void => {
    const operation: Operation = operations[id];
    route(scope, operation, parts.handlers[id] as unknown as Handler<Operation>, parts, limiters);
  };
  const ids = parts.only ?? (Object.keys(operations) as OperationId[]);
  const isStream = (id: OperationId): boolean => (operations[id] as Operation).body?.stream === true;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, readJson);
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
  parts: HttpParts,
  limiters: Limiters | null,
): void {
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
    ...bodyLimitOf(operation),
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
      limiters?.keys.take(caller.key, reply);
      if (!hasRight(caller.role, operation.right)) {
        if (kept) await parts.acts.refused(actOf(request));
        throw forbidden(
          `The role ${caller.role} may not do this; it needs one of ${rolesWith(operation.right).join(', ')}.`,
        );
      }
    },
    async handler(request, reply) {
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
        stream: operation.body?.stream
          ? ((request.body ?? Readable.from([])) as Readable)
          : Readable.from([]),
        remember,
        belongsTo,
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
      const key = request.headers['idempotency-key'];
      if (key === undefined || operation.method !== 'POST' || !request.caller || !parts.idempotency) {
        const answer = await answerBy(async () => {});
        if ('content' in answer) return sendContent(request, reply, answer);
        return 'raw' in answer ? sendRaw(reply, answer) : send(reply, answer as Sent);
      }
      const identity = {
        account: request.caller.account,
        caller: operation.answersToken ? request.caller.key : null,
        key: String(key),
        operation: operation.id,
        path: request.url,
        body: request.rawBody ?? NO_BYTES,
      };
      return send(
        reply,
        await parts.idempotency.once(identity, (remember) => answerBy(remember) as Promise<Sent>),
      );
    },
  });
}

/** Whoever has no token sends no more than a form has, and has nothing larger read or parsed. */
function bodyLimitOf(operation: Operation): { bodyLimit?: number } {
  if (operation.body?.stream) return { bodyLimit: UPLOAD_BYTES_MAX + 1 };
  return operation.right === 'public' ? { bodyLimit: PUBLIC_BODY_BYTES_MAX } : {};
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

interface Sent {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

function send(reply: FastifyReply, answer: Sent): FastifyReply {
  reply.code(answer.status);
  if (answer.headers) reply.headers(answer.headers);
  if (answer.body === undefined) return reply.send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer.body));
}

function sendRaw(reply: FastifyReply, answer: RawReply): FastifyReply {
  reply.code(answer.status).header('content-type', answer.contentType);
  return reply.send(answer.raw);
}

/** The content, or the part of it that is asked for. Nothing is opened for a HEAD, which asks how long it is. */
async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  { content }: ContentReply,
): Promise<FastifyReply> {
  const etag = `"${content.id}"`;
  const isHead = request.method === 'HEAD';
  const { range: wanted, 'if-range': ifRange } = request.headers;
  const asked = { range: isHead ? undefined : wanted, ifRange: ifRange?.toString() };
  const range = rangeOf(asked, { bytes: content.bytes, etag });
  const bytes = range ? range.to - range.from + 1 : content.bytes;
  const stream = isHead ? Readable.from([]) : await content.open(range);
  reply.code(range ? 206 : 200).headers({
    'content-type': content.contentType,
    'content-length': bytes,
    'accept-ranges': 'bytes',
    etag,
    ...(range ? { 'content-range': `bytes ${range.from}-${range.to}/${content.bytes}` } : {}),
  });
  return reply.send(stream);
}

function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization;
  if (header === undefined)
    throw unauthorized('There is no Authorization header; it must be "Bearer " and a token.');
  const match = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header);
  if (!match?.[1]) throw unauthorized('The Authorization header must be "Bearer " and a token.');
  return match[1];
}

interface Limiters {
  keys: Limits;
  visitors: Limits;
}

function answerError(error: unknown, reply: FastifyReply, parts: HttpParts): FastifyReply {
  const { log } = parts;
  const problem =
    error instanceof Problem
      ? error
      : fromFastify(error as FastifyError, reply.request.routeOptions.bodyLimit);
  if (problem) {
    return sendProblem(reply, problem, parts);
  }
  // The caller went away in the middle of its body; nobody reads this answer.
  if (reply.request.raw.readableAborted)
    return sendProblem(reply, badRequest('The request ended before its body did.'), parts);
  const trouble = unavailable(error);
  if (trouble) {
    log.warn(
      { error: messageOf(error) },
      'A request could not be served for want of disk, database or store.',
    );
    reply.code(503).header('retry-after', String(trouble.retryAfterSeconds));
    return sendError(reply, { status: 'Service Unavailable', error: trouble.sentence }, parts);
  }
  log.error(
    { error: messageOf(error), stack: error instanceof Error ? error.stack : undefined },
    'A request failed by a fault of ours.',
  );
  reply.code(500);
  const sentence = 'The server could not do this; its log says why.';
  return sendError(reply, { status: 'Internal Server Error', error: sentence }, parts);
}

/** Programs get the error body of the contract, people in a browser a page. */
function answerNotFound(request: FastifyRequest, reply: FastifyReply, parts: HttpParts): FastifyReply {
  if (parts.errorPages && isForPeople(request)) return parts.errorPages.notFound(request, reply);
  const path = request.url.split('?')[0] ?? '';
  return sendProblem(reply, notFound(`There is nothing at ${request.method} ${shown(path)}.`), parts);
}

function sendProblem(
  reply: FastifyReply,
  { status, message, headers }: Problem,
  parts: HttpParts,
): FastifyReply {
  reply.code(status).headers(headers);
  return sendError(reply, problemBody(status, message), parts);
}

/** Sends the body to programs and its sentence in a page to people. Status and headers are already set. */
function sendError(reply: FastifyReply, body: ErrorBody, { errorPages }: HttpParts): FastifyReply {
  if (errorPages && isForPeople(reply.request))
    return errorPages.error(reply, 'error' in body ? body.error : body.message);
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

type ErrorBody = { message: string } | { status: string; error: string };

/** Whether a browser shows the response as a page: the route serves pages, or the request asks for one outside of the API. */
function isForPeople({ method, url, headers, routeOptions }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if ((routeOptions.config as { isPage?: boolean } | undefined)?.isPage) return true;
  return !url.startsWith('/v1/') && headers.accept?.includes('text/html') === true;
}

function observe(request: FastifyRequest, reply: FastifyReply, parts: HttpParts): void {
  const operation = (request.routeOptions.config as { operation?: string }).operation ?? 'site';
  parts.metrics.requests.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1000);
  parts.log.debug(
    {
      request: request.id,
      operation,
      method: request.method,
      path: request.url.split('?')[0],
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      key: request.caller?.key,
    },
    'request',
  );
}
