/**
 * Parses JSON request bodies. An empty body counts as absent, whatever its content type. A lone surrogate is not a
 * character and no database stores it. It becomes U+FFFD here, so that the response shows the stored text.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { recognizeUtf16 } from '@switchyard/contract/decode-utf8.ts';
import { REQUEST_BODY_DEPTH_MAX, REQUEST_BODY_VALUES_MAX } from '@switchyard/contract/limits.ts';
import { JsonFieldExtractor } from '@switchyard/worker/results/json-field-extractor.ts';
import type { FastifyRequest } from 'fastify';
import { badRequest, Problem, quoteValue } from '../errors/problem.ts';
import { measureJson, replaceContainers } from './raw-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the value of a body, and stores its bytes in `request.rawBody`. Throws a 400 for another content type, invalid UTF-8,
 * too deep nesting, too many values and invalid JSON, and a 415 for another encoding.
 */
export async function parseJsonBody(request: FastifyRequest, payload: Buffer): Promise<unknown> {
  request.rawBody = payload;
  if (payload.length === 0) return undefined;
  const { 'content-encoding': coding, 'content-type': contentType = '' } = request.headers;
  if (coding !== undefined && !/^[, ]*(?:identity[, ]*)*$/i.test(coding)) {
    const message = `Content-Encoding is ${quoteValue(coding)}, and the body must not be compressed. Send plain JSON without this header.`;
    throw refuseEncoding(request, message);
  }
  if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(contentType)) {
    throw badRequest(
      `The content type of the request is "${contentType.slice(0, 80)}"; it must be application/json.`,
    );
  }
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    const message = `The charset of the content type is ${quoteValue(charset)}; JSON is always in UTF-8. Encode the body as UTF-8, and leave the charset out.`;
    throw refuseEncoding(request, message);
  }
  const encoding = recognizeEncoding(payload);
  if (encoding !== null) {
    const message = `The body of the request looks like ${encoding}; it must be JSON in UTF-8 that is not compressed.`;
    throw refuseEncoding(request, message);
  }
  return parsePayload(payload, request.routeOptions.config.rawField);
}

/** The value of the parameter `charset`, which may be quoted. */
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/** Returns the name of another encoding that the first two bytes prove: JSON in UTF-8 begins with none of them. */
function recognizeEncoding(payload: Buffer): string | null {
  if (payload[0] === 0x1f && payload[1] === 0x8b) return 'gzip';
  if (payload[0] === 0 && payload[1] === 0) return 'UTF-32 BE';
  return recognizeUtf16(payload)?.name ?? null;
}

/** An operation without a JSON body ignores one that it can parse, and declares no 415. */
function refuseEncoding({ routeOptions }: FastifyRequest, message: string): Problem {
  return new Problem(routeOptions.config.readsJson ? 415 : 400, message);
}

async function parsePayload(payload: Buffer, rawField: string | undefined): Promise<unknown> {
  const text = decode(payload);
  const limits = { depthMax: REQUEST_BODY_DEPTH_MAX, valuesMax: REQUEST_BODY_VALUES_MAX, rawField };
  const { excess, rawValues, rawRanges } = measureJson(payload, limits);
  if (excess === 'depth')
    throw badRequest(
      `The body of the request is nested more than ${REQUEST_BODY_DEPTH_MAX} levels deep. Send a deeper input through an upload URL.`,
    );
  if (excess === 'values')
    throw badRequest(
      `The body of the request has more than ${REQUEST_BODY_VALUES_MAX} lists, objects and fields of objects${rawField === undefined ? '' : ` outside ${rawField}`}. Send a smaller one.`,
    );
  try {
    if (rawValues <= REQUEST_BODY_VALUES_MAX) return parseText(text);
    await checkInPieces(payload);
    return parseText(utf8.decode(replaceContainers(payload, rawRanges)));
  } catch (error) {
    throw badRequest(
      `The body of the request is not valid JSON: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

function decode(payload: Buffer): string {
  try {
    return utf8.decode(payload);
  } catch {
    throw badRequest('The body of the request is not valid UTF-8; encode it as UTF-8.');
  }
}

/** Other requests wait for one piece: a few milliseconds. */
const PIECE_BYTES = 256 * 1024;

/** Throws for JSON that is not valid. Builds no value, and lets other requests go on between two pieces. */
async function checkInPieces(payload: Buffer): Promise<void> {
  const checker = new JsonFieldExtractor({});
  for (let at = 0; at < payload.length; at += PIECE_BYTES) {
    await yieldToOthers();
    checker.write(payload.subarray(at, at + PIECE_BYTES));
  }
  checker.end();
}

function parseText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return ESCAPED_SURROGATE.test(text) ? replaceLoneSurrogates(value) : value;
}

/** UTF-8 cannot encode a surrogate, so each one comes as an escape. Most bodies have none and skip the second pass. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * Replaces the lone surrogates in every string of the value, in place; returns the value. A loop, because recursion on a
 * body of the maximum depth overflows the stack.
 */
function replaceLoneSurrogates(value: unknown): unknown {
  const root = { value };
  const pending: object[] = [root];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    for (const [key, member] of Object.entries(container)) {
      if (typeof member === 'object' && member !== null) pending.push(member);
      else if (typeof member === 'string' && !member.isWellFormed())
        // An assignment to the key `__proto__` would call its setter and store nothing.
        Object.defineProperty(container, key, { value: member.toWellFormed() });
    }
  }
  return root.value;
}
