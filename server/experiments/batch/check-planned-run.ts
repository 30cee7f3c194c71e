/** Checks a planned run by the rules of its later submission, so that no run is planned that the server would reject. */
import { resolveFormats } from '@switchyard/contract/applications/formats.ts';
import {
  countOptionChars,
  findOptionsSizeError,
  summarizeOptions,
} from '@switchyard/contract/applications/run-options.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { readDeclaredOptions, stringifyOptions, validateOptionNames } from '../../apps/instances/rules.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { findOptionRuleError } from '../../runs/submit/options.ts';
import type { ExecutableTarget } from '../../runs/submit/resolve-instance.ts';
import type { RequestedRun } from '../operations/plan-run.ts';

interface PlannedRunCheck {
  target: ExecutableTarget;
  run: Pick<RequestedRun, 'instance_id' | 'version_id' | 'option_set' | 'input_id' | 'input_set_id'>;
  options: Record<string, string>;
  format: FormatType;
  /** The role of the caller. Error messages do not name options that are hidden from it. */
  role: Role;
}

/** Returns the length of the run's options in characters of JSON. Throws a 400 that names the invalid option or input. */
export function checkPlannedRun({ target, run, options, format, role }: PlannedRunCheck): number {
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
