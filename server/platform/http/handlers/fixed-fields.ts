/** Refuses updates of fields that an update cannot change, for every operation of the contract (contract/fixed-fields.ts). */
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { findFixedFields, listReceived, matchesPresent } from '@switchyard/contract/fixed-fields.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { hasCondition } from '@switchyard/contract/schemas/conditional-writes.ts';
import { namesExpectedState } from '@switchyard/contract/schemas/expected-state.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { badRequest, quoteValue } from '../errors/problem.ts';
import type { AnyCall, BoundHandler, Handlers } from './handler.ts';

/** Throws a 400 for a body with another value of a fixed field, or with a condition that the update does not have. */
export type FixedFieldsCheck = (call: AnyCall) => Promise<void>;

/** Returns the check of an update; undefined for any other operation. */
export function createFixedFieldsCheck(
  operation: Operation,
  handlers: Handlers,
): FixedFieldsCheck | undefined {
  const fixed = findFixedFields(operation, Object.values<Operation>(operations));
  if (!fixed) return undefined;
  const { inPath, visible, onlyCreated, read } = fixed;
  const handleRead = Object.entries(handlers).find(([id]) => id === read.id)?.[1];
  return async (call) => {
    const { body } = call;
    if (!isRecord(body)) return;
    // The `updated_at` of an experiment or a run also changes without an update, so a condition would fail at random.
    if (!hasCondition(operation.body?.schema) && namesExpectedState(body))
      throw badRequest(
        `expected_updated_at is ${quoteValue(body.expected_updated_at)}; this update takes no condition. Leave it out.`,
      );
    const params: Readonly<Record<string, unknown>> = call.params;
    for (const name of listReceived(inPath.keys(), body)) {
      const value = params[inPath.get(name) ?? ''];
      if (body[name] === value) continue;
      throw badRequest(
        `${name} is ${quoteValue(body[name])}, and the path of the request names ${quoteValue(value)}; an id never changes. Leave ${name} out, or send the request to the path with that id.`,
      );
    }
    for (const name of listReceived(onlyCreated, body))
      throw badRequest(`${name} is ${quoteValue(body[name])}; this request cannot change it. Leave it out.`);
    const received = listReceived(visible, body);
    const response = received.length > 0 ? await handleRead?.(call) : undefined;
    const present = response && (await readBody(response));
    if (!isRecord(present)) return;
    for (const name of received) {
      if (matchesPresent(body[name], present[name])) continue;
      throw badRequest(
        `${name} is ${quoteValue(body[name])}, and the present value is ${quoteValue(present[name])}; this request cannot change it. Leave it out, or send the present value.`,
      );
    }
  };
}

/** Returns the body of a response; some handlers have it in JSON. */
async function readBody(response: Awaited<ReturnType<BoundHandler>>): Promise<unknown> {
  if ('body' in response) return response.body;
  if (!('raw' in response)) return undefined;
  const { raw, contentEncoding } = response;
  if (typeof raw === 'string') return JSON.parse(raw);
  if (Buffer.isBuffer(raw)) return JSON.parse(String(contentEncoding === 'gzip' ? gunzipSync(raw) : raw));
  return JSON.parse(await text(raw));
}
