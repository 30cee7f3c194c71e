import { expect, test } from 'vitest';
import { replayTokens, type TokenEvent } from './license-history.ts';

const event = (runId: string, status: string, tokens = 1): TokenEvent => ({ runId, status, tokens });

test('tokens are in use from a start to the end or the requeue of a run', () => {
  const events = [
    event('a', 'queued'),
    event('b', 'queued', 2),
    event('a', 'running'),
    event('b', 'running', 2),
    event('a', 'queued'),
    event('a', 'running'),
    event('b', 'succeeded', 2),
    event('a', 'canceled'),
  ];
  expect(replayTokens(events, 3)).toEqual({ starts: 3, peak: 3, violations: [] });
});

test('a start beyond the total is a violation that names the runs', () => {
  const { violations } = replayTokens([event('a', 'running'), event('b', 'running')], 1);
  expect(violations).toEqual(['b started when 2 of 1 tokens were in use: a, b']);
});
