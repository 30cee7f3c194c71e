/** What makes a candidate the default. */
import { expect, test } from 'vitest';
import { planPromotion } from './plan-promotion.ts';

const INSTANCES = [
  { id: 'production', version_id: 'v1', configuration: { options: { limit: '60' } } },
  { id: 'staging', version_id: 'v2', configuration: { options: {} } },
].map((one) => ({ ...one, configuration: { ...one.configuration } }) as never);
const plan = (candidate: object, options?: Record<string, string>) =>
  planPromotion(
    {
      control: { instance_id: 'production', version_id: 'v1' },
      candidate: { instance_id: '', version_id: '', ...candidate },
      ...(options && { options }),
    },
    { default_instance: 'production' },
    INSTANCES,
  );

test('another instance becomes the default, and says that it has another version than in the experiment', () => {
  expect(plan({ instance_id: 'staging', version_id: 'v2' })).toEqual({
    ...{ kind: 'instance', id: 'staging', before: 'production', version: 'v2' },
  });
  expect(plan({ instance_id: 'staging', version_id: 'v0' })).toMatchObject({ version: 'v2', tested: 'v0' });
});

test('the default instance gets the version and the options of the candidate', () => {
  expect(plan({ version_id: 'v2' })).toMatchObject({ kind: 'version', id: 'production', version: 'v2' });
  expect(plan({ instance_id: 'production', option_set: 'fast' }, { speed: '2' })).toMatchObject({
    ...{ kind: 'version', version: 'v1', options: { speed: '2' } },
  });
});

test('what is the default already changes nothing, and every other candidate without a promotion says why', () => {
  expect(plan({ instance_id: 'production', version_id: 'v1' })).toMatchObject({ kind: 'none' });
  expect(plan({ ensemble_id: 'three' })).toMatchObject({
    kind: 'none',
    reason: expect.stringContaining('ensemble'),
  });
  expect(plan({ instance_id: 'gone' })).toMatchObject({ kind: 'none', reason: 'Instance gone was deleted.' });
  // The default keeps its options: those of the candidate belong to another instance.
  expect(plan({ instance_id: 'staging', option_set: 'fast' }, { speed: '2' })).toMatchObject({
    kind: 'none',
  });
});
