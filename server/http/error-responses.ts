/** What is responded when something is thrown, and what the log has of it: the request by its id, operation and path. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorMessage, type Log } from '../log.ts';
import { bodyEndedEarly, convertFastifyError } from './errors/framework-errors.ts';
import { formatErrorBody, notFound, Problem, quoteValue } from './errors/problem.ts';
import { classifyUnavailable } from './errors/service-unavailable.ts';
import { formatJson } from './send-response.ts';

export interface ErrorPages {
  /** Sends the page of an address that does not exist. */
  notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Sends the page of any other error under a status and headers that are already set. */
  error(reply: FastifyReply, sentence: string): FastifyReply;
}

interface Parts {
  /** Pages for people in place of error bodies; null where no site is served. */
  errorPages: ErrorPages | null;
  log: Log;
}

/** The fields that every log line about a request has. The query is left out: that of a signed URL is a credential. */
export function getRequestLogFields(request: FastifyRequest) {
  return {
    request: request.id,
    operation: (request.routeOptions.config as { operation?: string } | undefined)?.operation ?? 'site',
    method: request.method,
    path: request.url.split('?')[0] ?? '',
  };
}

export function respondWithError(error: unknown, reply: FastifyReply, parts: Parts): FastifyReply {
  const { request } = reply;
  const problem =
    error instanceof Problem
      ? error
      : convertFastifyError(error as FastifyError, request.routeOptions.bodyLimit);
  if (problem) return sendProblem(reply, problem, parts);
  if (request.raw.readableAborted) return sendProblem(reply, bodyEndedEarly(), parts);
  const fields = { ...getRequestLogFields(request), error: errorMessage(error) };
  // Where Fastify fails before its hooks, the id is not in the headers yet.
  reply.header('x-request-id', request.id);
  const trouble = classifyUnavailable(error);
  if (trouble) {
    parts.log.warn(fields, 'Request failed: disk full, or database or object store unavailable.');
    reply.code(503);
    if (trouble.retryAfterSeconds !== null) reply.header('retry-after', String(trouble.retryAfterSeconds));
    const words = `${trouble.message} Request ${request.id}.`;
    return sendError(reply, { status: 'Service Unavailable', error: words }, parts);
  }
  const stack = error instanceof Error ? error.stack : undefined;
  parts.log.error({ ...fields, stack }, 'Request failed: internal error.');
  reply.code(500);
  const sentence = `Internal server error; see the server log for request ${request.id}.`;
  return sendError(reply, { status: 'Internal Server Error', error: sentence }, parts);
}

/** Programs get the error body of the contract, people in a browser a page. */
export function respondNotFound(request: FastifyRequest, reply: FastifyReply, parts: Parts): FastifyReply {
  if (parts.errorPages && isForPeople(request)) return parts.errorPages.notFound(request, reply);
  const { path } = getRequestLogFields(request);
  return sendProblem(reply, notFound(`There is nothing at ${request.method} ${quoteValue(path)}.`), parts);
}

function sendProblem(reply: FastifyReply, { status, message, headers }: Problem, parts: Parts): FastifyReply {
  reply.code(status).headers(headers);
  return sendError(reply, formatErrorBody(status, message), parts);
}

/** Sends the body to programs and its sentence in a page to people. Status and headers are already set. */
function sendError(reply: FastifyReply, body: ErrorBody, { errorPages }: Parts): FastifyReply {
  if (errorPages && isForPeople(reply.request))
    return errorPages.error(reply, 'error' in body ? body.error : body.message);
  return reply.header('content-type', 'application/json; charset=utf-8').send(formatJson(body));
}

type ErrorBody = { message: string } | { status: string; error: string };

/** Whether a browser shows the response as a page: the route serves pages, or the request asks for one outside of the API. */
function isForPeople({ method, url, headers, routeOptions }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if ((routeOptions.config as { isPage?: boolean } | undefined)?.isPage) return true;
  return !url.startsWith('/v1/') && headers.accept?.includes('text/html') === true;
}
