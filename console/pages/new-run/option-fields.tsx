import type { OptionItem } from '@switchyard/contract/applications/executables.ts';
import { formatOptionValue } from '@switchyard/contract/applications/option-rules.ts';
import { type ControlAttributes, Field } from '../../ui/forms/field.tsx';
import { findPreset, listDefinitions, type PresetValue, type RunDraft } from './draft.ts';
import styles from './new-run-page.module.css';
import { OtherOptions } from './other-options.tsx';
import type { NewRunData } from './queries.ts';

interface OptionFieldsProps {
  data: NewRunData;
  draft: RunDraft;
  errors: ReadonlyMap<string, string>;
  onChange: (options: RunDraft['options']) => void;
}

/** The options of the app, each with the control that its definition asks for. */
export function OptionFields({ data, draft, errors, onChange }: OptionFieldsProps) {
  const items = listDefinitions(data);
  const original = data.original?.metadata.options.request_options;
  const change = (name: string, value: string) => onChange({ ...draft.options, [name]: value });
  return (
    <section className={styles.section} aria-label="Options">
      <h2>Options</h2>
      {items.length === 0 && <p className={styles.remark}>The app declares no options.</p>}
      <div className={styles.options}>
        {items.map((item) => (
          <OptionField
            key={item.name}
            item={item}
            value={draft.options[item.name] ?? ''}
            preset={findPreset(item, data)}
            {...(original && { original: original[item.name] ?? '' })}
            error={errors.get(item.name)}
            onChange={(value) => change(item.name, value)}
          />
        ))}
      </div>
      {!data.executable?.requirements.options?.strict && (
        <OtherOptions declared={items.map(({ name }) => name)} options={draft.options} onChange={onChange} />
      )}
    </section>
  );
}

interface OptionFieldProps {
  item: OptionItem;
  value: string;
  preset: PresetValue | null;
  /** The value in the original run; empty if that run gave none. */
  original?: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

function OptionField({ item, value, preset, original, error, onChange }: OptionFieldProps) {
  const label = item.ui?.display_name || item.name;
  const changed =
    original === undefined || original === value
      ? null
      : `changed from ${original || (preset ? preset.value : 'no value')}`;
  return (
    <Field
      label={item.required ? `${label} (required)` : label}
      help={describeOption(item, preset)}
      error={error}
      changed={changed}
    >
      {(attributes) => (
        <OptionControl
          item={item}
          value={value}
          preset={preset}
          attributes={attributes}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

/** Returns the help text of the option: what it means, which values it takes, and where its value comes from. */
function describeOption(item: OptionItem, preset: PresetValue | null): string {
  const { min, max } = item.additional_attributes ?? {};
  const range =
    typeof min === 'number' && typeof max === 'number'
      ? `${min} to ${max}.`
      : typeof min === 'number'
        ? `At least ${min}.`
        : typeof max === 'number'
          ? `At most ${max}.`
          : '';
  const source = preset?.source === 'instance' ? `The instance gives ${preset.value}.` : '';
  const name = item.ui?.display_name ? `${item.name}:` : '';
  return [name, item.description, range, source].filter(Boolean).join(' ');
}

interface OptionControlProps extends Omit<OptionFieldProps, 'original' | 'error'> {
  attributes: ControlAttributes;
}

function OptionControl({ item, value, preset, attributes, onChange }: OptionControlProps) {
  const choices = listChoices(item);
  if (choices)
    return (
      <select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{preset ? `${preset.value} (${preset.source})` : 'No value'}</option>
        {[...new Set(value === '' ? choices : [...choices, value])].map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  const isNumber = item.option_type === 'int' || item.option_type === 'float';
  return (
    <div className={styles.control}>
      <input
        {...attributes}
        value={value}
        placeholder={preset?.value ?? ''}
        inputMode={isNumber ? 'decimal' : 'text'}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      <OptionSlider item={item} value={value || (preset?.value ?? '')} onChange={onChange} />
    </div>
  );
}

/** A slider beside the number, for an option whose definition asks for one and has both bounds. */
function OptionSlider({ item, value, onChange }: Pick<OptionFieldProps, 'item' | 'value' | 'onChange'>) {
  const { min, max, step } = item.additional_attributes ?? {};
  if (item.ui?.control_type !== 'slider' || typeof min !== 'number' || typeof max !== 'number') return null;
  return (
    <input
      type="range"
      aria-label={`${item.ui.display_name || item.name}, slider`}
      min={min}
      max={max}
      step={typeof step === 'number' ? step : item.option_type === 'int' ? 1 : 'any'}
      value={Number.isFinite(Number(value)) ? Number(value) : min}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Returns the values to choose from, or null for a free text. */
function listChoices(item: OptionItem): string[] | null {
  const values = item.additional_attributes?.values;
  if (Array.isArray(values)) return values.map(formatOptionValue);
  return item.option_type === 'bool' ? ['true', 'false'] : null;
}
