/**
 * The HTTP server. It registers a route for every operation of the contract, and turns every error into the error body
 * of the contract. A full disk or an unavailable database is a 503. An internal error is a 500, and its text stays in
 * the log.
 */
import { PUBLIC_BODY_BYTES_MAX, UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Log } from '../log.ts';
import type { RequestSpan, RequestSpans } from '../tracing/request-spans.ts';
import {
  type ErrorPages,
  getRequestLogFields,
  respondNotFound,
  respondWithError,
} from './error-responses.ts';
import type { AuditLog } from './handlers/audited-actions.ts';
import type { Caller, Credential, Handlers } from './handlers/handler.ts';
import type { Idempotency } from './handlers/idempotency.ts';
import { createBudgets, isMemoryContended } from './limits/budget.ts';
import { Connections } from './limits/connections.ts';
import {
  ANONYMOUS_RATE_LIMIT,
  HttpRateLimiter,
  type RateLimit,
  WORKER_RATE_LIMIT,
} from './limits/rate-limit.ts';
import { releaseMemory, reserveMemory } from './limits/request-memory.ts';
import type { Metrics } from './metrics.ts';
import { registerOperation } from './operation-route.ts';
import { createProxyCheck, readClientAddress } from './requests/client-address.ts';
import { parseJsonBody } from './requests/json-body.ts';
import type { RequestEndpoint } from './requests/request-endpoint.ts';
import {
  type ConnectionLimits,
  createNodeServer,
  rejectAmbiguousHeaders,
  rejectConnection,
} from './transport/node-server.ts';

/** The dependencies and limits of the HTTP server. */
export interface HttpServerOptions extends ConnectionLimits {
  handlers: Handlers;
  /** Operations to serve; null serves all. */
  servedOperations: readonly OperationId[] | null;
  /** Returns the caller that a credential identifies; null for an unknown, expired or revoked one. */
  authenticate(credential: Credential): Promise<Caller | null>;
  /** The address of the server without a trailing slash. */
  publicUrl(): string;
  /** Requests a second and burst of each member; null turns rate limits off. */
  rateLimit: RateLimit | null;
  /** Addresses and networks of the proxies whose `X-Forwarded-For` names the caller. */
  trustedProxies?: readonly string[];
  /** null on a server whose operations need no token. */
  idempotency: Idempotency | null;
  auditLog: AuditLog;
  /** Returns a new id for a request; the log, the audit log and `x-request-id` contain it. */
  newRequestId(): string;
  log: Log;
  metrics: Metrics;
  /** Without it, requests have no spans. */
  requestSpans?: RequestSpans | null;
  /** HTML pages for browsers in place of error bodies; null on a server without the site. */
  errorPages: ErrorPages | null;
  /** The address of the caller of each request, for URLs in its response. */
  endpoint?: RequestEndpoint;
  /** The header `strict-transport-security`; absent on a server whose clients may need plain HTTP. */
  transportSecurity?: string | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the caller, also behind a trusted proxy. */
    address: string;
    caller: Caller | null;
    rawBody: Buffer | null;
    /** Counts a body for the rate limit of the caller; throws the 429. null without a caller. */
    chargeBody: ((bytes: number) => void) | null;
    /** null for a request without a span. */
    span: RequestSpan | null;
  }
  interface FastifyContextConfig {
    /** The operationId; absent on routes of the site. */
    operation?: string;
    /** True for an operation with a JSON body. */
    readsJson?: boolean;
    /** The field of the body that is stored as it is. */
    rawField?: string;
    /** Marks a route that responds with HTML pages. */
    isPage?: boolean;
  }
}

const PARAMETER_CHARS_MAX = 512;

/** Load balancers and Prometheus send these all the time. */
const UNTRACED_OPERATIONS: ReadonlySet<string> = new Set<OperationId>([
  'getHealth',
  'getReadiness',
  'getMetrics',
]);

