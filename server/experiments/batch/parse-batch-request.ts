/** Parses a request for a batch experiment, and expands it to the runs that it requests, in order. Pure. */
import type { ApplicationObjective } from '@switchyard/contract/applications/indicators.ts';
import type { BatchExperimentCreate } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { BatchRunCreate } from '@switchyard/contract/experiments/batch-plan.ts';
import {
  BATCH_RUNS_MAX,
  OPTION_SET_KEY_CHARS_MAX,
  OPTION_SETS_CHARS_MAX,
  OPTION_SETS_MAX,
} from '@switchyard/contract/limits.ts';
import { stringifyOptions, validateOptions } from '../../apps/instances/rules.ts';
import { badRequest, type Problem, quoteValue, truncate } from '../../platform/http/errors/problem.ts';
import { parsePropertySettings } from '../input-properties/property-sources.ts';
import { parseComparisonSettings } from '../operations/parse-comparison-settings.ts';
import type { RequestedRun, Seeds } from '../operations/plan-run.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';

const SEED_OPTION_DEFAULT = 'seed';

type SeedFields = Pick<
  BatchExperimentCreate,
  'seeds' | 'seed_option' | 'runs' | 'repetitions' | 'option_sets'
>;

/** Returns the seeds of the request, or null. Throws a 400 for fields that cannot be combined with them. */
function parseSeeds(body: SeedFields): Seeds | null {
  const { seeds, seed_option, runs, repetitions, option_sets } = body;
  if (!seeds) {
    if (seed_option)
      throw badRequest(
        `seed_option is ${quoteValue(seed_option)}, but seeds is absent; give seeds, or leave seed_option out.`,
      );
    return null;
  }
  if (runs && runs.length > 0)
    throw badRequest(
      'seeds and runs are both given, and each of runs has its own options; give instance_ids instead of runs, or leave seeds out.',
    );
  if (typeof repetitions === 'number')
    throw badRequest(
      `seeds and repetitions are both given, and each seed is a repetition; leave repetitions out, or list ${repetitions} seeds.`,
    );
  const values = seeds.map(String);
  for (const [index, value] of values.entries()) {
    const earlier = values.indexOf(value);
    if (earlier < index)
      throw badRequest(
        `seeds.${index} is ${quoteValue(value)}, as seeds.${earlier} is; a run with the same seed is no new observation, so give each seed once.`,
      );
  }
  const option = seed_option || SEED_OPTION_DEFAULT;
  for (const value of values) {
    const error = validateOptions({ [option]: value }, 'seeds');
    if (error) throw badRequest(error);
  }
  for (const [key, options] of Object.entries(option_sets ?? {}))
    if (Object.hasOwn(options, option))
      throw badRequest(
        `option_sets.${key} has the option ${quoteValue(option)}, which seeds sets; leave it out of the option set, or name another seed_option.`,
      );
  return { option, values };
}

type OptionSets = ReadonlyMap<string, Record<string, string>>;

/** A requested run before its input set is read; a null input means every input of the set. */
type UnexpandedRun = Omit<RequestedRun, 'input_id'> & {
  input_id: string | null;
  /** Distinguishes runs that are otherwise equal; null for none. */
  run_number: string | null;
  /** The field of the request, for error messages. */
  field: string;
};

/** A parsed request. It satisfies every rule that needs no database. */
export interface BatchRequest {
  kind: 'product' | 'runs';
  /** The input set of the request; empty for none. */
  inputSetId: string;
  instanceIds: readonly string[];
  optionSets: OptionSets;
  settings: ComparisonSettings;
  /** The number of repetitions of each of `runs`; the runs of a product are expanded when the inputs are known. */
  repetitions: number;
  /** The seed of each repetition; null for none. */
  seeds: Seeds | null;
  runs: readonly UnexpandedRun[];
}

