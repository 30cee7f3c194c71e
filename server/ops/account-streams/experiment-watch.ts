/** Finds the experiments that have started or ended since the last look, by comparing the started ones. */

import {
  type ExperimentState,
  findExperimentStates,
  listStartedExperiments,
} from '../../experiments/store/started-experiments.ts';
import type { Reader } from '../../platform/database/database.ts';

const STARTED_MAX = 1000;

/** The experiments that were started at the last look. */
export class ExperimentWatch {
  #started: Map<string, ExperimentState> | null = null;

  /** Returns the changes since the last call that succeeded; the first call returns none. */
  async listChanges(db: Reader): Promise<ExperimentState[]> {
    const rows = await listStartedExperiments(db, STARTED_MAX);
    const before = this.#started;
    const started = new Map(rows.map((row) => [row.uid, row]));
    const ended = before === null ? [] : [...before.keys()].filter((uid) => !started.has(uid));
    const changes = await findExperimentStates(db, ended);
    this.#started = started;
    return before === null ? [] : [...rows.filter(({ uid }) => !before.has(uid)), ...changes];
  }

  /** Forgets the last look. */
  reset(): void {
    this.#started = null;
  }
}
