import type { OptionItem } from '@switchyard/contract/applications/executables.ts';
import { formatOptionValue } from '@switchyard/contract/applications/option-rules.ts';
import { type ControlAttributes, Field } from '../forms/field.tsx';
import styles from './option-fields.module.css';
import { OtherOptions } from './other-options.tsx';

/** The value that an option has without one of the form, and its source. */
export interface PresetValue {
  value: string;
  source: 'instance' | 'default';
}

interface OptionFieldsProps {
  /** The definitions of the manifest. */
  items: readonly OptionItem[];
  /** true if the app refuses options that it does not declare. */
  isStrict: boolean;
  values: Readonly<Record<string, string>>;
  /** The values of the run that is repeated; absent without one. */
  original?: Readonly<Record<string, string>> | undefined;
  /** Error messages by the name of the option. */
  errors: ReadonlyMap<string, string>;
  /** Returns the value that an empty field stands for. */
  findPreset: (item: OptionItem) => PresetValue | null;
  onChange: (values: Readonly<Record<string, string>>) => void;
}

/** The options of the app, each with the control that its definition asks for. */
export function OptionFields({
  items,
  isStrict,
  values,
  original,
  errors,
  findPreset,
  onChange,
}: OptionFieldsProps) {
  return (
    <section className={styles.section} aria-label="Options">
      <h2>Options</h2>
      {items.length === 0 && <p className="soft">The app declares no options.</p>}
      <div className={styles.options}>
        {items.map((item) => (
          <OptionField
            key={item.name}
            item={item}
            value={values[item.name] ?? ''}
            preset={findPreset(item)}
            {...(original && { original: original[item.name] ?? '' })}
            error={errors.get(item.name)}
            onChange={(value) => onChange({ ...values, [item.name]: value })}
          />
        ))}
      </div>
      {!isStrict && (
        <OtherOptions declared={items.map(({ name }) => name)} options={values} onChange={onChange} />
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

const USEFUL_MAX = 1e9;

/** Returns the help text of the option: what it means, which values it takes, and where its value comes from. */
function describeOption(item: OptionItem, preset: PresetValue | null): string {
  const { min, max: limit } = item.additional_attributes ?? {};
  // A larger limit is one of the numbers that the app can read, and tells nobody what to enter.
  const max = typeof limit === 'number' && limit < USEFUL_MAX ? limit : undefined;
  const range =
    typeof min === 'number' && typeof max === 'number'
      ? `${min} to ${max}.`
      : typeof min === 'number'
        ? `At least ${min}.`
        : typeof max === 'number'
          ? `At most ${max}.`
          : '';
  const source = preset?.source === 'instance' ? `The instance gives ${preset.value}.` : '';
  return [item.description, range, source].filter(Boolean).join(' ');
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
