/** What a request for a batch experiment means: which runs are wanted, in which order. Pure. */
import type {
  BatchExperimentCreate,
  BatchRunCreate,
} from '@switchyard/contract/experiments/batch-experiments.ts';
import {
  BATCH_RUNS_MAX,
  OPTION_SET_KEY_CHARS_MAX,
  OPTION_SETS_CHARS_MAX,
  OPTION_SETS_MAX,
} from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue, truncate } from '../../http/errors/problem.ts';
import { stringifyOptions, validateOptions } from '../../instances/rules.ts';
import { validateObjectives } from '../operations/validate-objectives.ts';

/** A run that is wanted. Empty: no instance, no version but that of the instance. */
export interface RequestedRun {
  instance_id: string;
  version_id: string;
  /** null: none. */
  option_set: string | null;
  input_set_id: string;
  input_id: string;
  scenario_id: string | null;
  repetition: number;
}

type OptionSets = ReadonlyMap<string, Record<string, string>>;

/** The same before its input set was looked at: null stands for every input. */
type AskedRun = Omit<RequestedRun, 'input_id'> & {
  input_id: string | null;
  /** Distinguishes runs that are otherwise the same; null: nothing does. */
  run_number: string | null;
  /** Where it stands in the request. */
  field: string;
};

/** What is asked for, with the rules that need no database kept. */
export interface BatchRequest {
  kind: 'product' | 'runs';
  /** As the request has it; empty for none. */
  inputSetId: string;
  instanceIds: readonly string[];
  optionSets: OptionSets;
  /** How often each of `runs` is wanted: those of a product are expanded once inputs are known. */
  repetitions: number;
  runs: readonly AskedRun[];
}

