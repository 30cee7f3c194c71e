import { formatBytes, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { Sparkline } from '../../../ui/charts/sparkline.tsx';
import { findClassLimits } from '../../../ui/resources/class-limits.ts';
import { useProgress } from '../progress/use-progress.ts';
import styles from '../timeline.module.css';

const SHOWN_POINTS = 60;

/** What an active run uses, of at most what its class grants: a smaller host grants less. Nothing before the first sample. */
export function ResourceLines({ run }: { run: RunInformation }) {
  const { series } = useProgress(run);
  const limits = findClassLimits(run.execution_class);
  const rows = [
    { name: 'cpu', label: 'Processor', format: formatValue, limit: limits && `${limits.cores} cores` },
    {
      name: 'memory',
      label: 'Memory',
      format: formatBytes,
      limit: limits && formatBytes(limits.memory_bytes),
    },
  ].flatMap(({ name, label, format, limit }) => {
    const points = series.find((one) => one.source === 'resources' && one.name === name)?.points ?? [];
    const last = points.at(-1)?.[1];
    if (last === undefined) return [];
    const values = points.slice(-SHOWN_POINTS).map(([, value]) => value);
    return [{ label, values, text: `${format(last)}${limit ? ` of at most ${limit}` : ''}` }];
  });
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="resources-so-far">
      <h2 id="resources-so-far">Resources so far</h2>
      <ul className={styles.phases}>
        {rows.map(({ label, values, text }) => (
          <li key={label}>
            {label} <Sparkline values={values} label={`${label} in the last minute`} />
            <strong>{text}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}
