/** The columns of a table of the indicators of one candidate. */
import { formatEstimate, formatInterval, formatPValue } from '../experiments/presentation/effects.ts';
import { formatSides } from '../presentation/format-quantity.ts';
import type { IndicatorView } from './experiment-view.ts';

interface IndicatorColumn {
  title: string;
  value(view: IndicatorView): string | undefined;
  isNumeric?: true;
  /** Left out where the table would not fit otherwise. */
  isOptional?: true;
}

export const INDICATOR_COLUMNS: readonly IndicatorColumn[] = [
  { title: 'Indicator', value: ({ indicator }) => indicator },
  { title: 'Role', value: ({ role }) => role, isOptional: true },
  { title: 'Verdict', value: ({ verdict }) => verdict },
  {
    title: 'Control',
    value: ({ control, candidate }) => formatSides([control, candidate])[0],
    ...{ isNumeric: true, isOptional: true },
  },
  {
    title: 'Candidate',
    value: ({ control, candidate }) => formatSides([control, candidate])[1],
    ...{ isNumeric: true, isOptional: true },
  },
  { title: 'Change', value: ({ effect }) => formatEstimate(effect), isNumeric: true },
  { title: '95 % interval', value: ({ effect }) => formatInterval(effect) ?? '', isNumeric: true },
  { title: 'p', value: ({ pValue }) => formatPValue(pValue), isNumeric: true, isOptional: true },
  { title: 'Adjusted p', value: ({ adjustedPValue }) => formatPValue(adjustedPValue), isNumeric: true },
];