/** Throws the 400 that names field and value. */
export function parseBatchRequest(body: BatchExperimentCreate): BatchRequest {
  const { repetitions } = body;
  const inputSetId = body.input_set_id || '';
  const optionSets = optionSetsOf(body);
  validateObjectives(body.objectives ?? {});
  const instances = body.instance_ids ?? [];
  const runs = body.runs ?? [];
  if (instances.length > 0 && runs.length > 0)
    throw badRequest('instance_ids and runs are given; a batch experiment is made of one of them.');
  if (runs.length > 0) {
    if (typeof repetitions === 'number')
      throw badRequest(
        `repetitions is ${repetitions} and runs is given; every one of runs has a repetition of its own.`,
      );
    const asked = runs.map((run, index) => askedRun(run, `runs.${index}`, inputSetId, optionSets));
    return { kind: 'runs', inputSetId, instanceIds: [], optionSets, repetitions: 1, runs: asked };
  }
  if (instances.length === 0) {
    const empty = (['instance_ids', 'runs'] as const).find((field) => body[field]);
    throw badRequest(
      empty
        ? `${empty} is empty; name at least one.`
        : 'instance_ids and runs are both absent; give one of them.',
    );
  }
  if (inputSetId === '')
    throw badRequest('input_set_id is absent; name the input set that the instances are to run on.');
  refuseNames(instances);
  const keys = optionSets.size === 0 ? [null] : [...optionSets.keys()];
  // Before they are gone through: each is at least one run.
  if (instances.length * keys.length > BATCH_RUNS_MAX)
    throw badRequest(
      `${instances.length} instances with ${keys.length} option sets are ${instances.length * keys.length} runs on each input; a batch experiment may have ${BATCH_RUNS_MAX} in all.`,
    );
  const product = instances.flatMap((instance_id, index) =>
    keys.map(
      (option_set): AskedRun => ({
        field: `instance_ids.${index}`,
        instance_id,
        version_id: '',
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
    repetitions: repetitions ?? 1,
    runs: product,
  };
}

function refuseNames(instances: readonly string[]): void {
  for (const [index, id] of instances.entries())
    if (id === '')
      throw badRequest(`instance_ids.${index} is ""; it must be an instance of this application.`);
}

function askedRun(run: BatchRunCreate, field: string, inputSetId: string, optionSets: OptionSets): AskedRun {
  const input_set_id = run.input_set_id || inputSetId;
  if (!run.instance_id && !run.version_id)
    throw badRequest(`${field} has neither instance_id nor version_id; give one of them.`);
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
      `${field}.scenario_id is ${quoteValue(scenario_id)}; it may hold letters, digits, periods, underscores and hyphens.`,
    );
  return {
    field,
    instance_id: run.instance_id || '',
    version_id: run.version_id || '',
    option_set,
    input_set_id,
    input_id: run.input_id || null,
    scenario_id,
    repetition: run.repetition ?? 0,
    run_number: run.run_number || null,
  };
}

const NAME = /^[A-Za-z0-9._-]+$/;

function optionSetsOf({ option_sets }: BatchExperimentCreate): OptionSets {
  const entries = Object.entries(option_sets ?? {});
  if (entries.length > OPTION_SETS_MAX)
    throw badRequest(`option_sets has ${entries.length} sets; it may have ${OPTION_SETS_MAX}.`);
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
      `option_sets is ${chars} characters long, written as JSON; it may have ${OPTION_SETS_CHARS_MAX}.`,
    );
  return new Map(sets);
}

/** Every run that is asked for, in order, of the inputs that each set holds; throws the 400 for what cannot be. */
export function expandRequestedRuns(
  asked: BatchRequest,
  inputsOf: ReadonlyMap<string, readonly string[]>,
): RequestedRun[] {
  const known = new Map([...inputsOf].map(([set, inputs]) => [set, new Set(inputs)]));
  const wanted: RequestedRun[] = [];
  const seen = new Map<string, string>();
  const repetitions = new Repetitions();
  for (const { field, input_id, run_number, ...run } of asked.runs) {
    const inputs = inputsOf.get(run.input_set_id) ?? [];
    if (input_id !== null && !known.get(run.input_set_id)?.has(input_id))
      throw badRequest(
        `${field}.input_id is ${quoteValue(input_id)}; it must be an input of the input set ${quoteValue(run.input_set_id)}.`,
      );
    for (const input of input_id === null ? inputs : [input_id])
      for (let more = 0; more < asked.repetitions; more += 1) {
        const one = { ...run, input_id: input, repetition: run.repetition + more };
        const key = JSON.stringify([...Object.values(one), run_number]);
        const before = seen.get(key);
        if (before !== undefined)
          throw badRequest(
            `${field} asks for the same run as ${before}; give it another input, option set, scenario, repetition or run_number, or leave it out.`,
          );
        seen.set(key, field);
        wanted.push({ ...one, repetition: repetitions.take(one) });
        if (wanted.length > BATCH_RUNS_MAX) throw tooMany(asked, inputsOf);
      }
  }
  return wanted;
}

/** The repetitions that are taken, of each combination of everything else. */
class Repetitions {
  readonly #taken = new Map<string, { numbers: Set<number>; next: number }>();

  /** The repetition of the run, or the lowest free one where another run has it. */
  take({ repetition, ...rest }: RequestedRun): number {
    const key = JSON.stringify(Object.values(rest));
    const group = this.#taken.get(key) ?? { numbers: new Set(), next: 0 };
    this.#taken.set(key, group);
    let free = repetition;
    if (group.numbers.has(repetition)) {
      while (group.numbers.has(group.next)) group.next += 1;
      free = group.next;
    }
    group.numbers.add(free);
    return free;
  }
}

function tooMany(
  { kind, inputSetId, instanceIds, optionSets, repetitions }: BatchRequest,
  inputsOf: ReadonlyMap<string, readonly string[]>,
) {
  if (kind === 'runs')
    return badRequest(`runs asks for more than ${BATCH_RUNS_MAX} runs, which a batch experiment may have.`);
  const inputs = inputsOf.get(inputSetId)?.length ?? 0;
  const factors = [inputs, instanceIds.length, Math.max(1, optionSets.size), repetitions];
  const runs = factors.reduce((product, factor) => product * factor, 1);
  return badRequest(
    `${inputs} inputs on ${instanceIds.length} instances with ${Math.max(1, optionSets.size)} option sets and ${repetitions} repetitions are ${runs} runs; a batch experiment may have ${BATCH_RUNS_MAX}.`,
  );
}
