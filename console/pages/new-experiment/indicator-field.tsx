import { SuggestionField } from '../../ui/forms/suggestion-field.tsx';

interface IndicatorFieldProps {
  label: string;
  value: string;
  indicators: readonly string[];
  onChange: (indicator: string) => void;
}

/** The name of an indicator. Those of recent runs are suggested. */
export function IndicatorField({ indicators, ...field }: IndicatorFieldProps) {
  return (
    <SuggestionField
      {...field}
      help="The numbers of recent runs are suggested."
      suggestions={indicators.map((indicator) => ({ value: indicator }))}
    />
  );
}
