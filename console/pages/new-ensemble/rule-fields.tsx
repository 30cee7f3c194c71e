import form from '../../ui/forms/form.module.css';
import { RepeatedFields } from '../../ui/forms/repeated-fields.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { UnitField } from '../../ui/forms/unit-field.tsx';
import { createRule, type RuleDraft } from './draft.ts';

/** The rules of a new ensemble, in the order in which they decide. At least one stays. */
export function RuleFields({
  rules,
  onChange,
}: {
  rules: readonly RuleDraft[];
  onChange: (rules: readonly RuleDraft[]) => void;
}) {
  return (
    <section className={form.section} aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <p className="soft">
        Each rule drops the runs that are worse than the best. The next decides among the rest.
      </p>
      <RepeatedFields noun="rule" items={rules} create={createRule} onChange={onChange}>
        {(rule, replace) => (
          <div className={form.row}>
            <TextField
              label="Indicator"
              value={rule.indicator}
              onChange={(indicator) => replace({ indicator })}
            />
            <SelectField
              label="Objective"
              value={rule.objective}
              options={['minimize', 'maximize']}
              onChange={(value) => replace({ objective: value === 'maximize' ? value : 'minimize' })}
            />
            <TextField
              label="Counts as equal within"
              value={rule.tolerance}
              onChange={(tolerance) => replace({ tolerance })}
            />
            <UnitField
              relative="percent of the best"
              value={rule.toleranceType}
              onChange={(toleranceType) => replace({ toleranceType })}
            />
          </div>
        )}
      </RepeatedFields>
    </section>
  );
}
