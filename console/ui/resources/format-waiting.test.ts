import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { expect, test } from 'vitest';
import { formatWaiting } from './format-waiting.ts';

const gurobi = { name: 'gurobi', required: 2, total: 4, used: 3, holders: [] };

test.each<[Partial<Waiting>, string]>([
  [{ reason: 'no_worker', can_be_provisioned: false }, 'No worker has a slot for it'],
  [
    { reason: 'no_worker', can_be_provisioned: true },
    'No worker has a slot for it; the server can start one',
  ],
  [
    { reason: 'labels_missing', required_labels: ['gpu', 'region=eu'] },
    'No worker has the labels gpu, region=eu',
  ],
  [
    { reason: 'class_too_large', required_resources: { cores: 16, memory_bytes: 60e9 } },
    'Every worker is too small: it needs 16 cores and 60\u00a0GB',
  ],
  [{ reason: 'licenses_taken', licenses: [gurobi] }, 'Requires 2 of gurobi, 3 of 4 in use'],
  [{ reason: 'licenses_missing', licenses: [{ ...gurobi, total: 1 }] }, 'Requires 2 of 1 tokens of gurobi'],
  [
    { reason: 'quota', quota: { owner: 'application', limit: 2, running: 2 } },
    'Quota of the application: 2 of 2 runs at once',
  ],
  [
    { reason: 'workflows_running', workflows: { level: 2, limit: 16 } },
    '16 workflows of level 2 on every worker',
  ],
  [{ reason: 'slots_taken', slots: { total: 1, free: 0 } }, 'The slot is taken; this run is next'],
  [
    { reason: 'slots_taken', slots: { total: 4, free: 0 }, place: 3 },
    'All 4 slots are taken; 2 runs before it',
  ],
  [
    { reason: 'resources_taken', required_resources: { cores: 8, memory_bytes: 16e9 }, place: 2 },
    'No worker has 8 cores and 16\u00a0GB free; 1 run before it',
  ],
  [{ reason: 'runs_before', slots: { total: 4, free: 1 }, place: 2 }, '1 of 4 slots free; 1 run before it'],
  [{ reason: 'about_to_start', slots: { total: 1, free: 1 } }, '1 of 1 slot free; about to start'],
  [
    { reason: 'host_fault', fault: { message: 'The disk is full', retry_at: '2026-11-20T08:00:00.000Z' } },
    'Fault of the host: The disk is full',
  ],
  // A server of another release gives no facts, or a reason that this console does not know.
  [{ reason: 'slots_taken' }, 'The sentence.'],
  [{ reason: 'other' as 'quota' }, 'The sentence.'],
])('%j reads as %s', (fields, text) => {
  expect(formatWaiting({ place: 1, reason: 'quota', message: 'The sentence.', ...fields })).toBe(text);
});
