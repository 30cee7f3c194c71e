import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { createRule, type ExperimentDraft, type RuleDraft } from './draft.ts';
import styles from './new-experiment-page.module.css';
import { IndicatorField } from './objective-fields.tsx';
import type { Choices } from './queries.ts';

const STATISTICS = ['mean', 'p50', 'p90', 'p95', 'max', 'min', 'shifted_geometric_mean'];
const OPERATORS: readonly { value: RuleDraft['operator']; label: string }[] = [
  { value: 'le', label: 'at most that of the control' },
  { value: 'lt', label: 'less than that of the control' },
  { value: 'ge', label: 'at least that of the control' },
  { value: 'gt', label: 'more than that of the control' },
];

interface RuleFieldsProps {
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: Partial<ExperimentDraft>) => void;
}

/** The rules of an acceptance test. The candidate must meet all of them. */
export function RuleFields({ draft: { rules }, choices, change }: RuleFieldsProps) {
  const replace = (index: number, values: Partial<RuleDraft>) =>
    change({ rules: rules.map((rule, place) => (place === index ? { ...rule, ...values } : rule)) });
  return (
    <section className={styles.section} aria-label="Rules">
      {rules.map((rule, index) => (
        <fieldset key={index} className={styles.rule}>
          <legend>Rule {index + 1}</legend>
          <Rule rule={rule} choices={choices} onChange={(values) => replace(index, values)} />
          {rules.length > 1 && (
            <Button
              kind="quiet"
              onPress={() => change({ rules: rules.filter((_, place) => place !== index) })}
            >
              Remove rule {index + 1}
            </Button>
          )}
        </fieldset>
      ))}
      <div>
        <Button
          onPress={() => change({ rules: [...rules, createRule(choices.indicators[0] ?? 'result.value')] })}
        >
          Add a rule
        </Button>
      </div>
    </section>
  );
}

interface RuleProps {
  rule: RuleDraft;
  choices: Choices;
  onChange: (values: Partial<RuleDraft>) => void;
}

function Rule({ rule, choices, onChange }: RuleProps) {
  return (
    <>
      <div className={styles.row}>
        <SelectField
          label="Statistic"
          value={rule.statistic}
          options={STATISTICS}
          onChange={(statistic) => onChange({ statistic, ...(statistic !== 'mean' && { usesBound: false }) })}
        />
        <IndicatorField
          label="Indicator"
          value={rule.field}
          indicators={choices.indicators}
          onChange={(field) => onChange({ field })}
        />
        <SelectField
          label="The candidate is"
          value={rule.operator}
          options={OPERATORS}
          onChange={(value) =>
            onChange({ operator: OPERATORS.find((one) => one.value === value)?.value ?? 'le' })
          }
        />
        <TextField
          label="Accepted loss, %"
          help="A share of the control."
          value={rule.tolerance}
          onChange={(tolerance) => onChange({ tolerance })}
        />
      </div>
      {rule.statistic === 'mean' && (
        <label className={styles.choice}>
          <input
            type="checkbox"
            checked={rule.usesBound}
            onChange={(event) => onChange({ usesBound: event.target.checked })}
          />
          By the 95 % bound: the rule then holds for other inputs too
        </label>
      )}
    </>
  );
}
