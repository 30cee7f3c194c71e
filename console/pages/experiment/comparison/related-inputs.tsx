import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import styles from './comparison-view.module.css';

interface RelatedInputsProps {
  comparison: Partial<Pick<Comparison, 'related_inputs' | 'inputs'>>;
  unit: string;
}

/** The treatment of inputs that look like versions of each other. It renders nothing where the analysis did not look for them. */
export function RelatedInputs({ comparison: { related_inputs, inputs }, unit }: RelatedInputsProps) {
  if (!related_inputs) return null;
  const { action, clusters } = related_inputs;
  return (
    <p className={styles.hint}>
      Related {unit}s:{' '}
      {action === 'none'
        ? 'none seen'
        : action === 'grouped'
          ? `grouped, ${formatNumber(inputs?.usable ?? 0)} ${unit}s count as ${formatNumber(clusters ?? 0)}`
          : clusters === 1
            ? `verdict withheld, all ${unit}s count as one`
            : `verdict withheld, ${clusters === null ? 'fewer than 10 groups are left' : `${formatNumber(clusters)} groups are left of the 10 that it needs`}`}
    </p>
  );
}
