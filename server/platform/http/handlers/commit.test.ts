/** One transaction contains effect, stored response and audit entry; a handler without a commit does not compile. */
import { operations } from '@switchyard/contract/operations.ts';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Writer } from '../../database/database.ts';
import type { AuditLog } from './audited-actions.ts';
import { type Committed, OperationEffect } from './commit.ts';
import type { Context } from './context.ts';
import type { HandlerResult, OperationCall, OperationHandler } from './handler.ts';

/** Returns an effect that appends its steps to a list; a transaction that throws is rolled back. */
function createRecordedEffect() {
  const steps: string[] = [];
  const tx = {} as Writer;
  const auditLog: AuditLog = {
    async transact(work) {
      steps.push('begin');
      try {
        const result = await work(tx);
        steps.push('commit');
        return result;
      } catch (error) {
        steps.push('rollback');
        throw error;
      }
    },
    insertEntry: async (_tx, action, { owner, body }) => {
      steps.push(`entry ${JSON.stringify([action.operation.id, owner?.account ?? null, body ?? null])}`);
    },
    auditRefusal: async () => {},
    findChanger: async () => null,
  };
  const action = { operation: operations.createKey, caller: null, params: {}, requestId: 'r', address: '' };
  const storeResponse = async (_tx: Writer, { status }: { status: number }) => {
    steps.push(`store ${status}`);
  };
  const effect = new OperationEffect<{ status: number; body?: object }>({ action, auditLog, storeResponse });
  return { steps, effect };
}

test('commit stores response and entry in the transaction of the work', async () => {
  const { steps, effect } = createRecordedEffect();
  const committed = await effect.commit(async () => {
    steps.push('work');
    return { status: 201, body: { id: 'k' } };
  });
  expect(committed.response).toEqual({ status: 201, body: { id: 'k' } });
  expect(steps).toEqual(['begin', 'work', 'store 201', 'entry ["createKey",null,{"id":"k"}]', 'commit']);
});

test('commitThen builds the response after the transaction', async () => {
  const { steps, effect } = createRecordedEffect();
  const committed = await effect.commitThen(
    async () => 7,
    (value) => {
      steps.push(`respond ${value}`);
      return { status: 200 };
    },
  );
  expect(committed.response).toEqual({ status: 200 });
  expect(steps).toEqual(['begin', 'entry ["createKey",null,null]', 'commit', 'respond 7']);
});

test('work that throws is rolled back and may be committed again', async () => {
  const { steps, effect } = createRecordedEffect();
  await expect(effect.commit(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(steps).toEqual(['begin', 'rollback']);
  await effect.commit(async () => ({ status: 204 }));
  expect(steps.at(-1)).toBe('commit');
});

test('a second commit is an error before its work runs', async () => {
  const { steps, effect } = createRecordedEffect();
  await effect.commit(async () => ({ status: 204 }));
  const before = steps.length;
  await expect(effect.commit(async () => ({ status: 204 }))).rejects.toThrow('createKey');
  expect(steps).toHaveLength(before);
});

test('noEffect writes nothing', () => {
  const { steps, effect } = createRecordedEffect();
  expect(effect.noEffect({ status: 304 }).response).toEqual({ status: 304 });
  expect(steps).toEqual([]);
});

describe('the compiler refuses', () => {
  type Returns<R> = () => Promise<R>;

  test('a handler of an audited operation that returns no commit', () => {
    expectTypeOf<Returns<Committed<{ status: 204 }>>>().toExtend<OperationHandler<'deleteApplication'>>();
    expectTypeOf<Returns<{ status: 204 }>>().not.toExtend<OperationHandler<'deleteApplication'>>();
    expectTypeOf<Returns<{ response: { status: 204 } }>>().not.toExtend<
      OperationHandler<'deleteApplication'>
    >();
  });

  test('a handler that returns a secret without a commit', () => {
    type Secret = HandlerResult<'getWebhookSecret'>['response'];
    expectTypeOf<Returns<Committed<Secret>>>().toExtend<OperationHandler<'getWebhookSecret'>>();
    expectTypeOf<Returns<Secret>>().not.toExtend<OperationHandler<'getWebhookSecret'>>();
  });

  test('a status that the contract does not declare', () => {
    expectTypeOf<Returns<Committed<{ status: 200 }>>>().not.toExtend<OperationHandler<'deleteApplication'>>();
  });

  test('a response of a POST that is built after its transaction', () => {
    expectTypeOf<OperationCall<'createKey'>>().toHaveProperty('commit');
    expectTypeOf<OperationCall<'createKey'>>().not.toHaveProperty('commitThen');
    expectTypeOf<OperationCall<'updateAccount'>>().toHaveProperty('commitThen');
  });

  test('noEffect without a 304 in the contract', () => {
    expectTypeOf<OperationCall<'startShadowTest'>>().toHaveProperty('noEffect');
    expectTypeOf<OperationCall<'stopShadowTest'>>().not.toHaveProperty('noEffect');
  });

  test('a write by any other way', () => {
    expectTypeOf<Context['database']>().not.toHaveProperty('transact');
    expectTypeOf<OperationCall<'getQueue'>>().not.toHaveProperty('commit');
  });
});
