/**
 * Reads the state of a search from the runs of its experiment. A run of a step has the tested version as its scenario and
 * the round as its repetition; its own version is either the tested or the good one.
 */
import type { Reader } from '../../database/database.ts';
import { parseObservation } from '../results/batch-analysis.ts';
import { readObservations } from '../results/read-observations.ts';
import { computeRoundEffect, NotPositiveError, type RoundScale } from '../statistics/bisect/round-effect.ts';
import {
  type RoundOutcome,
  runSearch,
  type SearchResult,
  type SearchSettings,
} from '../statistics/bisect/search.ts';
import type { Observation } from '../statistics/observations.ts';
import { type Outcome, readOutcome } from '../statistics/paired/outcomes.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** A search so far; `error` is the reason why it cannot continue. */
export type SearchState = { search: SearchResult; error: null } | { search: null; error: string };

/** Returns the settings of the search; a relative difference is the logarithm of a ratio. */
export function buildSearchSettings(definition: BisectDefinition): SearchSettings {
  const { difference, version_ids, input_ids, confidence, maximum_runs } = definition;
  return {
    versions: version_ids,
    difference: difference.type === 'relative' ? Math.log1p(difference.value) : difference.value,
    confidence,
    runsPerRound: 2 * input_ids.length,
    maximumRuns: maximum_runs,
  };
}

/** Computes the search from all runs of the experiment. */
export async function readSearch(db: Reader, experiment: ExperimentsTable): Promise<SearchState> {
  const definition = parseBisectDefinition(experiment);
  const rounds = new RoundReader(definition);
  for await (const batch of readObservations(db, experiment.uid))
    for (const run of batch) {
      // Only a run that could not be created has no id. Its version or its instance is gone.
      if (run.run_id === undefined)
        return { search: null, error: `A run of the version "${run.version_id}" could not be created.` };
      rounds.add(parseObservation(run));
    }
  try {
    return {
      search: runSearch(buildSearchSettings(definition), (version) => rounds.list(version)),
      error: null,
    };
  } catch (error) {
    if (error instanceof NotPositiveError) return { search: null, error: error.message };
    throw error;
  }
}

/** The outcomes of one input in one round. */
interface InputOutcomes {
  control?: Outcome;
  candidate?: Outcome;
}

/** Collects runs, and lists the rounds of a version. */
class RoundReader {
  readonly #indicator: string;
  readonly #scale: RoundScale;
  readonly #inputIds: readonly string[];
  readonly #goodVersion: string;
  /** By version, round and input. */
  readonly #rounds = new Map<string, Map<number, Map<string, InputOutcomes>>>();

  constructor({ indicator, direction, difference, input_ids, good_version_id }: BisectDefinition) {
    this.#indicator = indicator;
    this.#scale = { measure: difference.type, direction };
    this.#inputIds = input_ids;
    this.#goodVersion = good_version_id;
  }

  add(run: Observation): void {
    const rounds = getOrCreate(this.#rounds, run.scenario_id ?? '', () => new Map());
    const inputs = getOrCreate(rounds, run.repetition ?? 0, () => new Map());
    const outcomes = getOrCreate(inputs, run.input_id, (): InputOutcomes => ({}));
    const side = run.version_id === this.#goodVersion ? 'control' : 'candidate';
    outcomes[side] = readOutcome(run, this.#indicator);
  }

  /** Lists the rounds of the version. A run that was deleted counts as canceled. */
  list(version: string): RoundOutcome[] {
    const rounds = this.#rounds.get(version) ?? new Map<number, Map<string, InputOutcomes>>();
    const count = Math.max(-1, ...rounds.keys()) + 1;
    return Array.from({ length: count }, (_, round) =>
      computeRoundEffect(
        this.#inputIds.map((input) => {
          const { control = 'canceled', candidate = 'canceled' } = rounds.get(round)?.get(input) ?? {};
          return { control, candidate };
        }),
        this.#scale,
      ),
    );
  }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}