/** Parses the request for an application with the objective. Throws a 400 that names the invalid field and its value. */
export function parseBatchRequest(
  body: BatchExperimentCreate,
  objective: ApplicationObjective | null,
): BatchRequest {
  const { repetitions } = body;
  const inputSetId = body.input_set_id || '';
  const optionSets = parseOptionSets(body);
  const settings = { ...parseComparisonSettings(body, objective), ...parsePropertySettings(body) };
  const seeds = parseSeeds(body);
  const instances = body.instance_ids ?? [];
  const runs = body.runs ?? [];
  if (instances.length > 0 && runs.length > 0)
    throw badRequest('instance_ids and runs are both given; leave one of them out.');
  if (runs.length > 0) {
    if (typeof repetitions === 'number')
      throw badRequest(
        `repetitions is ${repetitions}, but runs is given and each of runs has its own repetition; leave repetitions out.`,
      );
    const parsed = runs.map((run, index) => parseRun(run, `runs.${index}`, inputSetId, optionSets));
    const common = { inputSetId, optionSets, settings, seeds };
    return { kind: 'runs', ...common, instanceIds: [], repetitions: 1, runs: parsed };
  }
  if (instances.length === 0) {
    const empty = (['instance_ids', 'runs'] as const).find((field) => body[field]);
    throw badRequest(
      empty
        ? `${empty} is empty; name at least one.`
        : 'instance_ids and runs are both absent; give one of them.',
    );
  }
  if (inputSetId === '') throw badRequest('input_set_id is absent; name the input set for the instances.');
  rejectEmptyNames(instances);
  const keys = optionSets.size === 0 ? [null] : [...optionSets.keys()];
  // Each pair is at least one run, so the check comes before the pairs are expanded.
  if (instances.length * keys.length > BATCH_RUNS_MAX)
    throw badRequest(
      `${instances.length} instances with ${keys.length} option sets are ${instances.length * keys.length} runs on each input; a batch experiment may have at most ${BATCH_RUNS_MAX} in all.`,
    );
  const product = instances.flatMap((instance_id, index) =>
    keys.map(
      (option_set): UnexpandedRun => ({
        field: `instance_ids.${index}`,
        instance_id,
        version_id: '',
        ensemble_id: '',
        option_set,
        input_set_id: inputSetId,
        input_id: null,
        scenario_id: null,
        repetition: 0,
        run_number: null,
      }),
    ),
  );
  return {
    kind: 'product',
    inputSetId,
    instanceIds: instances,
    optionSets,
    settings,
    repetitions: seeds?.values.length ?? repetitions ?? 1,
    seeds,
    runs: product,
  };
}

function rejectEmptyNames(instances: readonly string[]): void {
  for (const [index, id] of instances.entries())
    if (id === '')
      throw badRequest(`instance_ids.${index} is ""; it must be an instance of this application.`);
}

function parseRun(
  run: BatchRunCreate,
  field: string,
  inputSetId: string,
  optionSets: OptionSets,
): UnexpandedRun {
  const input_set_id = run.input_set_id || inputSetId;
  checkSide(run, field);
  if (input_set_id === '')
    throw badRequest(`${field}.input_set_id is absent, and so is input_set_id; give one of them.`);
  const option_set = run.option_set || null;
  if (option_set !== null && !optionSets.has(option_set)) {
    const known = [...optionSets.keys()].slice(0, 10).join(', ') || 'none is given';
    throw badRequest(
      `${field}.option_set is ${quoteValue(option_set)}; it must be a key of option_sets: ${truncate(known)}.`,
    );
  }
  const scenario_id = run.scenario_id || null;
  if (scenario_id !== null && !NAME.test(scenario_id))
    throw badRequest(
      `${field}.scenario_id is ${quoteValue(scenario_id)}; it may contain letters, digits, periods, underscores and hyphens.`,
    );
  return {
    field,
    instance_id: run.instance_id || '',
    version_id: run.version_id || '',
    ensemble_id: run.ensemble_id || '',
    option_set,
    input_set_id,
    input_id: run.input_id || null,
    scenario_id,
    repetition: run.repetition ?? 0,
    run_number: run.run_number || null,
  };
}

/** Throws a 400 for a run that names nothing to run, or an ensemble beside an instance or a version. */
function checkSide({ instance_id, version_id, ensemble_id }: BatchRunCreate, field: string): void {
  if (!ensemble_id) {
    if (instance_id || version_id) return;
    throw badRequest(
      `${field} has neither instance_id nor version_id, and no ensemble_id; give one of them.`,
    );
  }
  const other = instance_id ? 'instance_id' : version_id ? 'version_id' : null;
  if (other !== null)
    throw badRequest(
      `${field}.ensemble_id is ${quoteValue(ensemble_id)} and ${field}.${other} is ${quoteValue(instance_id || version_id)}; the run groups of an ensemble name its instances. Leave one of them out.`,
    );
}

const NAME = /^[A-Za-z0-9._-]+$/;

