import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { listCauses } from './list-causes.ts';

type Run = Parameters<typeof listCauses>[0];

const limits = (cores: number, duration_ms = 60_000) =>
  JSON.stringify({ cores, memory_bytes: 2e9, duration_ms });
const run = (changes: Partial<Run> = {}): Run => ({
  id: 'run-1' as RunId,
  limits: limits(1),
  execution_ms: 1000,
  runtime_version: '26.1.0',
  containment: 'sandbox',
  network: 0,
  secrets_collection_id: null,
  options_summary: '[]',
  ...changes,
});
const list = (original: Run, replay: Run) =>
  listCauses(original, replay).map(({ cause, observed }) => `${cause}${observed ? ' observed' : ''}`);

test.for<{ title: string; both?: Partial<Run>; original?: Partial<Run>; causes: string[] }>([
  { title: 'one core and nothing else', causes: ['host', 'randomness'] },
  { title: 'several cores', both: { limits: limits(4) }, causes: ['host', 'threads', 'randomness'] },
  {
    title: 'other cores',
    original: { limits: limits(2) },
    causes: ['host observed', 'threads', 'randomness'],
  },
  {
    title: 'another runtime',
    original: { runtime_version: '26.0.1' },
    causes: ['runtime observed', 'host', 'randomness'],
  },
  {
    title: 'another containment',
    original: { containment: 'limits' },
    causes: ['containment observed', 'host', 'randomness'],
  },
  {
    title: 'an option for the time',
    both: { options_summary: '[{"name":"solve.time_limit","value":"10","source":"run"}]' },
    causes: ['host', 'wall_clock_limit', 'randomness'],
  },
  {
    title: 'a run of the maximum duration',
    original: { execution_ms: 60_002 },
    causes: ['wall_clock_limit observed', 'host', 'randomness'],
  },
  { title: 'network access', both: { network: 1 }, causes: ['host', 'network', 'randomness'] },
  {
    title: 'a run that never started',
    original: { limits: null, execution_ms: null, runtime_version: null, containment: '' },
    causes: ['host', 'randomness'],
  },
])('$title: $causes', ({ both = {}, original = {}, causes }) => {
  expect(list(run({ ...both, ...original }), run(both))).toEqual(causes);
});

test('no cause names an option, because it can be hidden from the reader', () => {
  const both = run({ options_summary: '[{"name":"internal_time","value":"10","source":"run"}]' });
  expect(JSON.stringify(listCauses(both, both))).not.toContain('internal');
});
