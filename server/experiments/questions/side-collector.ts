/** Collects both sides of a question while the runs of an experiment are read for its results. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { RawObservation } from '../results/run-reader.ts';

/** The properties that name a group of runs. */
export interface GroupName {
  instance_id: string;
  version_id: string;
  ensemble_id?: string;
  option_set?: string | null;
  scenario_id?: string | null;
}

/** A group of runs: its first run, whose executable and options stand for all, and the contents of its inputs. */
export interface CollectedGroup {
  name: GroupName;
  first_run_id: RunId;
  contents: Set<string>;
}

const ENDED = new Set(['succeeded', 'failed']);

/** The groups of the runs that it has seen, without those that joined the plan of the experiment. */
export class SideCollector {
  readonly #groups = new Map<string, CollectedGroup>();
  /** True once a run has ended: somebody may know a result. */
  hasEnded = false;

  /** Passes the runs on, and collects their groups. */
  async *collect(batches: AsyncIterable<RawObservation[]>): AsyncGenerator<RawObservation[]> {
    for await (const runs of batches) {
      for (const run of runs) this.#add(run);
      yield runs;
    }
  }

  /** Returns the groups that belong to a side. */
  listGroups(belongs: (name: GroupName) => boolean): CollectedGroup[] {
    return [...this.#groups.values()].filter(({ name }) => belongs(name));
  }

  #add(run: RawObservation): void {
    if (run.run_id === undefined || run.is_joined === true) return;
    if (ENDED.has(run.status)) this.hasEnded = true;
    const { instance_id, version_id, ensemble_id = '', option_set, scenario_id } = run;
    const name = { instance_id, version_id, ensemble_id, option_set, scenario_id };
    const key = formatGroupKey(name);
    const group = this.#groups.get(key) ?? { name, first_run_id: run.run_id, contents: new Set() };
    if (run.content) group.contents.add(run.content);
    this.#groups.set(key, group);
  }
}

/** Returns a key that is equal for equal groups. */
export function formatGroupKey({
  instance_id,
  version_id,
  ensemble_id,
  option_set,
  scenario_id,
}: GroupName): string {
  return JSON.stringify([instance_id, version_id, ensemble_id ?? '', option_set ?? '', scenario_id ?? '']);
}
