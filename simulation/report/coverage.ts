/** What the simulations of a run have reached, and what none has. */
import { RUN_TRANSITIONS } from '@switchyard/contract/states.ts';
import { FAULT_STEPS } from '../load/fault-steps.ts';
import { type DatabaseKind, STEPS_OF } from '../load/plan.ts';
import { NO_NETWORK_FAULTS } from '../network/network.ts';
import { NO_RECEIVER_FAULTS } from '../network/receivers.ts';
import { NO_CLUSTER_FAULTS } from '../peers/cluster-faults.ts';
import { NO_PROVIDER_FAULTS } from '../peers/identity-provider.ts';
import { POSTGRES_STEPS } from '../postgres/fault-steps.ts';
import type { SimulationReport } from '../process/messages.ts';

/** Adds the counts of simulations. */
export class Coverage {
  readonly #database: DatabaseKind;
  readonly #transitions = new Map<string, number>();
  readonly #faults = new Map<string, number>();
  readonly #jobs = new Map<string, number>();
  readonly #logs = new Map<string, number>();
  #simulations = 0;
  #events = 0;
  #simulatedMs = 0;
  #processorMs = 0;

  constructor(database: DatabaseKind = 'sqlite') {
    this.#database = database;
  }

  add({ transitions, faults, jobs, logs, events, simulatedMs, processorMs }: SimulationReport): void {
    this.#simulations += 1;
    this.#events += events;
    this.#simulatedMs += simulatedMs;
    this.#processorMs += processorMs;
    addCounts(this.#transitions, transitions);
    addCounts(this.#faults, faults);
    addCounts(this.#jobs, jobs);
    addCounts(this.#logs, logs);
  }

  /** Returns the report as text. */
  format(): string {
    const kinds = STEPS_OF[this.#database];
    const seconds = this.#processorMs / 1000;
    const speed = Math.round(this.#simulatedMs / this.#processorMs);
    const transitions = Object.entries(RUN_TRANSITIONS).flatMap(([from, ends]) =>
      ends.map((to) => `${from} → ${to}`),
    );
    const faults = [
      ...Object.keys({ ...FAULT_STEPS, ...POSTGRES_STEPS }).filter((name) => name in kinds),
      ...Object.keys(NO_NETWORK_FAULTS),
      ...Object.keys(NO_RECEIVER_FAULTS),
      'lateRepeats',
      ...(this.#database === 'sqlite' ? Object.keys({ ...NO_CLUSTER_FAULTS, ...NO_PROVIDER_FAULTS }) : []),
    ];
    return [
      `${this.#simulations} simulations of ${Object.keys(kinds).length} kinds of steps, ${this.#events} events`,
      `${Math.round(this.#simulatedMs / 3_600_000)} h simulated in ${Math.round(seconds)} s of processor time: ${speed} s for each second, ${Math.round(this.#events / seconds)} events a second`,
      formatCounts('transitions', this.#transitions, transitions),
      formatCounts('faults', this.#faults, faults),
      formatCounts('rows of jobs', this.#jobs, [...this.#jobs.keys()]),
      formatCounts('log', this.#logs, []),
    ].join('\n');
  }
}

function addCounts(to: Map<string, number>, counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) to.set(name, (to.get(name) ?? 0) + count);
}

function formatCounts(
  title: string,
  counts: ReadonlyMap<string, number>,
  expected: readonly string[],
): string {
  const reached = [...counts].filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  const missing = expected.filter((name) => !counts.get(name));
  const list = reached.map(([name, count]) => `${name} ${count}`).join(', ');
  return `${title}: ${list}${missing.length === 0 ? '' : `\n  never reached: ${missing.join(', ')}`}`;
}
