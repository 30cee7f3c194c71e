import { SelectField } from '../../ui/forms/text-field.tsx';
import { type DIRECTIONS, parseChoice } from './draft.ts';

type Direction = (typeof DIRECTIONS)[number];

const LABELS: Record<Direction, string> = {
  minimize: 'Lower is better',
  maximize: 'Higher is better',
  none: 'Neither',
};

interface DirectionFieldProps<D extends Direction> {
  value: D;
  directions: readonly D[];
  onChange: (direction: D) => void;
}

/** Selects which values of an indicator are better. */
export function DirectionField<D extends Direction>({ value, directions, onChange }: DirectionFieldProps<D>) {
  return (
    <SelectField
      label="Direction"
      value={value}
      options={directions.map((direction) => ({ value: direction, label: LABELS[direction] }))}
      onChange={(chosen) => onChange(parseChoice(directions, chosen))}
    />
  );
}
