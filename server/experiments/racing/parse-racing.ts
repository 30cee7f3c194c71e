/** Parses the race that a scenario test requests, and builds its plan from the requested runs. Pure. */
import type { BatchExperimentCreate } from '@switchyard/contract/experiments/batch-experiments.ts';
import { RACED_CONFIGURATIONS_MAX } from '@switchyard/contract/limits.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { RandomGenerator, shuffle } from '../../platform/random-generator.ts';
import type { RequestedRun } from '../operations/plan-run.ts';
import { RACE_INPUTS_MIN } from '../statistics/racing/race.ts';
import {
  formatConfigurationKey,
  type RaceConfiguration,
  type RaceInputGroup,
  type RacePlan,
} from '../statistics/racing/race-plan.ts';
import { type ComparisonSettings, listClusterings } from '../store/comparison-settings.ts';

const CONFIDENCE_DEFAULT = 0.95;

/** The settings of a race. */
export type RaceRequest = Pick<RacePlan, 'confidence' | 'indicator'>;

/** Returns the settings of the requested race; null without one. Throws a 400 for a test that cannot race. */
export function parseRacing(
  { racing, type }: Pick<BatchExperimentCreate, 'racing' | 'type'>,
  settings: ComparisonSettings,
): RaceRequest | null {
  if (!racing) return null;
  if (type !== 'scenario')
    throw badRequest(
      'racing is given, but type is not "scenario"; set type to "scenario", or leave racing out.',
    );
  // A race takes inputs as independent; those of one cluster would be counted as many.
  if (listClusterings(settings).length > 0)
    throw badRequest(
      'racing and cluster_by are both given, but a race takes all inputs as independent of each other; leave one of them out.',
    );
  const { objectives, primary } = settings;
  const directed = Object.entries(objectives ?? {}).flatMap(([name, objective]) => {
    const direction = typeof objective === 'string' ? objective : objective.direction;
    return direction === 'minimize' || direction === 'maximize' ? [name] : [];
  });
  const indicator = primary ?? (directed.length === 1 ? directed[0] : undefined);
  if (indicator === undefined)
    throw badRequest(
      `racing is given, and ${formatCount(directed.length, 'indicator')} of objectives ${directed.length === 1 ? 'has' : 'have'} a direction; name the indicator that decides as primary.`,
    );
  return { confidence: racing.confidence ?? CONFIDENCE_DEFAULT, indicator };
}

/** The requested runs, with what the race needs to know about them. */
export interface RaceGrid {
  runs: readonly RequestedRun[];
  /** The version of each instance. */
  versions: ReadonlyMap<string, string>;
  /** Returns the hash of the content of a run's input. */
  findContent: (run: RequestedRun) => string;
  /** Seed of the random order of the inputs. */
  seed: string;
}

/** Returns the plan of the race. Throws a 400 unless every configuration runs every input equally often. */
export function buildRace(request: RaceRequest, { runs, versions, findContent, seed }: RaceGrid): RacePlan {
  const configurations = new Map<string, { configuration: RaceConfiguration; runs: Set<string> }>();
  const groups = new Map<string, RaceInputGroup>();
  const repetitions = new Map<string, Set<number>>();
  for (const run of runs) {
    const { instance_id, ensemble_id, option_set, scenario_id, input_set_id, input_id, repetition } = run;
    const version_id = run.version_id || (instance_id === '' ? '' : (versions.get(instance_id) ?? ''));
    const configuration = {
      instance_id,
      version_id,
      ...(ensemble_id === '' ? {} : { ensemble_id }),
      option_set,
      scenario_id,
    };
    const key = formatConfigurationKey(configuration);
    const found = configurations.get(key) ?? { configuration, runs: new Set() };
    configurations.set(key, found);
    const input = JSON.stringify([input_set_id, input_id]);
    const cell = JSON.stringify([input, repetition]);
    if (found.runs.has(cell)) throw requireGrid('two of its runs are equal');
    found.runs.add(cell);
    const known = repetitions.get(input);
    repetitions.set(input, (known ?? new Set()).add(repetition));
    if (known) continue;
    const content = findContent(run);
    const group = groups.get(content) ?? { content, inputs: [] };
    group.inputs.push({ input_set_id, input_id });
    groups.set(content, group);
  }
  const numbers = [...new Set([...repetitions.values()].flatMap((set) => [...set]))].sort((a, b) => a - b);
  const cells = repetitions.size * numbers.length;
  if ([...configurations.values()].some(({ runs }) => runs.size !== cells))
    throw requireGrid(
      `with ${formatCount(repetitions.size, 'input')} and ${formatCount(numbers.length, 'repetition')}, each needs ${formatCount(cells, 'run')}`,
    );
  checkSizes(configurations.size, groups.size);
  return {
    ...request,
    configurations: [...configurations.values()].map(({ configuration }) => configuration),
    repetitions: numbers,
    inputs: shuffle([...groups.values()], new RandomGenerator(seed)),
    planned_inputs: 0,
    planned_runs: 0,
    decided_inputs: 0,
    dropped: [],
  };
}

function requireGrid(reason: string) {
  return badRequest(
    `racing is given, but the configurations do not run the same inputs equally often: ${reason}; request each configuration once with every input and repetition.`,
  );
}

function checkSizes(configurations: number, inputs: number): void {
  if (configurations < 2)
    throw badRequest(
      'racing is given, but all runs have the same configuration; request at least two, or leave racing out.',
    );
  if (configurations > RACED_CONFIGURATIONS_MAX)
    throw badRequest(
      `racing is given with ${configurations} configurations; a race has at most ${RACED_CONFIGURATIONS_MAX}.`,
    );
  if (inputs <= RACE_INPUTS_MIN)
    throw badRequest(
      `racing is given, but the first decision comes after ${RACE_INPUTS_MIN} distinct inputs, and the test has ${inputs}; use at least ${RACE_INPUTS_MIN + 1}, or leave racing out.`,
    );
}