function parseOptionSets({ option_sets }: BatchExperimentCreate): OptionSets {
  const entries = Object.entries(option_sets ?? {});
  if (entries.length > OPTION_SETS_MAX)
    throw badRequest(`option_sets has ${entries.length} sets; it may have at most ${OPTION_SETS_MAX}.`);
  for (const [key, options] of entries) {
    if (!NAME.test(key) || key.length > OPTION_SET_KEY_CHARS_MAX)
      throw badRequest(
        `option_sets has the key ${quoteValue(key)}; a key has 1 to ${OPTION_SET_KEY_CHARS_MAX} letters, digits, periods, underscores and hyphens.`,
      );
    const error = validateOptions(options, `option_sets.${key}`);
    if (error) throw badRequest(error);
  }
  const sets = entries.map(([key, options]): [string, Record<string, string>] => [
    key,
    stringifyOptions(options),
  ]);
  const chars = JSON.stringify(Object.fromEntries(sets)).length;
  if (chars > OPTION_SETS_CHARS_MAX)
    throw badRequest(
      `option_sets is ${chars} characters long as JSON; it may have at most ${OPTION_SETS_CHARS_MAX}.`,
    );
  return new Map(sets);
}

/**
 * Returns every requested run, in order; `inputIds` has the inputs of each input set. Throws a 400 for an unknown input, for
 * a run requested twice, and for too many runs.
 */
export function expandRequestedRuns(
  request: BatchRequest,
  inputIds: ReadonlyMap<string, readonly string[]>,
): RequestedRun[] {
  const known = new Map([...inputIds].map(([set, inputs]) => [set, new Set(inputs)]));
  const expanded: RequestedRun[] = [];
  const seen = new Map<string, string>();
  const repetitions = new RepetitionNumbers();
  for (const { field, input_id, run_number, ...run } of request.runs) {
    const inputs = inputIds.get(run.input_set_id) ?? [];
    if (input_id !== null && !known.get(run.input_set_id)?.has(input_id))
      throw badRequest(
        `${field}.input_id is ${quoteValue(input_id)}; it must be an input of the input set ${quoteValue(run.input_set_id)}.`,
      );
    for (const input of input_id === null ? inputs : [input_id])
      for (let more = 0; more < request.repetitions; more += 1) {
        const one = { ...run, input_id: input, repetition: run.repetition + more };
        const key = JSON.stringify([...Object.values(one), run_number]);
        const earlier = seen.get(key);
        if (earlier !== undefined)
          throw badRequest(
            `${field} requests the same run as ${earlier}; give it another input, option set, scenario, repetition or run_number, or leave it out.`,
          );
        seen.set(key, field);
        expanded.push({ ...one, repetition: repetitions.assign(one) });
        if (expanded.length > BATCH_RUNS_MAX) throw tooManyRuns(request, inputIds);
      }
  }
  return expanded;
}

/** Assigns repetition numbers: unique among runs that are equal in everything else. */
class RepetitionNumbers {
  readonly #used = new Map<string, { numbers: Set<number>; next: number }>();

  /** Returns the repetition of the run, or the lowest free number when another run has it. */
  assign({ repetition, ...rest }: RequestedRun): number {
    const key = JSON.stringify(Object.values(rest));
    const group = this.#used.get(key) ?? { numbers: new Set(), next: 0 };
    this.#used.set(key, group);
    let free = repetition;
    if (group.numbers.has(repetition)) {
      while (group.numbers.has(group.next)) group.next += 1;
      free = group.next;
    }
    group.numbers.add(free);
    return free;
  }
}

function tooManyRuns(
  { kind, inputSetId, instanceIds, optionSets, repetitions, seeds }: BatchRequest,
  inputIds: ReadonlyMap<string, readonly string[]>,
): Problem {
  if (kind === 'runs')
    return badRequest(
      `runs expands to more than ${BATCH_RUNS_MAX} runs, the maximum of a batch experiment; request fewer.`,
    );
  const inputs = inputIds.get(inputSetId)?.length ?? 0;
  const factors = [inputs, instanceIds.length, Math.max(1, optionSets.size), repetitions];
  const runs = factors.reduce((product, factor) => product * factor, 1);
  return badRequest(
    `${inputs} inputs on ${instanceIds.length} instances with ${Math.max(1, optionSets.size)} option sets and ${repetitions} ${seeds ? 'seeds' : 'repetitions'} are ${runs} runs; a batch experiment may have at most ${BATCH_RUNS_MAX}.`,
  );
}
