import { Button } from '../../ui/button.tsx';
import form from '../../ui/forms/form.module.css';
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
  const replace = (index: number, values: Partial<RuleDraft>) =>
    onChange(rules.map((rule, at) => (at === index ? { ...rule, ...values } : rule)));
  return (
    <section className={form.section} aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <p className="soft">
        Each rule drops the runs that are worse than the best. The next decides among the rest.
      </p>
      {rules.map((rule, index) => (
        <fieldset key={index} className={form.item}>
          <legend>Rule {index + 1}</legend>
          <div className={form.row}>
            <TextField
              label="Indicator"
              value={rule.indicator}
              onChange={(indicator) => replace(index, { indicator })}
            />
            <SelectField
              label="Objective"
              value={rule.objective}
              options={['minimize', 'maximize']}
              onChange={(value) => replace(index, { objective: value === 'maximize' ? value : 'minimize' })}
            />
            <TextField
              label="Counts as equal within"
              value={rule.tolerance}
              onChange={(tolerance) => replace(index, { tolerance })}
            />
            <UnitField
              relative="percent of the best"
              value={rule.toleranceType}
              onChange={(toleranceType) => replace(index, { toleranceType })}
            />
          </div>
          {rules.length > 1 && (
            <Button kind="quiet" onPress={() => onChange(rules.filter((_, at) => at !== index))}>
              Remove rule {index + 1}
            </Button>
          )}
        </fieldset>
      ))}
      <div>
        <Button onPress={() => onChange([...rules, createRule()])}>Add rule</Button>
      </div>
    </section>
  );
}
