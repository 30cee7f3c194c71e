import { SelectField } from './text-field.tsx';

type Unit = 'relative' | 'absolute';

interface UnitFieldProps {
  label?: string;
  /** The label of a relative amount, such as `% of the control`. */
  relative: string;
  value: Unit;
  onChange: (unit: Unit) => void;
}

/** Selects whether an amount is relative, or in the unit of the indicator. */
export function UnitField({ label = 'Unit', relative, value, onChange }: UnitFieldProps) {
  return (
    <SelectField
      label={label}
      value={value}
      options={[
        { value: 'relative', label: relative },
        { value: 'absolute', label: 'units of the indicator' },
      ]}
      onChange={(chosen) => onChange(chosen === 'absolute' ? chosen : 'relative')}
    />
  );
}
