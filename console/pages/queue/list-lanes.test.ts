import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Worker } from '@switchyard/contract/workers/workers.ts';
import { describe, expect, test } from 'vitest';
import { listLanes } from './list-lanes.ts';

const SMALL = '6c9500mb870s';
const LARGE = '16c60gb12h';
const run = (id: string, execution_class: string = SMALL) => ({ id, execution_class }) as ActiveRun;
const workerRun = (run_id: string, execution_class: ExecutionClass = SMALL) => ({
  run_id: run_id as RunId,
  application_id: 'app' as ApplicationId,
  application_name: 'App',
  execution_class,
  started_at: '2026-11-20T08:00:00.000Z',
});

function buildWorker(fields: Partial<Worker>): Worker {
  return {
    ...{
      id: 'w',
      status: 'active',
      host: 'solver',
      version: '1.7.0',
      started_at: '2026-11-20T08:00:00.000Z',
    },
    ...{ heartbeat_at: '2026-11-20T08:00:00.000Z', draining_since: null },
    ...{ kind: 'process', labels: [], cores: null, memory_bytes: null },
    ...{ slots: [], runs: [], other_runs: 0 },
    ...fields,
  };
}

const pool = (slots: number, busy: number, ...execution_classes: ExecutionClass[]) => ({
  ...{ slots, busy },
  execution_classes: execution_classes.length > 0 ? execution_classes : [...EXECUTION_CLASSES],
});

/** Returns the title of each group with its lanes: the id of a run, or the kind. */
function describeLanes(workers: Worker[], running: ActiveRun[]): Record<string, string[]> {
  return Object.fromEntries(
    listLanes(workers, running).map(({ title, lanes }) => [
      title,
      lanes.map((lane) => (lane.kind === 'run' ? lane.run.id : lane.kind)),
    ]),
  );
}

describe('lanes', () => {
  test('are one for each slot, with runs of this account, of others, and free ones', () => {
    const worker = buildWorker({ slots: [pool(4, 2)], runs: [workerRun('one')], other_runs: 1 });
    expect(describeLanes([worker], [run('one')])).toEqual({
      'solver: 4 slots for all execution classes': ['one', 'other', 'free', 'free'],
    });
  });

  test('belong to the slots that serve the class of the run', () => {
    const slots = [pool(1, 1, SMALL), pool(1, 1, LARGE)];
    const worker = buildWorker({ host: '', slots, runs: [workerRun('big', LARGE), workerRun('one')] });
    expect(describeLanes([worker], [run('one'), run('big', LARGE)])).toEqual({
      [`w: 1 slot for ${SMALL}`]: ['one'],
      [`w: 1 slot for ${LARGE}`]: ['big'],
    });
  });

  test('show a run that its worker does not list yet in a free slot, and free the slot of an ended run', () => {
    const worker = buildWorker({ slots: [pool(1, 1)], runs: [workerRun('ended')] });
    expect(describeLanes([worker], [run('new')])).toEqual({
      'solver: 1 slot for all execution classes': ['new'],
    });
  });

  test('show the runs of a worker that drains, and of one that is gone', () => {
    const worker = buildWorker({ status: 'draining', runs: [workerRun('last')] });
    expect(describeLanes([worker], [run('last'), run('lost')])).toEqual({
      'solver: draining': ['last'],
      'Without a worker': ['lost'],
    });
  });
});
