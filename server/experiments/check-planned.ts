/** Checks a planned run by the rules that will be asked when it is made, so that nothing is planned that would be refused. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { FormatType } from '@switchyard/contract/shapes.ts';
import { badRequest, shown } from '../http/problem.ts';
import { asText, declaredOptions, optionNameError } from '../instances/rules.ts';
import { formatsOf } from '../runs/formats.ts';
import { charsOf, ruleError, sizeError, summarize } from '../runs/options.ts';
import type { Resolved } from '../runs/resolve.ts';
import type { WantedRun } from './batch-rules.ts';

interface PlannedCheck {
  place: Resolved;
  run: Pick<WantedRun, 'instance_id' | 'version_id' | 'option_set' | 'input_id' | 'input_set_id'>;
  options: Record<string, string>;
  format: FormatType;
  /** Of the caller, who is told no name of an option that is hidden from it. */
  role: Role;
}

/** How long its options are, written as JSON; throws the 400 that says what breaks a rule, and where. */
export function checkPlanned({ place, run, options, format, role }: PlannedCheck): number {
  const { requirements, configuration, executable } = place;
  const definitions = requirements.options;
  const declared = declaredOptions(executable, role);
  const app = run.instance_id
    ? `the instance ${shown(run.instance_id)}`
    : `the version ${shown(run.version_id)}`;
  const misnamed = optionNameError(Object.keys(options), `option_sets.${run.option_set}`, declared);
  if (misnamed) throw badRequest(`For ${app}: ${misnamed}`);
  const summary = summarize({ definitions, instance: asText(configuration.options), run: options });
  const broken = sizeError(summary) ?? ruleError(summary, definitions, declared.hidden);
  if (broken)
    throw badRequest(
      run.option_set === null
        ? `For ${app}: ${broken}`
        : `option_sets.${run.option_set}, for ${app}: ${broken}`,
    );
  const taken = formatsOf(requirements, configuration, {}, format).input;
  if (taken !== format)
    throw badRequest(
      `The input ${shown(run.input_id)} of the input set ${shown(run.input_set_id)} has the format ${format}; the app of ${app} takes ${taken}.`,
    );
  return charsOf(summary);
}
