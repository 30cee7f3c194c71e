/** Checks the runs of a batch before anything is stored: every instance and version exists and takes the options and inputs. */
import { setImmediate } from 'node:timers/promises';
import { resolveFormats } from '@switchyard/contract/applications/formats.ts';
import {
  countOptionChars,
  findOptionsSizeError,
  summarizeOptions,
} from '@switchyard/contract/applications/run-options.ts';
import { BATCH_OPTIONS_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { formatNameList } from '@switchyard/contract/name-list.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { readDeclaredOptions, stringifyOptions, validateOptionNames } from '../../apps/instances/rules.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue, truncate } from '../../platform/http/errors/problem.ts';
import type { InputSetItem } from '../../runs/input-sets/store.ts';
import { findOptionRuleError } from '../../runs/submit/options.ts';
import { type ExecutableTarget, resolvePlannedRun } from '../../runs/submit/resolve-instance.ts';
import { addSeed, type RequestedRun, type Seeds } from '../operations/plan-run.ts';
import { type BatchEnsemble, checkPlannedEnsemble, checkRunCount } from './check-ensembles.ts';
import type { BatchRequest } from './parse-batch-request.ts';

/** Checks after which other requests are served. */
const CHECK_BATCH_SIZE = 50;

/** The runs of a request, with the input sets that they name. */
interface RequestedRuns {
  application: ApplicationsTable;
  request: BatchRequest;
  runs: readonly RequestedRun[];
  sets: ReadonlyMap<string, readonly InputSetItem[]>;
  ensembles: ReadonlyMap<string, BatchEnsemble>;
  role: Role;
}

/** Facts that the check collects for the definition of the experiment. */
export interface CheckedRuns {
  /** The version of each instance. */
  versions: Map<string, string>;
  /** The instances of the run groups of ensembles. */
  ensembleInstances: Set<string>;
  /** The roles from which each option is hidden. */
  hidden: Map<string, Set<Role>>;
}

/**
 * Checks every run. Throws a 400 for the first run that the server would reject, for an unused option set with an unknown
 * option, for too many options, and for too many runs.
 */
export async function checkRequestedRuns(db: Reader, requested: RequestedRuns): Promise<CheckedRuns> {
  const { request, runs } = requested;
  checkRunCount(runs, requested.ensembles);
  const checker = new RunChecker(db, requested);
  const chars = await checker.checkAll();
  checkUnusedOptionSets(request, runs, checker.listTargets(), requested.role);
  if (chars > BATCH_OPTIONS_CHARS_MAX)
    throw badRequest(
      `The options of all ${runs.length} runs, with those of their instances and versions, are ${chars} characters long as JSON; they may have at most ${BATCH_OPTIONS_CHARS_MAX} together.`,
    );
  return checker.checked;
}

/** Checks runs, and equal runs only once. */
class RunChecker {
  readonly checked: CheckedRuns = { versions: new Map(), ensembleInstances: new Set(), hidden: new Map() };
  readonly #db: Reader;
  readonly #requested: RequestedRuns;
  readonly #fields: ReadonlyMap<string, string>;
  readonly #formats: ReadonlyMap<string, ReadonlyMap<string, FormatType>>;
  readonly #targets = new Map<string, ExecutableTarget>();
  /** The length of the options by check key. */
  readonly #chars = new Map<string, number>();

  constructor(db: Reader, requested: RequestedRuns) {
    this.#db = db;
    this.#requested = requested;
    this.#fields = indexFields(requested.request);
    this.#formats = indexFormats(requested.sets);
  }

