/** Checks a planned run by the rules that will be asked when it is made, so that nothing is planned that would be refused. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import { readDeclaredOptions, stringifyOptions, validateOptionNames } from '../../instances/rules.ts';
import { resolveFormats } from '../../runs/submit/formats.ts';
import {
  countOptionChars,
  findOptionRuleError,
  findOptionsSizeError,
  summarizeOptions,
} from '../../runs/submit/options.ts';
import type { ExecutableTarget } from '../../runs/submit/resolve-instance.ts';
import type { RequestedRun } from './parse-batch-request.ts';

interface PlannedCheck {
  place: ExecutableTarget;
  run: Pick<RequestedRun, 'instance_id' | 'version_id' | 'option_set' | 'input_id' | 'input_set_id'>;
  options: Record<string, string>;
  format: FormatType;
  /** Of the caller, who is told no name of an option that is hidden from it. */
  role: Role;
}

/** How long its options are, written as JSON; throws the 400 that says what breaks a rule, and where. */
export function checkPlannedRun({ place, run, options, format, role }: PlannedCheck): number {
  const { requirements, configuration, executable } = place;
  const definitions = requirements.options;
  const declared = readDeclaredOptions(executable, role);
  const app = run.instance_id
    ? `the instance ${quoteValue(run.instance_id)}`
    : `the version ${quoteValue(run.version_id)}`;
  const misnamed = validateOptionNames(Object.keys(options), `option_sets.${run.option_set}`, declared);
  if (misnamed) throw badRequest(`For ${app}: ${misnamed}`);
  const summary = summarizeOptions({
    definitions,
    instance: stringifyOptions(configuration.options),
    run: options,
  });
  const broken =
    findOptionsSizeError(summary) ?? findOptionRuleError(summary, definitions, declared.hiddenNames);
  if (broken)
    throw badRequest(
      run.option_set === null
        ? `For ${app}: ${broken}`
        : `option_sets.${run.option_set}, for ${app}: ${broken}`,
    );
  const taken = resolveFormats(requirements, configuration, {}, format).input;
  if (taken !== format)
    throw badRequest(
      `The input ${quoteValue(run.input_id)} of the input set ${quoteValue(run.input_set_id)} has the format ${format}; the app of ${app} takes ${taken}.`,
    );
  return countOptionChars(summary);
}
