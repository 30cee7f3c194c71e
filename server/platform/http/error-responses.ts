/** Error responses, and their log lines, which name the request by id, operation and path. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorMessage, type Log } from '../log.ts';
import { bodyEndedEarly, convertFastifyError } from './errors/framework-errors.ts';
import { type ErrorBody, formatErrorBody, notFound, Problem, quoteValue } from './errors/problem.ts';
import { classifyUnavailable } from './errors/service-unavailable.ts';
import { formatJson } from './send-response.ts';

/** The HTML pages that browsers get in place of error bodies. */
export interface ErrorPages {
  /** Sends the page for an unknown path. */
  notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Sends the page for any other error. The status and headers of the reply are already set. */
  error(reply: FastifyReply, message: string): FastifyReply;
}

interface Parts {
  /** null on a server without the site. */
  errorPages: ErrorPages | null;
  log: Log;
}

/** Returns the fields of every log line about a request, without the query: that of a signed URL is a credential. */
export function getRequestLogFields(request: FastifyRequest) {
  return {
    request: request.id,
    operation: request.routeOptions.config?.operation ?? 'site',
    method: request.method,
    path: request.url.split('?')[0] ?? '',
    ...(request.span ? { trace: request.span.context.traceId } : {}),
  };
}

/** Sends the response to an error that a hook or a handler threw, and logs every 500 and 503. */
export function respondWithError(error: unknown, reply: FastifyReply, parts: Parts): FastifyReply {
  const { request } = reply;
  const problem =
    error instanceof Problem
      ? error
      : convertFastifyError(error as FastifyError, request.routeOptions.bodyLimit);
  if (problem) return sendProblem(reply, problem, parts);
  if (request.raw.readableAborted) return sendProblem(reply, bodyEndedEarly(), parts);
  const fields = { ...getRequestLogFields(request), error: errorMessage(error) };
  // An error before the first hook leaves the id out of the headers.
  reply.header('x-request-id', request.id);
  const unavailable = classifyUnavailable(error);
  if (unavailable) {
    parts.log.warn(fields, 'Request failed: disk full, or database or object store unavailable.');
    reply.code(503);
    if (unavailable.retryAfterSeconds !== null)
      reply.header('retry-after', String(unavailable.retryAfterSeconds));
    const message = `${unavailable.message} Request ${request.id}.`;
    return sendError(reply, formatErrorBody(503, message), parts);
  }
  const stack = error instanceof Error ? error.stack : undefined;
  parts.log.error({ ...fields, stack }, 'Request failed: internal error.');
  reply.code(500);
  const message = `Internal server error; see the server log for request ${request.id}.`;
  return sendError(reply, formatErrorBody(500, message), parts);
}

/** Sends a 404: the page to a browser, the error body of the contract to any other client. */
export function respondNotFound(request: FastifyRequest, reply: FastifyReply, parts: Parts): FastifyReply {
  if (parts.errorPages && acceptsPage(request)) return parts.errorPages.notFound(request, reply);
  const { path } = getRequestLogFields(request);
  return sendProblem(reply, notFound(`There is nothing at ${request.method} ${quoteValue(path)}.`), parts);
}

function sendProblem(
  reply: FastifyReply,
  { status, message, headers, code }: Problem,
  parts: Parts,
): FastifyReply {
  reply.code(status).headers(headers);
  // HTTP/2 has no such header: the end of the response ends the stream.
  if (reply.request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  return sendError(reply, formatErrorBody(status, message, code), parts);
}

/** Sends a browser the message in a page, and any other client the body. The status and headers are already set. */
function sendError(reply: FastifyReply, body: ErrorBody, { errorPages }: Parts): FastifyReply {
  if (errorPages && acceptsPage(reply.request))
    return errorPages.error(reply, 'error' in body ? body.error : body.message);
  return reply.header('content-type', 'application/json; charset=utf-8').send(formatJson(body));
}

/** Returns true when the route responds with pages, or when the request prefers HTML outside of the API. */
function acceptsPage({ method, url, headers, routeOptions }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (routeOptions.config?.isPage) return true;
  return !url.startsWith('/v1/') && headers.accept?.includes('text/html') === true;
}