  /** Returns the length of the options of all runs in characters of JSON. Throws a 400 for the first invalid run. */
  async checkAll(): Promise<number> {
    const { request, runs } = this.#requested;
    let total = 0;
    for (const run of runs) {
      const format = this.#formats.get(run.input_set_id)?.get(run.input_id) ?? 'json';
      const seed = request.seeds ? run.repetition : null;
      const key = JSON.stringify([targetKey(run), run.option_set, format, seed]);
      let chars = this.#chars.get(key);
      if (chars === undefined) {
        chars = await this.#check(run, format);
        this.#chars.set(key, chars);
        if (this.#chars.size % CHECK_BATCH_SIZE === 0) await setImmediate();
      }
      total += chars;
    }
    return total;
  }

  /** Lists the executables of the checked runs. */
  listTargets(): ExecutableTarget[] {
    return [...this.#targets.values()];
  }

  async #check(run: RequestedRun, format: FormatType): Promise<number> {
    const { application, request, ensembles, role } = this.#requested;
    const options = addSeed(
      request.optionSets.get(run.option_set ?? '') ?? {},
      request.seeds,
      run.repetition,
    );
    const ensemble = ensembles.get(run.ensemble_id);
    if (ensemble) {
      const { definition } = ensemble;
      const groups = await checkPlannedEnsemble(this.#db, {
        ...{ application, run, definition, options, format, role },
      });
      for (const target of groups.targets) this.#addEnsembleTarget(target, options);
      return groups.optionChars;
    }
    const target = await this.#resolve(run);
    if (request.seeds) checkSeedOption(target, request.seeds, role);
    const chars = checkPlannedRun({ target, run, options, format, role });
    addHiddenOptions(this.checked.hidden, target, options);
    return chars;
  }

  #addEnsembleTarget(target: ExecutableTarget, options: Record<string, string>): void {
    const key = targetKey({ instance_id: target.instanceId, version_id: '', ensemble_id: '' });
    if (!this.#targets.has(key)) this.#targets.set(key, target);
    this.checked.ensembleInstances.add(target.instanceId);
    addHiddenOptions(this.checked.hidden, target, options);
  }

  async #resolve(run: RequestedRun): Promise<ExecutableTarget> {
    const key = targetKey(run);
    let target = this.#targets.get(key);
    if (!target) {
      const { application } = this.#requested;
      target = await resolveTarget(this.#db, application, run, this.#fields.get(key) ?? 'runs');
      this.#targets.set(key, target);
      await setImmediate();
    }
    this.checked.versions.set(run.instance_id, target.versionId);
    return target;
  }
}

/** Throws a 400 for a seed option that the app does not declare, unless the app declares no options. */
function checkSeedOption({ executable }: ExecutableTarget, { option }: Seeds, role: Role): void {
  const declared = readDeclaredOptions(executable, role);
  const nameError = validateOptionNames([option], 'seed_option', declared);
  if (nameError) throw badRequest(nameError);
  if (declared.names.size === 0 || declared.names.has(option)) return;
  const visible = [...declared.names].filter((name) => !declared.hiddenNames.has(name));
  throw badRequest(
    `seed_option is ${quoteValue(option)}, which the app does not declare, so every seed would give the same run; the app declares ${formatNameList(visible.map(truncate)) || 'none that you can see'}.`,
  );
}

function targetKey({
  instance_id,
  version_id,
  ensemble_id,
}: Pick<RequestedRun, 'instance_id' | 'version_id' | 'ensemble_id'>): string {
  return JSON.stringify([instance_id, version_id, ensemble_id]);
}

/** Returns the format of each input, by input set and input. */
function indexFormats(sets: RequestedRuns['sets']): Map<string, Map<string, FormatType>> {
  return new Map(
    [...sets].map(([id, items]) => [
      id,
      new Map<string, FormatType>(items.map((item) => [item.input_id, item.input_format])),
    ]),
  );
}

function addHiddenOptions(
  hidden: CheckedRuns['hidden'],
  { requirements }: ExecutableTarget,
  options: Record<string, string>,
): void {
  for (const { name, ui } of requirements.options?.items ?? []) {
    if (!Object.hasOwn(options, name) || !ui?.hidden_from?.length) continue;
    const roles = hidden.get(name) ?? new Set();
    for (const role of ui.hidden_from) roles.add(role);
    hidden.set(name, roles);
  }
}

