/** The spans of attempts that end in every way. */
import type { EndedRun } from '@switchyard/runner';
import { describe, expect, test } from 'vitest';
import { parseStoredContext } from '../../platform/tracing/trace-context.ts';
import type { EndedSpan, Tracing } from '../../platform/tracing/tracing.ts';
import { NOT_STARTED } from '../submit/not-started.ts';
import { recordAttempt } from './run-spans.ts';
import { buildTraceEnvironment, findRunTrace } from './run-trace.ts';

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const FILE = { path: '', bytes: 0 };

/** Collects the ended spans in place of an exporter, and samples every trace. */
function collectSpans(): Tracing & { spans: EndedSpan[] } {
  const spans: EndedSpan[] = [];
  return {
    spans,
    isSampled: () => true,
    record: (span) => spans.push(span),
    close: async () => {},
  };
}

type Attempt = Parameters<typeof recordAttempt>[1];

/** A run that was created at 1000, claimed at 2000 and executed from 3000 to 7000. */
function buildAttempt(columns: Partial<Attempt['run']> = {}): Attempt {
  const ended: EndedRun = {
    ...{ kind: 'ended', succeeded: true, reason: 'exit', error: '', exitCode: 0, signal: null },
    ...{ stdout: FILE, stderr: FILE, startedAt: 3000, endedAt: 7000, executionMs: 4000 },
    ...{ containment: 'sandbox', isLogTruncated: false },
  };
  const run = {
    ...NOT_STARTED,
    ...{ id: 'run-1', account_id: 'account', application_id: 'app', instance_id: 'latest', version_id: '' },
    ...{ run_type: 'standard', execution_class: '6c9500mb870s', trace_context: CALLER },
    ...{ created_at: 1000, initiated_at: 2000, attempt: 1, fence: 1, worker_id: 'worker-1' },
    ...columns,
  } as Attempt['run'];
  return { run, claimedAt: 2010, end: ended, status: 'succeeded', storedAt: 7050 };
}

const formatTimes = (spans: readonly EndedSpan[]) =>
  spans.map(({ name, startedAt, endedAt, isError }) => [name, startedAt, endedAt, isError]);

describe('an attempt', () => {
  test('that succeeds has every phase, without gaps, and then the run', () => {
    const tracing = collectSpans();
    recordAttempt(tracing, buildAttempt());
    expect(formatTimes(tracing.spans)).toEqual([
      ['queued', 1000, 2000, false],
      ['claim', 2000, 2010, false],
      ['prepare', 2010, 3000, false],
      ['execute', 3000, 7000, false],
      ['store results', 7000, 7050, false],
      ['run', 1000, 7050, false],
    ]);
  });

  test('that could not start has an error of its preparation, and the run continues', () => {
    const tracing = collectSpans();
    const end = { kind: 'unstarted' } as const;
    recordAttempt(tracing, { ...buildAttempt(), end, status: 'queued', storedAt: 2500 });
    expect(formatTimes(tracing.spans)).toEqual([
      ['queued', 1000, 2000, false],
      ['claim', 2000, 2010, false],
      ['prepare', 2010, 2500, true],
    ]);
  });

  test('after another one waits from the time at which the run was queued again, under its own ids', () => {
    const [first, second] = [collectSpans(), collectSpans()];
    const attempt = buildAttempt();
    recordAttempt(first, { ...attempt, end: { kind: 'lost', error: 'secret' }, status: 'queued' });
    const run = { ...attempt.run, requeued_at: 1500, fence: 2, attempt: 2 };
    recordAttempt(second, { ...attempt, run });
    expect(formatTimes(second.spans)[0]).toEqual(['queued', 1500, 2000, false]);
    const ids = [...first.spans, ...second.spans].map(({ context }) => context.spanId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set([...first.spans, ...second.spans].map(({ parent }) => parent?.spanId)).size).toBe(2);
    expect(JSON.stringify(first.spans)).not.toContain('secret');
  });

  test('that died with its worker has the phases that are known, and an error', () => {
    const tracing = collectSpans();
    const end = { kind: 'dead' } as const;
    recordAttempt(tracing, {
      ...buildAttempt(),
      claimedAt: undefined,
      end,
      status: 'queued',
      storedAt: 40_000,
    });
    expect(formatTimes(tracing.spans)).toEqual([
      ['queued', 1000, 2000, false],
      ['execute', 2000, 40_000, true],
    ]);
    expect(tracing.spans[1]?.attributes).toMatchObject({
      'switchyard.worker.id': 'worker-1',
      'switchyard.run.end_reason': 'worker_died',
    });
    const failed = collectSpans();
    recordAttempt(failed, { ...buildAttempt(), end, status: 'failed', storedAt: 40_000 });
    expect(formatTimes(failed.spans).at(-1)).toEqual(['run', 1000, 40_000, true]);
  });

  test('of a machine whose clock is behind has no phase that ends before it begins', () => {
    const tracing = collectSpans();
    const attempt = buildAttempt();
    const end = { ...attempt.end, startedAt: 500 } as Attempt['end'];
    recordAttempt(tracing, { ...attempt, claimedAt: 400, end, storedAt: 450 });
    for (const { name, startedAt, endedAt } of tracing.spans.filter(({ name }) => name !== 'run'))
      expect(endedAt, name).toBeGreaterThanOrEqual(startedAt);
  });

  test('costs nothing without an exporter', () => {
    expect(() => recordAttempt(null, buildAttempt())).not.toThrow();
  });
});

test('the variables of the app name the span of its execution', () => {
  const tracing = collectSpans();
  const { run } = buildAttempt();
  recordAttempt(tracing, buildAttempt());
  const execute = tracing.spans.find(({ name }) => name === 'execute');
  const { TRACEPARENT = '' } = buildTraceEnvironment(run, tracing);
  expect(TRACEPARENT.split('-')[2]).toBe(execute?.context.spanId);
  expect(buildTraceEnvironment(run, null)).toEqual({ TRACEPARENT: CALLER });
  expect(buildTraceEnvironment({ ...run, trace_context: null }, null)).toEqual({});
});

test('a run without a caller begins a trace, which every process finds', () => {
  const run = { ...buildAttempt().run, trace_context: null };
  const [one, other] = [findRunTrace(run, collectSpans()), findRunTrace(run, collectSpans())];
  expect(one.parent).toBeNull();
  expect(one.run).toEqual(other.run);
  expect(one.run.traceId).not.toBe(parseStoredContext(CALLER)?.traceId);
});