/** Returns the server with all its routes; it does not listen yet. */
export async function createHttpServer(parts: HttpServerOptions): Promise<FastifyInstance> {
  const connections = new Connections(parts.connectionsMax);
  const budgets = createBudgets(parts.clock, connections.max);
  const isTrustedProxy = createProxyCheck(parts.trustedProxies ?? []);
  const app = Fastify({
    logger: false,
    genReqId: () => parts.newRequestId(),
    bodyLimit: PUBLIC_BODY_BYTES_MAX,
    serverFactory: (handleRequest) =>
      createNodeServer(handleRequest, { ...parts, connections, isShort: () => isMemoryContended(budgets) }),
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX, ignoreTrailingSlash: false },
    frameworkErrors: (error, _request, reply) => respondWithError(error, reply, parts),
    clientErrorHandler: rejectConnection,
    // A request that arrives or waits while the server closes gets its response; then its connection closes.
    return503OnClosing: false,
  });
  decorateRequests(app);
  // An unknown path is a 404 even when the request has other errors.
  app.setErrorHandler((error: FastifyError, request, reply) =>
    request.is404 ? respondNotFound(request, reply, parts) : respondWithError(error, reply, parts),
  );
  app.setNotFoundHandler((request, reply) => respondNotFound(request, reply, parts));
  app.addHook('onRequest', async (request, reply) => {
    startSpan(request, parts);
    request.address = readClientAddress(request, isTrustedProxy);
    reply.headers({ ...createFixedHeaders(parts), 'x-request-id': request.id });
    request.holds = [];
    // A running handler releases its memory itself, because it continues after a disconnect.
    reply.raw.once('close', () => request.isHandled || releaseMemory(request));
    rejectAmbiguousHeaders(request);
    // Respond before the body is read. An unknown path needs no token.
    if (request.is404) return respondNotFound(request, reply, parts);
  });
  app.addHook('onResponse', async (request, reply) => observe(request, reply, parts));

  const limiters = createLimiters(parts);
  const register = (scope: FastifyInstance, id: OperationId): void => {
    const operation: Operation = operations[id];
    const handler = parts.handlers[id];
    registerOperation(scope, operation, { ...parts, handler, limiters, budgets, connections });
  };
  const ids = parts.servedOperations ?? Object.values(operations).map(({ id }) => id);
  const isStream = (id: OperationId): boolean => {
    const { body }: Operation = operations[id];
    return body?.stream === true;
  };
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, payload: Buffer, done) => {
      const parse = async () => {
        request.chargeBody?.(payload.length);
        if (payload.length > 0) await reserveMemory(request, budgets.parsed, payload.length);
        return parseJsonBody(request, payload);
      };
      parse().then((body) => done(null, body), done);
    });
    for (const id of ids.filter((id) => !isStream(id))) register(scope, id);
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

/** Returns the limiters of a server; null without a rate limit. */
function createLimiters({ rateLimit, clock }: HttpServerOptions) {
  return (
    rateLimit && {
      members: new HttpRateLimiter('member', rateLimit, clock),
      workers: new HttpRateLimiter('worker token', WORKER_RATE_LIMIT, clock),
      visitors: new HttpRateLimiter('address', ANONYMOUS_RATE_LIMIT, clock),
    }
  );
}

/** Declares the fields of requests, which is faster than adding them to each. */
function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('address', '');
  app.decorateRequest('caller', null);
  app.decorateRequest('rawBody', null);
  app.decorateRequest('chargeBody', null);
  app.decorateRequest('span', null);
  // The first hook gives each request its own list.
  app.decorateRequest('holds');
  app.decorateRequest('isHandled', false);
  app.decorateRequest('waitedMs', 0);
}

/** Returns the headers of every response. */
function createFixedHeaders({ transportSecurity }: HttpServerOptions): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    ...(transportSecurity ? { 'strict-transport-security': transportSecurity } : {}),
  };
}

/** Records the duration of a request in the metrics and in the debug log. */
function observe(request: FastifyRequest, reply: FastifyReply, parts: HttpServerOptions): void {
  const fields = getRequestLogFields(request);
  const { operation } = fields;
  endSpan(request, reply, parts);
  const responseMs = reply.elapsedTime - request.waitedMs;
  parts.metrics.requests.observe({ operation, status: reply.statusCode }, responseMs / 1000);
  parts.log.debug(
    {
      ...fields,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      key: request.caller?.key,
    },
    'Request completed.',
  );
}

function startSpan(request: FastifyRequest, { requestSpans }: HttpServerOptions): void {
  // Before the options of the route, which Fastify builds on each access.
  if (!requestSpans) return;
  const { operation } = request.routeOptions.config;
  if (operation !== undefined && !UNTRACED_OPERATIONS.has(operation))
    request.span = requestSpans.start(request.headers);
}

/** The attributes name the operation and never the content of the request: a path, a query or a body may hold secrets. */
function endSpan(request: FastifyRequest, reply: FastifyReply, { requestSpans }: HttpServerOptions): void {
  if (!request.span) return;
  const { config, url = '' } = request.routeOptions;
  const { operation = '' } = config;
  const path = url.replaceAll(/:(\w+)/g, '{$1}');
  requestSpans?.end(request.span, {
    name: `${request.method} ${path}`,
    status: reply.statusCode,
    elapsedMs: reply.elapsedTime,
    attributes: {
      'http.request.method': request.method,
      'http.route': path,
      'switchyard.operation': operation,
      'switchyard.request.id': request.id,
      ...(request.caller ? { 'switchyard.account.id': request.caller.account } : {}),
    },
  });
}