/** Throws a 400 for an unused option set with an option that no app of the batch declares. */
function checkUnusedOptionSets(
  { optionSets }: BatchRequest,
  runs: readonly RequestedRun[],
  targets: readonly ExecutableTarget[],
  role: Role,
): void {
  const used = new Set(runs.map((run) => run.option_set));
  const unused = [...optionSets].filter(([key]) => !used.has(key));
  if (unused.length === 0) return;
  const apps = targets.map((target) => readDeclaredOptions(target.executable, role));
  const declared = {
    names: new Set(apps.flatMap((app) => [...app.names])),
    hiddenNames: new Set(apps.flatMap((app) => [...app.hiddenNames])),
  };
  for (const [key, options] of unused) {
    const error = validateOptionNames(Object.keys(options), `option_sets.${key}`, declared);
    if (error) throw badRequest(error);
  }
}

/** Returns the first field of the request that names each pair of instance and version. */
function indexFields({ runs }: BatchRequest): Map<string, string> {
  const fields = new Map<string, string>();
  for (const { field, ...run } of runs) {
    const key = targetKey(run);
    if (!fields.has(key)) fields.set(key, field);
  }
  return fields;
}

/** Throws a 400 that names the field of a missing instance or version. */
async function resolveTarget(
  db: Reader,
  application: ApplicationsTable,
  { instance_id, version_id }: RequestedRun,
  field: string,
): Promise<ExecutableTarget> {
  const isOwnField = field.startsWith('runs');
  try {
    // Instance and version are looked up separately, so that the message names the missing one.
    const instance = instance_id === '' ? null : await resolvePlannedRun(db, application, instance_id, '');
    if (version_id === '' && instance) return instance;
    return await resolvePlannedRun(db, application, instance_id, version_id).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 400)
        throw badRequest(
          `${field}.version_id is ${quoteValue(version_id)}; it must be a version of this application.`,
        );
      throw error;
    });
  } catch (error) {
    if (error instanceof Problem && error.status === 404)
      throw badRequest(
        `${isOwnField ? `${field}.instance_id` : field} is ${quoteValue(instance_id)}; it must be an instance of this application.`,
      );
    throw error;
  }
}

interface PlannedRunCheck {
  target: ExecutableTarget;
  run: Pick<RequestedRun, 'instance_id' | 'version_id' | 'option_set' | 'input_id' | 'input_set_id'>;
  options: Record<string, string>;
  format: FormatType;
  /** The role of the caller. Error messages do not name options that are hidden from it. */
  role: Role;
}

/** Returns the length of the run's options in characters of JSON. Throws a 400 that names the invalid option or input. */
function checkPlannedRun({ target, run, options, format, role }: PlannedRunCheck): number {
  const { requirements, configuration, executable } = target;
  const definitions = requirements.options;
  const declared = readDeclaredOptions(executable, role);
  const app = run.instance_id
    ? `the instance ${quoteValue(run.instance_id)}`
    : `the version ${quoteValue(run.version_id)}`;
  const nameError = validateOptionNames(Object.keys(options), `option_sets.${run.option_set}`, declared);
  if (nameError) throw badRequest(`For ${app}: ${nameError}`);
  const summary = summarizeOptions({
    definitions,
    instance: stringifyOptions(configuration.options),
    run: options,
  });
  const optionError =
    findOptionsSizeError(summary) ?? findOptionRuleError(summary, definitions, declared.hiddenNames);
  if (optionError)
    throw badRequest(
      run.option_set === null
        ? `For ${app}: ${optionError}`
        : `option_sets.${run.option_set}, for ${app}: ${optionError}`,
    );
  const accepted = resolveFormats(requirements, configuration, {}, format).input;
  if (accepted !== format)
    throw badRequest(
      `The input ${quoteValue(run.input_id)} of the input set ${quoteValue(run.input_set_id)} has the format ${format}; the app of ${app} takes ${accepted}.`,
    );
  return countOptionChars(summary);
}
